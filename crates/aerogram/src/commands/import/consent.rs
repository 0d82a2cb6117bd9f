//! Pipelines that an import could set off: shown before the first row, for somebody to agree. They send to every channel that gets
//! a tag or a subscription, imported or not.

use std::fmt::Write as _;
use std::io::{self, BufRead, IsTerminal, Write as _};

use anyhow::Result;
use serde_json::Value;

use super::Options;
use crate::client::Client;
use crate::commands::listing::each;
use crate::config::Unusable;
use crate::output;

/// Imports cause no other happenings than these.
const PIPELINES: &str = "/api/pipelines/filtered?enabled=true&limit=100\
                         &triggers=TAG_ADDED,TAG_REMOVED,SUBSCRIPTION_ADDED,SUBSCRIPTION_REMOVED";

/// Whether the import may begin.
pub(super) async fn is_given(client: &Client, options: &Options) -> Result<bool> {
    let mut pipelines = String::new();
    each(client, PIPELINES, "pipelines", async |pipeline| {
        let text = |key: &str| pipeline.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("status") != "completed" {
            write!(pipelines, "\n  {} {}", text("uid"), text("name"))?;
        }
        Ok(())
    })
    .await?;
    if pipelines.is_empty() {
        return Ok(true);
    }
    let warning = format!("Tags and subscriptions of the import could set off these pipelines of the app:{pipelines}");
    if options.yes || options.dry_run {
        output::note(format_args!("{warning}"));
        return Ok(true);
    }
    let mut input = io::stdin().lock();
    if !input.is_terminal() {
        let ways = "Disable them for the time of the import, or say --yes if they may send.";
        return Err(Unusable::new(format!("Nothing was imported. {warning}\n{ways}")).into());
    }
    output::note(format_args!("{warning}"));
    let mut terminal = io::stderr().lock();
    write!(terminal, "Import nevertheless? [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
