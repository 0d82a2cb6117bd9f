//! An audience of ten terms, explained over HTTP while tags of the same app change.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use model::ids::{ChannelId, Ordinal};
use serde_json::{Value, json};

use super::beside::Beside;
use super::beside_idle;
use super::singles::TAG_UPDATES;
use crate::http::{Connection, request};
use crate::loading::{self, Users};
use crate::population::{self, Population, tag_name, value_name};
use crate::report::{self, duration, number};
use crate::sample::Sample;
use crate::server::{App, Server, master_authorization};
use crate::{Size, writes};

const QUESTIONS: usize = 300;
/// Channels whose tags change, spread over all.
const TAGGED: u32 = 100_000;
const GOAL: Duration = Duration::from_millis(10);

pub(super) async fn run(n_channels: u32, size: Size) -> Result<()> {
    report::heading(format_args!(
        "Ten terms explained over {} channels, beside {} tag updates a second of the same app",
        number(f64::from(n_channels)),
        number(f64::from(TAG_UPDATES)),
    ))?;
    let folder = tempfile::tempdir()?;
    loading::load(folder.path(), &Population::new(), n_channels, Users::None).await?;
    let server = Server::start(folder.path())?;
    let mut connection = Connection::open(server.address).await?;
    let n_questions = size.times(QUESTIONS);
    let idle = ask(&mut connection, n_questions).await?;
    let n_tagged = n_channels.min(TAGGED);
    let step = n_channels / n_tagged.max(1);
    let channels: Arc<[ChannelId]> = (0..n_tagged).map(|n| population::id(Ordinal(n * step))).collect();
    let tags = Beside::calls(server.address, TAG_UPDATES, writes::tag_update(&App::first(), &channels, "explaining"));
    tags.has_begun().await?;
    let busy = ask(&mut connection, n_questions).await?;
    let rate = tags.end()?;
    server.stop()?;

    let row = |name: &str, sample: &Sample, rate: f64| {
        let times = [50, 99].map(|percent| duration(sample.percentile(percent)));
        [vec![name.to_owned()], times.to_vec(), vec![number(rate)]].concat()
    };
    let rows = [row("beside an idle server", &idle, 0.0), row("beside tag updates", &busy, rate)];
    report::table(&["", "median", "p99", "tag updates a second"], &rows)?;
    let text = "ten terms explained beside tag updates, p99, and of that of an idle server";
    report::goal(text, &beside_idle(&busy, &idle), "under 10 ms", busy.percentile(99) < GOAL)
}

/// Asks one question after the other. The first does not count: it loads the index.
async fn ask(connection: &mut Connection, n_questions: usize) -> Result<Sample> {
    let question = json!({"audience": ten_terms()}).to_string();
    let question = request("POST", "/api/audience/explain", &master_authorization(), &question);
    let mut times = Vec::new();
    for n in 0..=n_questions {
        let asked = Instant::now();
        let explained = connection.expect(&question).await?;
        ensure!(explained["matched"] != 0, "Nobody is in the audience: {explained}");
        if n > 0 {
            times.push(asked.elapsed());
        }
    }
    Ok(Sample::of(times, Duration::ZERO))
}

/// The largest audience of `bench audience` with ten terms: nested, and three times "not".
fn ten_terms() -> Value {
    let tag = |rank: usize| json!({"tag": tag_name(rank)});
    let value = |group: &str, value: usize| json!({"tag": value_name(value), "group": group});
    let opted_in = value("ua_opt_in", 0);
    json!({"or": [
        {"and": [
            {"or": [tag(0), tag(7), tag(70)]},
            opted_in,
            {"not": {"and": [tag(4), value("ua_locale_country", 2)]}},
        ]},
        {"and": [
            tag(2),
            value("ua_locale_language", 1),
            {"not": {"or": [tag(6), {"not": opted_in}]}},
        ]},
    ]})
}
