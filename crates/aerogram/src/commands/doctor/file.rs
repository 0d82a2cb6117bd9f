//! The doctor's checks of a database that is a file: damaged pages, and log records that were missing at a start.

use std::path::Path;

use anyhow::Result;
use store::positions::{self, MissingRecords};
use store::{DatabaseUrl, Pages, examine};

use super::Finding;
use crate::commands::progress::Progress;

/// Apps that are named.
const NAMED: usize = 3;

/// What is wrong with the file; nothing if all is well. The pages are read only if the database `is_usable` at all.
pub(super) async fn findings(database: &DatabaseUrl, is_usable: bool) -> Result<Vec<Finding>> {
    let DatabaseUrl::Sqlite(path) = database else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    if is_usable && path.exists() {
        findings.extend(damage(path).await?);
    }
    findings.extend(missing(path));
    Ok(findings)
}

/// Takes as long as reading the file does, which a service that runs or starts meanwhile does not wait for.
async fn damage(path: &Path) -> Result<Option<Finding>> {
    let message = format!("reading every page of {}", path.display());
    let checked = Progress::of_unknown()?.during(&message, examine::check_pages(path)).await;
    Ok(match checked {
        Ok(Pages::Whole) => None,
        Ok(Pages::Unknown) => Some(Finding::Note(format!(
            "Not all of {} was read, because the service that uses it writes so much, or was started meanwhile; try again, or \
             check a backup.",
            path.display()
        ))),
        Ok(Pages::Damaged(problems)) => Some(Finding::Wrong(format!(
            "{} is damaged; stop the service and restore a backup: {}.",
            path.display(),
            problems.join("; ")
        ))),
        Err(error) => Some(Finding::Wrong(format!("{} cannot be checked for damage: {error}.", path.display()))),
    })
}

fn missing(database: &Path) -> Option<Finding> {
    let file = positions::missing_path(database);
    let all = match positions::read_missing(database) {
        Ok(all) if all.is_empty() => return None,
        Ok(all) => all,
        Err(error) => return Some(Finding::Wrong(format!("{} cannot be read: {error}.", file.display()))),
    };
    let named = all.iter().take(NAMED).map(|MissingRecords { app, from, to }| format!("{from} to {to} of {app}"));
    let more = if all.len() > NAMED { ", …" } else { "" };
    Some(Finding::Wrong(format!(
        "Log records were missing when the service started: {}{more}. {} names them; see what callers have to send again, and \
         remove it.",
        named.collect::<Vec<_>>().join(", "),
        file.display()
    )))
}
