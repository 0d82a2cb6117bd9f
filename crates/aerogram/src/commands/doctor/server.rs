//! The doctor's checks that the server makes, because it knows its apps, jobs and the other nodes.

use anyhow::Result;
use serde::Deserialize;

use super::Finding;
use crate::client::Client;

/// The check of the server that is called otherwise here, where the database is looked at as well.
const OF_DATABASE: &str = "database";
const READY: &str = "ready";

/// What the checks are called, in their order, if the server cannot be asked.
pub(super) const CHECKS: [&str; 6] = ["clock", "nodes", "jobs", "live", "platforms", "webhooks"];

#[derive(Deserialize)]
struct Answer {
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct Check {
    check: String,
    state: State,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warn,
    Fail,
}

/// Each finding with the name of its check.
pub(super) async fn findings(operator: &Client) -> Result<Vec<(String, Finding)>> {
    let Answer { checks } = operator.get("/operator/doctor").await?.read()?;
    Ok(checks.into_iter().map(Check::finding).collect())
}

/// Without a token nothing more can be asked.
pub(super) async fn ready(client: &Client) -> (String, Finding) {
    let answer = client.get("/ready").await;
    let fine = |_| Finding::Fine("The server reaches its database and is ready.".to_owned());
    (READY.to_owned(), answer.map_or_else(|error| Finding::wrong(&error), fine))
}

impl Check {
    fn finding(self) -> (String, Finding) {
        let Self { check, state, text } = self;
        let check = if check == OF_DATABASE { READY.to_owned() } else { check };
        let finding = match state {
            State::Ok => Finding::Fine(text),
            State::Warn => Finding::Soon(text),
            State::Fail => Finding::Wrong(text),
        };
        (check, finding)
    }
}
