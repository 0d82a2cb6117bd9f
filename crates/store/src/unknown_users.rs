//! Unknown users: what channels hold because it was said about a user without a name.

use std::collections::BTreeSet;

use model::ids::{AppId, Ordinal, TermId};

use crate::{Error, Result, Tx, terms};

/// The part of what a channel holds itself that is its unknown user's. The channel may have lost some of it
/// since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownUser {
    /// Sorted.
    pub terms: Vec<TermId>,
    /// By name.
    pub attributes: BTreeSet<String>,
}

pub fn get(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<Option<UnknownUser>> {
    let sql = "select terms, attributes from unknown_user where app = $1 and ordinal = $2";
    tx.query_opt(sql, &[app.into(), ordinal.into()], |row| {
        let (terms, attributes) = (terms::decode(row.next()?)?, serde_json::from_str(row.next()?));
        Ok(UnknownUser {
            terms,
            attributes: attributes.map_err(|error| Error::corrupt(format!("an unknown user's attributes: {error}")))?,
        })
    })
}

pub fn put(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal, user: &UnknownUser) -> Result<()> {
    let attributes = serde_json::Value::from_iter(user.attributes.iter().map(String::as_str)).to_string();
    tx.write(
        "insert into unknown_user (app, ordinal, terms, attributes) values ($1, $2, $3, $4)
         on conflict (app, ordinal) do update set terms = excluded.terms, attributes = excluded.attributes",
        &[app.into(), ordinal.into(), terms::encode(&user.terms).into(), attributes.into()],
    )?;
    Ok(())
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<()> {
    tx.write("delete from unknown_user where app = $1 and ordinal = $2", &[app.into(), ordinal.into()])?;
    Ok(())
}
