//! The people who use the console: their accounts and roles, how they log in, and who is logged in.

mod attempts;
mod links;
mod oidc;
mod own_account;
mod passwords;
mod people;
mod sign_in;
mod team;
mod totp;
mod visitors;

use std::sync::{Arc, OnceLock};

use base::{Base, Result};
use boxed::boxed;
use model::time::Clock;
use store::Store;
use tenancy::{OPERATOR, SealKey, Tenancy};

use attempts::Attempts;
use passwords::Passwords;
use visitors::Visitors;

pub use links::{Invitation, LinkFor, NewPassword, UsedLink};
pub use oidc::{
    BegunLogin, Grant, GroupRole, Identity, LOGIN_LASTS, LoginRefusal, Oidc, OidcSettings, ProviderSignIn, Returned,
};
pub use own_account::{codes_purpose, forget_codes};
pub use providers::Trust;
pub use sign_in::{Login, Origin, SignInView, SignedIn};
pub use store::accounts::Account;
pub use team::Member;
pub use totp::TotpSecret;
pub use visitors::Visitor;

/// The accounts; clones share everything.
#[derive(Clone)]
pub struct Accounts(Arc<Parts>);

struct Parts {
    store: Store,
    clock: Clock,
    seal_key: SealKey,
    passwords: Passwords,
    attempts: Attempts,
    visitors: Visitors,
    /// The issuer by which people can log in, once that is known.
    provider: OnceLock<String>,
}

#[boxed]
impl Accounts {
    pub fn new(base: &Base, tenancy: &Tenancy) -> Self {
        Self(Arc::new(Parts {
            store: base.store.clone(),
            clock: base.clock.clone(),
            seal_key: tenancy.seal_key().clone(),
            passwords: Passwords::default(),
            attempts: Attempts::default(),
            visitors: Visitors::default(),
            provider: OnceLock::new(),
        }))
    }

    /// Reads visitors from the database again when they next come: an account may have been changed, here or on another node.
    pub fn forget_visitors(&self) {
        self.0.visitors.clear();
    }

    /// Deletes up to `at_most` of each kind of thing that does not let anybody in any more, and says whether that was all.
    pub async fn delete_ended(&self, at_most: u32) -> Result<bool> {
        let now = self.0.clock.now();
        let write = move |tx: &mut store::Tx<'_>| {
            let n_links = store::login_links::delete_ended(tx, now, at_most)?;
            let n_sign_ins = store::sign_ins::delete_ended(tx, now, at_most)?;
            Ok::<_, base::Error>(n_links.max(n_sign_ins) < u64::from(at_most))
        };
        self.0.store.write(OPERATOR, write).await
    }
}
