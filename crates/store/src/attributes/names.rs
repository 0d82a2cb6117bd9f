//! The names of attributes, and some of the values under each.

use model::ids::AppId;

use super::{CHANNEL, NAMED_USER, REMOVED};
use crate::{Result, Tx};

/// Values under a name, of channels first and then of named users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// JSON; without those that were removed.
    pub values: Vec<String>,
    /// Whether these are all that there are.
    pub is_complete: bool,
}

/// The first name at or after a text, be it that of a removed attribute. The index leads to it, however many have it.
pub fn first_name(tx: &mut Tx<'_>, app: AppId, from: &str) -> Result<Option<String>> {
    // Each length is that of an index.
    let short =
        "select name from attribute where app = $1 and name >= $2 and length(value) <= 300 order by name limit 1";
    let long = "select name from attribute where app = $1 and name >= $2 and length(value) > 300 order by name limit 1";
    let mut first: Option<String> = None;
    for sql in [short, long] {
        let found: Option<String> = tx.query_opt(sql, &[app.into(), from.into()], |row| row.get(0))?;
        first = [first, found].into_iter().flatten().min();
    }
    Ok(first)
}

/// Up to `at_most` short and as many long values of channels, and of named users.
pub fn sample(tx: &mut Tx<'_>, app: AppId, name: &str, at_most: u32) -> Result<Sample> {
    let short = "select value from attribute
                 where app = $1 and name = $2 and owner_kind = $3 and length(value) <= 300 order by owner limit $4";
    let long = "select value from attribute
                where app = $1 and name = $2 and owner_kind = $3 and length(value) > 300 order by owner limit $4";
    let mut sample = Sample { values: Vec::new(), is_complete: true };
    for kind in [CHANNEL, NAMED_USER] {
        for sql in [short, long] {
            let params = [app.into(), name.into(), kind.into(), (at_most + 1).into()];
            let mut found: Vec<String> = tx.query(sql, &params, |row| row.get(0))?;
            sample.is_complete &= found.len() <= at_most as usize;
            found.truncate(at_most as usize);
            sample.values.extend(found.into_iter().filter(|value| value != REMOVED));
        }
    }
    Ok(sample)
}
