//! Tokens for servers: made by the operator and by administrators of an app, shown once, kept as hashes, and taken instead of the
//! master secret as far as their limits go. When one was last used is noted in memory and written later.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use base::{Error, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use boxed::boxed;
use model::account::Role;
use model::app::AppKey;
use model::ids::{OperationId, ServerTokenId};
use model::limits;
use model::network::Network;
use model::server_token::{NewServerToken, Scope};
use model::time::UtcMillis;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use store::server_tokens::{self, ServerToken, TokenKind};
use store::{Signal, Tx};

use crate::callers::Known;
use crate::{Caller, IdempotencyKey, OPERATOR, Refusal, Tenancy, credentials};

/// What every token begins with, so that people and programs that look for leaked secrets recognize one.
const BEGINNING: &str = "aerogram_";
/// How much of a token is shown later: six characters tell the tokens of an app apart, and leave 220 unknown bits.
const SHOWN_CHARS: usize = BEGINNING.len() + 6;
const MINUTE: i64 = 60_000;

/// A new token, which cannot be shown again.
#[derive(Clone, Serialize, Deserialize)]
pub struct CreatedToken {
    pub operation_id: OperationId,
    pub id: ServerTokenId,
    pub token: String,
}

/// What a server with a token may do, and from where.
pub struct TokenLimits {
    pub(crate) id: ServerTokenId,
    pub role: Role,
    /// `None` for all.
    pub scopes: Option<Vec<Scope>>,
    /// Of each list, one network has to have the address of the caller.
    pub(crate) addresses: Vec<Vec<Network>>,
    pub(crate) expires: Option<UtcMillis>,
    /// What the audit log calls it.
    pub(crate) credential: Arc<str>,
}

/// By what a token is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TokenRef {
    Hash([u8; 32]),
    Id(ServerTokenId),
}

/// A token as callers need it.
pub(crate) struct KnownToken {
    pub(crate) row: ServerToken,
    pub(crate) app: AppKey,
    pub(crate) limits: Arc<TokenLimits>,
    /// The last minute for which the use was noted.
    noted: AtomicI64,
}

/// The tokens that were used lately, and uses that are not written yet.
#[derive(Default)]
pub(crate) struct KnownTokens {
    known: Known<TokenRef, KnownToken>,
    uses: Mutex<HashMap<ServerTokenId, UtcMillis>>,
    writing_uses: tokio::sync::Mutex<()>,
}

impl KnownTokens {
    pub(crate) fn clear(&self) {
        self.known.clear();
    }
}

impl TokenLimits {
    /// Whether the token may be used from an address. One that is not known is in no list.
    pub fn allows_address(&self, address: Option<IpAddr>) -> bool {
        let has = |networks: &Vec<Network>| address.is_some_and(|address| networks.iter().any(|n| n.contains(address)));
        self.addresses.iter().all(has)
    }

    fn of(row: &ServerToken) -> Self {
        let kind = match row.kind {
            TokenKind::Bearer => "token",
            TokenKind::Client => "oauth client",
        };
        Self {
            id: row.id,
            role: row.role,
            scopes: row.scopes.clone(),
            addresses: row.addresses.iter().cloned().collect(),
            expires: row.expires,
            credential: format!("{kind} {} ({})", row.prefix, row.name).into(),
        }
    }
}

/// Whether this is meant to be a token of a server. Signatures of devices are standard base64, which has no underscore.
pub(crate) fn has_shape(token: &str) -> bool {
    token.starts_with(BEGINNING)
}

pub(crate) fn new_secret() -> Result<String> {
    Ok(format!("{BEGINNING}{}", BASE64_URL.encode(credentials::random_bytes::<32>()?)))
}

/// What is shown of a token or secret later.
pub(crate) fn shown(secret: &str) -> String {
    secret.chars().take(SHOWN_CHARS).collect()
}

