//! What somebody has to agree to: pipelines that an import could set off, before the first row, because they send to every channel
//! that gets a tag or a subscription, imported or not; and an app that becomes looser, before its line.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::Options;
use super::app::Changes;
use crate::client::Client;
use crate::commands::asking::is_agreed;
use crate::commands::listing::each;
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
    let otherwise = "Disable them for the time of the import, or say --yes if they may send.";
    is_agreed(|| shown(&warning), "Import nevertheless?", &format!("Nothing was imported. {warning}\n{otherwise}"))
}

/// Shows how the app itself changes, for somebody to agree if it lets in more than before.
pub(super) fn to_changes(changes: &Changes, options: &Options) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    if options.dry_run {
        output::note(format_args!("The app would change as its line says:{changes}"));
        return Ok(());
    }
    let warning = format!("The app changes as its line says:{changes}");
    if options.yes || !changes.are_looser() {
        output::note(format_args!("{warning}"));
        return Ok(());
    }
    let otherwise = "Say --yes if it is to be so, or import without --with-app.";
    let unasked =
        format!("The app was not changed, because some of this lets in more than before:{changes}\n{otherwise}");
    ensure!(
        is_agreed(|| shown(&warning), "Change the app so?", &unasked)?,
        "The app was not changed, and the import ends there."
    );
    Ok(())
}

fn shown(warning: &str) -> Result<()> {
    output::note(format_args!("{warning}"));
    Ok(())
}
