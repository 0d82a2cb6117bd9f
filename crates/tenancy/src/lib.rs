//! Tenants: apps and their secrets, who calls for them with which rights, and what is done only once for them.

mod apps;
mod audit;
mod callers;
mod channel_secrets;
pub mod credentials;
mod demo_codes;
mod device_tokens;
mod exports;
mod feeds;
mod former_secrets;
mod idempotency;
mod oauth;
mod seal;
mod server_tokens;
mod signatures;
mod user_proofs;
mod web_keys;
mod web_tokens;

use std::sync::{Arc, Once};

use base::Base;
use model::time::Clock;
use store::Store;

pub use apps::{CreatedApp, RotatedSecrets, key_for_log_in};
pub use audit::{
    AuditEntry, AuditFilter, AuditPosition, AuditRows, AuditedChange, AuditedRequest, COMMAND_LINE, on_behalf_of,
    request_of_command,
};
pub use callers::{Caller, KnownBy, Rights, app_secret_purpose, forget_app_secret};
pub use device_tokens::{DeviceToken, token_end};
pub use feeds::News;
pub use idempotency::{IdempotencyKey, KEPT_FOR as ANSWERS_KEPT_FOR, KEY_WAS_USED};
pub use oauth::{
    AccessToken, Asked, CreatedClient, GrantError, GrantRefusal, OAUTH_KEY_PURPOSE, forget_oauth_key, sealed_oauth_key,
};
pub use seal::SealKey;
pub use server_tokens::{CreatedToken, TokenLimits};
pub use signatures::{Bearer, Refusal};
pub use store::apps::{App, OPERATOR};
pub use store::former_secrets::SecretKind;
pub use store::server_tokens::{ServerToken, TokenKind};
pub use user_proofs::{ProofRefusal, UserProof};
pub use web_keys::{forget as forget_web_keys, purpose as web_keys_purpose};

use apps::EraseApp;
use callers::KnownApps;
use oauth::AccessTokens;
use server_tokens::KnownTokens;

/// The apps and their callers; clones share everything.
#[derive(Clone)]
pub struct Tenancy(Arc<Parts>);

struct Parts {
    store: Store,
    clock: Clock,
    seal_key: SealKey,
    apps: KnownApps,
    tokens: KnownTokens,
    access_tokens: AccessTokens,
    /// Logged once: after the key was lost there may be many of them.
    unreadable_answers: Once,
}

impl Tenancy {
    /// `seal_key` seals everything secret that must be readable again.
    pub fn new(base: &Base, seal_key: SealKey) -> Self {
        Self(Arc::new(Parts {
            store: base.store.clone(),
            clock: base.clock.clone(),
            seal_key,
            apps: KnownApps::default(),
            tokens: KnownTokens::default(),
            access_tokens: AccessTokens::default(),
            unreadable_answers: Once::new(),
        }))
    }

    pub fn seal_key(&self) -> &SealKey {
        &self.0.seal_key
    }

    /// Reads apps and tokens from the database again when they are next needed: one may have been changed or deleted, here or on
    /// another node.
    pub fn forget_known_apps(&self) {
        self.0.apps.clear();
        self.0.tokens.clear();
    }

    /// The kinds of jobs of this room.
    pub fn jobs(&self) -> [jobs::Kind; 1] {
        [jobs::Kind::of::<EraseApp>(self)]
    }
}
