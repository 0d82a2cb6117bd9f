//! Listings of the API, which come in pages: read item by item, or shown as a table.

mod cell;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Map, Value, json};

pub(super) use cell::Cell;

use crate::client::{Client, own_path, patiently};
use crate::config::number_in;
use crate::output::{self, Column};

/// A listing, and what a line about one of its items says.
pub(super) struct Listing {
    pub(super) path: &'static str,
    /// The name of the array in an answer.
    pub(super) items: &'static str,
    pub(super) columns: &'static [(&'static str, Column, Cell)],
}

#[derive(Args, Debug)]
pub(super) struct ListArgs {
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number_in(1_usize..=100_000))]
    pub(super) limit: usize,
}

impl Listing {
    /// Shows up to `limit` items. The path is that of the listing, perhaps with a query.
    pub(super) async fn show(&self, client: &Client, path: String, limit: usize, is_json: bool) -> Result<()> {
        let (mut items, mut next, mut n_all) = (Vec::new(), Some(path), 0);
        while let Some(path) = next.take().filter(|_| items.len() < limit) {
            let mut page: Value = client.get(&path).await?.read()?;
            items.extend(items_of(&mut page, self.items)?);
            next = page["next_page"].as_str().map(own_path);
            n_all = page["total"].as_u64().unwrap_or(0);
        }
        let is_more = items.len() > limit || next.is_some() || n_all > items.len() as u64;
        items.truncate(limit);
        if is_json {
            return output::line(format_args!("{}", json!({ self.items: items })));
        }
        let columns: Vec<_> = self.columns.iter().map(|(heading, column, _)| (heading, *column)).collect();
        let row = |item: &Value| self.columns.iter().map(|(_, _, cell)| cell.of(item)).collect();
        output::table_of(&columns, &items.iter().map(row).collect::<Vec<Vec<String>>>())?;
        if is_more {
            output::note(format_args!("There are more; a larger --limit shows them."));
        }
        Ok(())
    }
}

/// All things of a listing, page by page. A server that is away for a while, or has too much to do, is asked again: what was read
/// before is not read again.
pub(super) async fn each(
    client: &Client,
    first: &str,
    items: &str,
    mut take: impl AsyncFnMut(Map<String, Value>) -> Result<()>,
) -> Result<()> {
    let mut next = Some(first.to_owned());
    while let Some(path) = next.take() {
        let mut page: Value = patiently(|| client.get(&path)).await?.read()?;
        for one in objects_of(&mut page, items)? {
            take(one).await?;
        }
        next = page["next_page"].as_str().map(own_path);
    }
    Ok(())
}

/// The items of a page. An answer without them is no page: taken for an empty one, it would end a listing before its end.
fn items_of(page: &mut Value, items: &str) -> Result<Vec<Value>> {
    match page.get_mut(items).map(Value::take) {
        Some(Value::Array(all)) => Ok(all),
        _ => bail!("The server's answer has no '{items}' (do the versions match, and is it the service that answers?)"),
    }
}

/// The same, of things with keys.
pub(super) fn objects_of(page: &mut Value, items: &str) -> Result<Vec<Map<String, Value>>> {
    let objects = items_of(page, items)?.into_iter().map(|item| match item {
        Value::Object(item) => Ok(item),
        other => bail!("One of the '{items}' in the server's answer is {other}"),
    });
    objects.collect()
}
