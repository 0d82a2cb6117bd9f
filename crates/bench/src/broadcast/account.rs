//! What it takes to ask what became of a push, after it has gone to very many devices.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::http::{Connection, request};
use crate::report::{self, duration};
use crate::sample::Sample;
use crate::server::master_authorization;

const TIMES: usize = 50;
const GOAL: Duration = Duration::from_millis(50);

pub(super) struct Account {
    /// Each with its name.
    questions: Vec<(&'static str, Sample)>,
}

/// Asks for the first page, for a rare outcome, and about one device.
pub(super) async fn measure(connection: &mut Connection, push: &str) -> Result<Account> {
    let first = format!("/api/push/{push}/recipients");
    let answer = connection.expect(&request("GET", &first, &master_authorization(), "")).await?;
    let channel = answer["recipients"][0]["channel_id"].as_str().context("nobody got the push")?.to_owned();
    let paths = [
        ("the first page of recipients, median / p99", first),
        ("the first page of those who failed, median / p99", format!("/api/push/{push}/recipients?outcome=failed")),
        ("why one device got it, median / p99", format!("/api/push/{push}/why?channel_id={channel}")),
    ];
    let mut questions = Vec::new();
    for (name, path) in paths {
        let ask = request("GET", &path, &master_authorization(), "");
        let mut times = Vec::with_capacity(TIMES);
        for _ in 0..TIMES {
            let asked = Instant::now();
            connection.expect(&ask).await?;
            times.push(asked.elapsed());
        }
        questions.push((name, Sample::of(times, Duration::ZERO)));
    }
    Ok(Account { questions })
}

impl Account {
    pub(super) fn report(&self) -> Result<()> {
        for (name, sample) in &self.questions {
            let (median, worst) = (sample.median(), sample.percentile(99));
            let text = format!("{} / {}", duration(median), duration(worst));
            report::goal(name, &text, "p99 ≤ 50 ms", worst <= GOAL)?;
        }
        Ok(())
    }
}

/// The size of all files in a folder.
pub(super) fn n_bytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let found = entry?.metadata()?;
        sum += if found.is_file() { found.len() } else { 0 };
    }
    Ok(sum)
}
