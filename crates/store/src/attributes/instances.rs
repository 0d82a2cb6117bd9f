//! The instances of an attribute that is an object: all names that begin with its own and `#`.

use model::ids::{AppId, Ordinal};

use super::{CHANNEL, NAMED_USER, REMOVED, ordinal};
use crate::{Result, Tx};

/// The names of the instances are from the first of these on and before the second, which has the character after `#` in its place.
fn bounds(name: &str) -> (String, String) {
    (format!("{name}#"), format!("{name}$"))
}

/// Whether a name is that of an attribute or of one of its instances.
pub fn is_of(attribute: &str, name: &str) -> bool {
    name.strip_prefix(attribute).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

/// Visits every channel that has instances of an attribute of its own, in no order, with the value of each.
pub fn for_each_instance(
    tx: &mut Tx<'_>,
    app: AppId,
    name: &str,
    mut visit: impl FnMut(Ordinal, &str) -> Result<()>,
) -> Result<()> {
    // Each length is that of an index, which has the short values in it.
    let short = "select owner, value from attribute
                 where app = $1 and name >= $2 and name < $3 and owner_kind = $4 and value <> $5 and length(value) <= 300";
    let long = "select owner, value from attribute
                where app = $1 and name >= $2 and name < $3 and owner_kind = $4 and value <> $5 and length(value) > 300";
    let (first, end) = bounds(name);
    let params = [app.into(), first.into(), end.into(), CHANNEL.into(), REMOVED.into()];
    for sql in [short, long] {
        tx.for_each(sql, &params, |row| visit(ordinal(row.next()?)?, row.next()?))?;
    }
    Ok(())
}

/// Visits the installed channels of every named user that has instances of an attribute, with the user's values.
pub fn for_each_instance_of_users(
    tx: &mut Tx<'_>,
    app: AppId,
    name: &str,
    mut visit: impl FnMut(Ordinal, &str) -> Result<()>,
) -> Result<()> {
    // A cross join, so that SQLite begins with the attribute, of which there may be none.
    let short = "select c.ordinal, a.value from attribute a cross join channel c
                 where a.app = $1 and a.name >= $2 and a.name < $3 and a.owner_kind = $4 and a.value <> $5
                 and length(a.value) <= 300 and c.app = a.app and c.named_user = a.owner and c.installed = 1";
    let long = "select c.ordinal, a.value from attribute a cross join channel c
                where a.app = $1 and a.name >= $2 and a.name < $3 and a.owner_kind = $4 and a.value <> $5
                and length(a.value) > 300 and c.app = a.app and c.named_user = a.owner and c.installed = 1";
    let (first, end) = bounds(name);
    let params = [app.into(), first.into(), end.into(), NAMED_USER.into(), REMOVED.into()];
    for sql in [short, long] {
        tx.for_each(sql, &params, |row| visit(row.next()?, row.next()?))?;
    }
    Ok(())
}