#[boxed]
impl Tenancy {
    pub async fn create_token(
        &self,
        key: &str,
        new: NewServerToken,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedToken> {
        let (now, token) = (self.0.clock.now(), new_secret()?);
        let row = ServerToken {
            id: ServerTokenId::at(now),
            app: self.app(key).await?.id,
            kind: TokenKind::Bearer,
            hash: Some(credentials::hash(&token)),
            public_key: None,
            prefix: shown(&token),
            role: new.role,
            expires: self.end_of(&new, now)?,
            name: new.name,
            scopes: new.scopes,
            addresses: new.addresses,
            created: now,
            created_by: String::new(),
            used: None,
        };
        let created = CreatedToken { operation_id: OperationId::at(now), id: row.id, token };
        self.write_once(row.app, idempotency_key, move |tx| {
            insert(tx, &row)?;
            Ok(created.clone())
        })
        .await
    }

    /// When a new token ends: one that has ended already is a mistake.
    pub(crate) fn end_of(&self, new: &NewServerToken, now: UtcMillis) -> Result<Option<UtcMillis>> {
        match new.ends(now) {
            Some(ends) if ends <= now => Err(Error::invalid("expires", "This must be in the future, in UTC.")),
            ends => Ok(ends),
        }
    }

    /// The tokens or the clients of an app, the oldest first.
    pub async fn tokens(&self, key: &str, kind: TokenKind) -> Result<Vec<ServerToken>> {
        let app = self.app(key).await?;
        self.write_token_uses().await?;
        let all = self.0.store.read(move |tx: &mut Tx<'_>| server_tokens::of_app(tx, app.id)).await?;
        Ok(all.into_iter().filter(|token| token.kind == kind).collect())
    }

    /// Ends a token or a client, and all access tokens of that client, on all nodes at once.
    pub async fn revoke_token(&self, key: &str, id: ServerTokenId, kind: TokenKind) -> Result<()> {
        let app = self.app(key).await?.id;
        let missing = match kind {
            TokenKind::Bearer => "token",
            TokenKind::Client => "OAuth client",
        };
        let write = move |tx: &mut Tx<'_>| {
            let row = server_tokens::by_id(tx, id)?.filter(|row| row.app == app && row.kind == kind);
            let row = row.ok_or(Error::NotFound(missing))?;
            server_tokens::delete(tx, app, id)?;
            tx.note_detail("name", row.name.as_str());
            tx.note_detail("prefix", row.prefix.as_str());
            tx.signal(Signal::Apps);
            Ok::<_, Error>(())
        };
        self.0.store.write(app, write).await?;
        self.0.tokens.clear();
        Ok(())
    }

    pub(crate) async fn authenticate_server_token(
        &self,
        token: &str,
        app_key: Option<&str>,
    ) -> Result<Result<Caller, Refusal>> {
        let hash = credentials::hash(token);
        let Some(found) = self.known_token(TokenRef::Hash(hash)).await? else { return Ok(Err(Refusal::Wrong)) };
        let is_it = found.row.hash.is_some_and(|kept| credentials::matches(&hash, &kept));
        if !is_it || found.row.kind != TokenKind::Bearer {
            return Ok(Err(Refusal::Wrong));
        }
        let limits = found.limits.clone();
        self.caller_with_token(&found, limits, app_key).await
    }

    /// The caller for whom a token speaks that was proven to be right.
    pub(crate) async fn caller_with_token(
        &self,
        found: &KnownToken,
        limits: Arc<TokenLimits>,
        app_key: Option<&str>,
    ) -> Result<Result<Caller, Refusal>> {
        let now = self.0.clock.now();
        if limits.expires.is_some_and(|ends| now >= ends) || found.row.expires.is_some_and(|ends| now >= ends) {
            return Ok(Err(Refusal::Expired));
        }
        if app_key.is_some_and(|named| named.trim() != found.app.as_str()) {
            return Ok(Err(Refusal::OfAnotherApp));
        }
        let Some(known) = self.known_app(found.app.as_str()).await? else { return Ok(Err(Refusal::Wrong)) };
        self.note_token_use(found, now);
        Ok(Ok(Caller::with_token(&known, limits)))
    }

    pub(crate) async fn is_token_current(&self, limits: &TokenLimits) -> Result<bool> {
        let is_over = limits.expires.is_some_and(|ends| self.0.clock.now() >= ends);
        Ok(!is_over && self.known_token(TokenRef::Id(limits.id)).await?.is_some())
    }

    pub(crate) async fn known_token(&self, token: TokenRef) -> Result<Option<Arc<KnownToken>>> {
        if let Some(known) = self.0.tokens.known.get(&token) {
            return Ok(Some(known));
        }
        self.0.tokens.known.read(token, self.read_token(token)).await
    }

    async fn read_token(&self, token: TokenRef) -> Result<Option<KnownToken>> {
        let read = move |tx: &mut Tx<'_>| {
            let found = match token {
                TokenRef::Hash(hash) => server_tokens::by_hash(tx, &hash)?,
                TokenRef::Id(id) => server_tokens::by_id(tx, id)?,
            };
            let Some(row) = found else { return Ok(None) };
            let app = store::apps::by_id(tx, row.app)?;
            Ok::<_, store::Error>(app.map(|(app, _)| (row, app.key)))
        };
        let Some((row, app)) = self.0.store.read(read).await? else { return Ok(None) };
        let noted = AtomicI64::new(row.used.map_or(i64::MIN, |used| used.0));
        Ok(Some(KnownToken { limits: Arc::new(TokenLimits::of(&row)), row, app, noted }))
    }

