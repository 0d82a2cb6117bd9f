//! Secrets of apps that were replaced and are good for some time yet, one of each kind at most.

use model::ids::AppId;
use model::time::UtcMillis;

use crate::{Error, Result, Tx};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerSecret {
    pub kind: SecretKind,
    pub hash: [u8; 32],
    /// The app secret in a form that can be read again, encrypted.
    pub sealed: Option<String>,
    /// From when on it is not good any more.
    pub ends: UtcMillis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    App,
    Master,
}

impl SecretKind {
    /// The names are stored: never change one.
    pub const fn word(self) -> &'static str {
        match self {
            SecretKind::App => "app",
            SecretKind::Master => "master",
        }
    }

    fn from_word(word: &str) -> Result<Self> {
        let found = [SecretKind::App, SecretKind::Master].into_iter().find(|kind| kind.word() == word);
        found.ok_or_else(|| Error::corrupt(format!("a former secret of the kind {word:?}")))
    }
}

/// Takes the place of the one of its kind.
pub fn put(tx: &mut Tx<'_>, app: AppId, former: &FormerSecret) -> Result<()> {
    tx.execute(
        "insert into former_secret (app, secret, hash, sealed, ends) values ($1, $2, $3, $4, $5)
         on conflict (app, secret) do update set hash = excluded.hash, sealed = excluded.sealed, ends = excluded.ends",
        &[
            app.into(),
            former.kind.word().into(),
            former.hash.to_vec().into(),
            former.sealed.clone().into(),
            former.ends.into(),
        ],
    )
    .map(drop)
}

pub fn of_app(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<FormerSecret>> {
    let sql = "select secret, hash, sealed, ends from former_secret where app = $1 order by secret";
    tx.query(sql, &[app.into()], |row| {
        Ok(FormerSecret {
            kind: SecretKind::from_word(row.next()?)?,
            hash: crate::apps::read_hash(row.next()?)?,
            sealed: row.next()?,
            ends: row.next()?,
        })
    })
}

/// Whether there was one.
pub fn delete(tx: &mut Tx<'_>, app: AppId, kind: SecretKind) -> Result<bool> {
    let sql = "delete from former_secret where app = $1 and secret = $2";
    Ok(tx.execute(sql, &[app.into(), kind.word().into()])? > 0)
}
