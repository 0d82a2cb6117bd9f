//! What became of all rows of an import.

use anyhow::{Context, Result};
use serde::Serialize;

use super::documents::Taken;
use crate::output;

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Total {
    /// Rows that were read, without those that an earlier run has done.
    pub(super) rows: u64,
    pub(super) created: u64,
    pub(super) updated: u64,
    /// Rows that a dry run found good; `None` if it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) checked: Option<u64>,
    /// Named users, lists, segments and the like.
    pub(super) items: u64,
    /// Of these, schedules and pipelines that came paused or disabled.
    pub(super) inactive: u64,
    /// Schedules and experiments that cannot be paused, and were not made.
    pub(super) withheld: u64,
    /// Lines about the app itself, which was not to be changed.
    pub(super) passed_over: u64,
    /// Of the items, schedules and pipelines that send here, and the rates of these, which were not changed.
    pub(super) kept: u64,
    /// Rows that are neither channels nor users, in a dry run.
    pub(super) unchecked: u64,
    pub(super) refused: u64,
    /// Columns that are no part of a channel, which were told when they were found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) not_imported: Vec<String>,
}

impl Total {
    /// Of an import that has not begun.
    pub(super) fn begin(is_dry_run: bool) -> Self {
        Self { checked: is_dry_run.then_some(0), ..Self::default() }
    }

    /// So many rows could be imported, if this is a dry run.
    pub(super) fn count_checked(&mut self, n_rows: u64) {
        if let Some(checked) = &mut self.checked {
            *checked += n_rows;
        }
    }

    pub(super) fn count_item(&mut self, taken: &Taken) {
        match taken {
            Taken::AsItIs => self.items += 1,
            Taken::Inactive => {
                self.items += 1;
                self.inactive += 1;
            }
            Taken::Withheld => self.withheld += 1,
            Taken::PassedOver => self.passed_over += 1,
            Taken::Kept => {
                self.items += 1;
                self.kept += 1;
            }
        }
    }

    pub(super) fn show(&self, is_json: bool) -> Result<()> {
        if is_json {
            return output::line(format_args!(
                "{}",
                serde_json::to_string(self).context("The total cannot be written")?
            ));
        }
        let Self {
            rows,
            created,
            updated,
            checked,
            items,
            inactive,
            withheld,
            passed_over,
            kept,
            unchecked,
            refused,
            ..
        } = self;
        match checked {
            Some(checked) => output::line(format_args!(
                "{rows} rows were read: {checked} could be imported, {refused} would be left out. Nothing was changed."
            ))?,
            None => {
                let items = if *items > 0 { format!(", {items} other things are there") } else { String::new() };
                output::line(format_args!(
                    "{rows} rows were read: {created} channels are new, {updated} were known{items}, {refused} rows were left out."
                ))?;
            }
        }
        if *unchecked > 0 {
            output::line(format_args!(
                "{unchecked} rows are neither channels nor users, which a dry run does not check."
            ))?;
        }
        if *inactive > 0 {
            output::line(format_args!(
                "{inactive} schedules and pipelines came paused or disabled. Repeat the import with --active when nothing else \
                 sends the same any more, or resume and enable them one by one."
            ))?;
        }
        if *withheld > 0 {
            output::line(format_args!(
                "{withheld} schedules and experiments were not made, because what sends once cannot be paused; --active makes them."
            ))?;
        }
        if *passed_over > 0 {
            output::line(format_args!("The name, mode and rules of the app were passed over; --with-app sets them."))?;
        }
        if *kept > 0 {
            output::line(format_args!(
                "{kept} schedules, pipelines and rates of pipelines are in use here and were not changed, although the source has \
                 them otherwise; --active changes them."
            ))?;
        }
        Ok(())
    }
}