    /// Remembers that a token was used, once a minute.
    fn note_token_use(&self, token: &KnownToken, now: UtcMillis) {
        let minute = now.0.div_euclid(MINUTE) * MINUTE;
        if token.noted.fetch_max(minute, Ordering::Relaxed) < minute {
            self.0.tokens.uses.lock().insert(token.row.id, UtcMillis(minute));
        }
    }

    /// Writes which tokens were used since the last time. What cannot be written is kept for the next time.
    pub async fn write_token_uses(&self) -> Result<()> {
        // Whoever asks for the tokens sees what another has begun to write.
        let _turn = self.0.tokens.writing_uses.lock().await;
        let uses = std::mem::take(&mut *self.0.tokens.uses.lock());
        if uses.is_empty() {
            return Ok(());
        }
        let written = uses.clone();
        let write = move |tx: &mut Tx<'_>| {
            written.iter().try_for_each(|(id, minute)| server_tokens::set_used(tx, *id, *minute))
        };
        let result = self.0.store.write(OPERATOR, write).await;
        if result.is_err() {
            let mut left = self.0.tokens.uses.lock();
            for (id, minute) in uses {
                let latest = left.entry(id).or_insert(minute);
                *latest = minute.max(*latest);
            }
        }
        Ok(result?)
    }
}

/// Adds a token or client to an app, in the name of the one who asks for it.
pub(crate) fn insert(tx: &mut Tx<'_>, new: &ServerToken) -> Result<()> {
    if server_tokens::of_app(tx, new.app)?.len() >= limits::TOKENS_PER_APP {
        let most = limits::TOKENS_PER_APP;
        return Err(Error::Conflict(format!(
            "The app has {most} tokens and clients, and no room for more; revoke one."
        )));
    }
    let created_by = tx.requested_by().unwrap_or(crate::COMMAND_LINE).to_owned();
    server_tokens::insert(tx, &ServerToken { created_by, ..new.clone() })?;
    tx.note_object("token_id", new.id);
    tx.note_detail("name", new.name.as_str());
    tx.note_detail("role", new.role.word());
    tx.note_detail("prefix", new.prefix.as_str());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_recognized_and_no_two_are_the_same() {
        let (one, other) = (new_secret().unwrap(), new_secret().unwrap());
        assert_eq!((one.len(), has_shape(&one)), (BEGINNING.len() + 43, true));
        assert_ne!(one, other);
        assert_eq!(shown(&one).len(), 15);
        assert!(!has_shape("Npyqy5OZxMEVv4bt64S3aUE4NwUQVLX50vGrEegohFE="));
    }
}
