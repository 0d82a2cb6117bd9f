//! What PostgreSQL was asked, as `pg_stat_statements` counts it.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::clients::Work;
use crate::report;

/// One line a statement, the one that took the longest first: calls, milliseconds, rows, and the text in one line.
pub(super) const SQL: &str = r"select calls || '|' || total_exec_time || '|' || rows || '|' || regexp_replace(query, '\s+', ' ', 'g')
     from pg_stat_statements where query not like '%pg_stat%' order by total_exec_time desc";
/// Characters of a text that are printed, and statements.
const WIDTH: usize = 140;
const MOST: usize = 25;

#[derive(Default)]
pub(crate) struct Statements {
    n_requests: f64,
    found: Vec<Statement>,
    of_service: Duration,
    of_database: Duration,
}

struct Statement {
    n_calls: f64,
    milliseconds: f64,
    n_rows: f64,
    text: String,
}

impl Statements {
    pub(super) fn read(answer: &str, work: &Work, of_database: Duration) -> Result<Self> {
        let (n_requests, of_service) = (work.n_calls.max(1) as f64, work.cpu.saturating_sub(of_database));
        let found = answer.lines().map(|line| read_line(line).with_context(|| format!("unreadable: {line}")));
        Ok(Self { n_requests, found: found.collect::<Result<_>>()?, of_service, of_database })
    }

    pub(super) fn per_request(&self) -> f64 {
        self.found.iter().map(|statement| statement.n_calls).sum::<f64>() / self.n_requests
    }
}

fn read_line(line: &str) -> Option<Statement> {
    let mut parts = line.splitn(4, '|');
    let mut number = || parts.next()?.parse().ok();
    let (n_calls, milliseconds, n_rows) = (number()?, number()?, number()?);
    let text = parts.next()?;
    // A question for many rows begins with their columns.
    let told = text.split_once(" cross join lateral (").map_or(text, |(_, question)| question);
    Some(Statement { n_calls, milliseconds, n_rows, text: told.chars().take(WIDTH).collect() })
}

/// The statements of one kind of request.
pub(crate) fn print(Statements { n_requests, found, of_service, of_database }: &Statements) -> Result<()> {
    for (name, time) in [("service", of_service), ("database", of_database)] {
        report::line(&format!("CPU time of the {name} per request"), &report::duration(time.div_f64(*n_requests)))?;
    }
    let row = |Statement { n_calls, milliseconds, n_rows, text }: &Statement| {
        let time = milliseconds * 1e3 / n_requests;
        let per_request = format!("{:.4}", n_calls / n_requests);
        vec![text.clone(), per_request, format!("{:.1}", n_rows / n_calls), format!("{time:.1} µs")]
    };
    let rows: Vec<_> = found.iter().take(MOST).map(row).collect();
    report::table(&["", "calls per request", "rows per call", "per request"], &rows)
}
