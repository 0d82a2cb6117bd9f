//! Tokens and OAuth clients of the servers of apps. What they prove themselves with is kept as a hash, or as a public key.

use model::account::Role;
use model::ids::{AppId, ServerTokenId};
use model::network::Network;
use model::server_token::Scope;
use model::time::UtcMillis;

use crate::{Error, Result, Row, Tx};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerToken {
    pub id: ServerTokenId,
    pub app: AppId,
    pub kind: TokenKind,
    pub name: String,
    /// `None` for a client that has only a key.
    pub hash: Option<[u8; 32]>,
    /// With which assertions of a client are checked.
    pub public_key: Option<Vec<u8>>,
    /// How the token or secret begins, to recognize it by.
    pub prefix: String,
    pub role: Role,
    /// `None` for all.
    pub scopes: Option<Vec<Scope>>,
    /// `None` for all.
    pub addresses: Option<Vec<Network>>,
    pub created: UtcMillis,
    /// By whose credential it was made.
    pub created_by: String,
    /// From when on it does not count any more.
    pub expires: Option<UtcMillis>,
    /// The minute in which it was last used.
    pub used: Option<UtcMillis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Sent with every request.
    Bearer,
    /// An OAuth client, which gets access tokens by its secret or its key.
    Client,
}

/// The names are stored: never change one.
const KINDS: [(&str, TokenKind); 2] = [("bearer", TokenKind::Bearer), ("client", TokenKind::Client)];

const COLUMNS: &str =
    "id, in_app, kind, name, hash, public_key, prefix, role, scopes, addresses, created, created_by, expires, used";

impl TokenKind {
    const fn word(self) -> &'static str {
        match self {
            TokenKind::Bearer => KINDS[0].0,
            TokenKind::Client => KINDS[1].0,
        }
    }
}

pub fn insert(tx: &mut Tx<'_>, new: &ServerToken) -> Result<()> {
    tx.execute(
        "insert into server_token (id, in_app, kind, name, hash, public_key, prefix, role, scopes, addresses, created,
                                   created_by, expires, used)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        &[
            new.id.into(),
            new.app.into(),
            new.kind.word().into(),
            new.name.as_str().into(),
            new.hash.map(|hash| hash.to_vec()).into(),
            new.public_key.clone().into(),
            new.prefix.as_str().into(),
            new.role.word().into(),
            new.scopes.as_ref().map(|scopes| joined(scopes.iter().map(|scope| scope.word().to_owned()))).into(),
            new.addresses.as_ref().map(|networks| joined(networks.iter().map(Network::to_string))).into(),
            new.created.into(),
            new.created_by.as_str().into(),
            new.expires.into(),
            new.used.into(),
        ],
    )
    .map(drop)
}

pub fn by_hash(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<ServerToken>> {
    let sql = format!("select {COLUMNS} from server_token where hash = $1");
    tx.query_opt(&sql, &[hash.to_vec().into()], read)
}

pub fn by_id(tx: &mut Tx<'_>, id: ServerTokenId) -> Result<Option<ServerToken>> {
    let sql = format!("select {COLUMNS} from server_token where id = $1");
    tx.query_opt(&sql, &[id.into()], read)
}

/// Those of an app, the oldest first.
pub fn of_app(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<ServerToken>> {
    let sql = format!("select {COLUMNS} from server_token where in_app = $1 order by created, id");
    tx.query(&sql, &[app.into()], read)
}

/// It was used in this minute, or later.
pub fn set_used(tx: &mut Tx<'_>, id: ServerTokenId, minute: UtcMillis) -> Result<()> {
    let sql = "update server_token set used = $2 where id = $1 and (used is null or used < $2)";
    tx.execute(sql, &[id.into(), minute.into()]).map(drop)
}

/// Takes a token of an app away. Whether it was there.
pub fn delete(tx: &mut Tx<'_>, app: AppId, id: ServerTokenId) -> Result<bool> {
    Ok(tx.execute("delete from server_token where id = $1 and in_app = $2", &[id.into(), app.into()])? > 0)
}

/// The app is gone.
pub(crate) fn remove_of(tx: &mut Tx<'_>, app: AppId) -> Result<()> {
    tx.execute("delete from server_token where in_app = $1", &[app.into()]).map(drop)
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

fn read(row: &Row<'_>) -> Result<ServerToken> {
    Ok(ServerToken {
        id: row.next()?,
        app: row.next()?,
        kind: read_kind(row.next()?)?,
        name: row.next()?,
        hash: row.next::<Option<&[u8]>>()?.map(crate::apps::read_hash).transpose()?,
        public_key: row.next()?,
        prefix: row.next()?,
        role: read_role(row.next()?)?,
        scopes: row.next::<Option<&str>>()?.map(|words| read_words(words, Scope::from_word)).transpose()?,
        addresses: row.next::<Option<&str>>()?.map(|words| read_words(words, |word| word.parse().ok())).transpose()?,
        created: row.next()?,
        created_by: row.next()?,
        expires: row.next()?,
        used: row.next()?,
    })
}

fn read_kind(word: &str) -> Result<TokenKind> {
    let found = KINDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind);
    found.ok_or_else(|| Error::corrupt(format!("a token of the kind {word:?}")))
}

fn read_role(word: &str) -> Result<Role> {
    Role::from_word(word).ok_or_else(|| Error::corrupt(format!("role {word:?} of a token")))
}

/// A limit that cannot be read must not become none.
fn read_words<T>(words: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>> {
    let read = |word: &str| read(word).ok_or_else(|| Error::corrupt(format!("the limit {word:?} of a token")));
    words.split(' ').map(read).collect()
}
