//! The findings of the doctor's checks, for people and for programs.

use std::process::ExitCode;

use anyhow::{Error, Result};
use serde::Serialize;

use crate::output;

/// The result of a check, with advice when something is wrong.
#[derive(Serialize)]
#[serde(tag = "state", content = "text")]
pub(super) enum Finding {
    #[serde(rename = "ok")]
    Fine(String),
    /// Neither good nor bad: the check is not possible from here, and why.
    #[serde(rename = "note")]
    Note(String),
    /// Fine so far, but not for long.
    #[serde(rename = "warn")]
    Soon(String),
    #[serde(rename = "fail")]
    Wrong(String),
}

/// All findings, in the order in which they were made.
#[derive(Default, Serialize)]
pub(super) struct Report {
    checks: Vec<Check>,
}

#[derive(Serialize)]
struct Check {
    check: String,
    #[serde(flatten)]
    finding: Finding,
}

impl Finding {
    pub(super) fn wrong(error: &Error) -> Self {
        Finding::Wrong(output::explained(error))
    }
}

impl From<Result<Finding>> for Finding {
    fn from(found: Result<Finding>) -> Self {
        found.unwrap_or_else(|error| Finding::wrong(&error))
    }
}

impl Report {
    pub(super) fn add(&mut self, check: impl Into<String>, finding: Finding) {
        self.checks.push(Check { check: check.into(), finding });
    }

    pub(super) fn add_all(&mut self, check: &str, findings: Vec<Finding>) {
        findings.into_iter().for_each(|finding| self.add(check, finding));
    }

    /// Skips checks that depend on one that failed.
    pub(super) fn skip(&mut self, checks: &[&str]) {
        checks.iter().for_each(|check| self.add(*check, Finding::Note("Not checked.".to_owned())));
    }

    pub(super) fn print(&self, as_json: bool) -> Result<ExitCode> {
        if as_json {
            output::line(format_args!("{}", serde_json::to_string_pretty(self)?))?;
        } else {
            for Check { check, finding } in &self.checks {
                let (state, text) = match finding {
                    Finding::Fine(text) => ("ok", text),
                    Finding::Note(text) => ("note", text),
                    Finding::Soon(text) => ("warn", text),
                    Finding::Wrong(text) => ("FAIL", text),
                };
                output::line(format_args!("{state:<4}  {check:<9} {text}"))?;
            }
        }
        let is_wrong = self.checks.iter().any(|check| matches!(check.finding, Finding::Wrong(_)));
        Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
