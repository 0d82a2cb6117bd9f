//! Tags of devices that exist whether or not a device has them.

use model::ids::AppId;
use model::tag::Tag;

use crate::{Error, Result, Tx};

/// `false` when the tag was there already.
pub fn insert(tx: &mut Tx<'_>, app: AppId, tag: &Tag) -> Result<bool> {
    let sql = "insert into legacy_tag (app, tag) values ($1, $2) on conflict (app, tag) do nothing";
    Ok(tx.execute(sql, &[app.into(), tag.as_str().into()])? > 0)
}

/// `false` when there was no such tag.
pub fn delete(tx: &mut Tx<'_>, app: AppId, tag: &Tag) -> Result<bool> {
    Ok(tx.execute("delete from legacy_tag where app = $1 and tag = $2", &[app.into(), tag.as_str().into()])? > 0)
}

pub fn exists(tx: &mut Tx<'_>, app: AppId, tag: &Tag) -> Result<bool> {
    let sql = "select tag from legacy_tag where app = $1 and tag = $2";
    Ok(tx.query_opt(sql, &[app.into(), tag.as_str().into()], |_| Ok(()))?.is_some())
}

/// The first tags in their order.
pub fn first(tx: &mut Tx<'_>, app: AppId, at_most: u32) -> Result<Vec<Tag>> {
    tx.query("select tag from legacy_tag where app = $1 order by tag limit $2", &[app.into(), at_most.into()], |row| {
        let text: String = row.get(0)?;
        Tag::new(&text).map_err(|_| Error::corrupt(format!("tag {text:?}")))
    })
}
