//! How far the erasure of a person has come, and the receipt. Both are stored as JSON: never change a name.

use std::collections::BTreeMap;

use model::ids::Offset;
use serde::{Deserialize, Serialize};
use store::CleanUp;
use store::privacy::RequestKind;
use store::privacy::plan::{PLAN, Treatment};

/// The next thing to do. Every step is safe to repeat from its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) stage: Stage,
    /// The index of the table in the plan.
    pub(super) step: usize,
    /// How far the log was read.
    pub(super) log: Offset,
    /// How often the file could not be cleaned.
    pub(super) n_blocked: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// The person is looked up, and the channels are uninstalled.
    #[default]
    LookUp,
    /// Every table is gone through.
    Erase,
    /// Rows are erased that work under way at the time has written since.
    EraseLate,
    CleanUp,
}

/// What was found and done. It names nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Receipt {
    tables: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clean_up: Option<String>,
}

/// A table of a receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableReceipt {
    pub table: &'static str,
    /// How many rows are about the person.
    pub found: u64,
    /// In a word.
    pub done: &'static str,
}

impl Receipt {
    pub(super) fn add(&mut self, table: &str, n_found: u64) {
        if n_found > 0 {
            *self.tables.entry(table.to_owned()).or_default() += n_found;
        }
    }

    pub(super) fn set_clean_up(&mut self, clean_up: Option<CleanUp>) {
        let word = match clean_up {
            Some(CleanUp::Complete) => "complete",
            Some(CleanUp::WithoutVacuum) => "without_vacuum",
            Some(CleanUp::Blocked) => "blocked",
            None => "left_to_postgresql",
        };
        self.clean_up = Some(word.to_owned());
    }

    /// All tables that hold anything about persons, those without a row as well.
    pub(super) fn shown(self, kind: RequestKind) -> (Vec<TableReceipt>, Option<String>) {
        let shown = |(table, treatment): (&'static str, Treatment)| {
            let found = self.tables.get(table).copied().unwrap_or(0);
            Some(TableReceipt { table, found, done: done(kind, treatment)? })
        };
        let tables = PLAN.iter().map(|entry| (entry.table, entry.treatment)).filter_map(shown).collect();
        (tables, self.clean_up)
    }
}

/// `None` for tables that hold nothing about a person.
fn done(kind: RequestKind, treatment: Treatment) -> Option<&'static str> {
    let erased = match treatment {
        Treatment::Owned(_)
        | Treatment::Inboxes
        | Treatment::ListMembers
        | Treatment::Sandbox
        | Treatment::DeadLetters
        | Treatment::History
        | Treatment::Exports => "deleted",
        Treatment::Cleaned(_)
        | Treatment::Documents
        | Treatment::Outcomes
        | Treatment::Answers
        | Treatment::Log
        | Treatment::Faces => "anonymized",
        Treatment::Kept(_) => return None,
    };
    Some(match kind {
        RequestKind::Erase => erased,
        RequestKind::Export => "exported",
    })
}
