//! Pushes to one device of one app, while another app sends to everybody and a third changes tags.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use model::ids::ChannelId;
use serde_json::json;
use sim::Protocol;
use tokio::time::{MissedTickBehavior, interval};

use super::beside::Beside;
use super::beside_idle;
use crate::broadcast::devices::Devices;
use crate::broadcast::provider::Provider;
use crate::http::{Connection, request};
use crate::loading::Place;
use crate::report::{self, duration, number};
use crate::sample::Sample;
use crate::server::{App, master_authorization, operator_authorization};
use crate::{Size, broadcast, events, writes};

/// Of each row of the table.
const PUSHES: usize = 500;
/// From one push to the next, unless it takes longer.
const PACE: Duration = Duration::from_millis(30);
pub(super) const TAG_UPDATES: u32 = 10_000;
/// Channels whose tags change.
const TAGGED: u32 = 5_000;
const GOAL: Duration = Duration::from_millis(20);

/// What was measured beside something.
struct Row {
    name: &'static str,
    accepted: Sample,
    delivered: Sample,
    tag_updates: f64,
    deliveries: f64,
}

pub(super) async fn run(n_devices: u32, size: Size) -> Result<()> {
    report::heading(format_args!(
        "Pushes to one device, beside a push to {} devices of another app and {} tag updates a second of a third",
        number(f64::from(n_devices)),
        number(f64::from(TAG_UPDATES)),
    ))?;
    let everybody = Provider::start()?;
    let devices = Devices::of(Protocol::Apns, &everybody)?;
    let folder = tempfile::tempdir()?;
    let place = Place::embedded(folder.path());
    devices.load_channels(&place, n_devices).await?;
    let server = place.start()?;
    let mut connection = Connection::open(server.address).await?;
    broadcast::set_up(&mut connection, &everybody, &devices).await?;
    let single = Single::prepare(&mut connection).await?;
    let tagged = App::create(&mut connection).await?;
    let channels: Arc<[ChannelId]> = events::register(&server, &tagged, size.requests(TAGGED)).await?.into();

    let n_pushes = size.times(PUSHES);
    let change_tags =
        |name: &str| Beside::calls(server.address, TAG_UPDATES, writes::tag_update(&tagged, &channels, name));
    let mut rows = Vec::new();
    rows.push(single.measure("an idle server", &mut connection, n_pushes, &everybody).await?);
    let tags = change_tags("alone");
    tags.has_begun().await?;
    let mut row = single.measure("tag updates", &mut connection, n_pushes, &everybody).await?;
    row.tag_updates = tags.end()?;
    rows.push(row);

    let push = devices.push(&json!("all"));
    let push = request("POST", "/api/push", &master_authorization(), &push.to_string());
    let before = everybody.messages(Protocol::Apns);
    let pushes = Beside::pushes(server.address, push);
    everybody.wait_for(Protocol::Apns, before + 1).await;
    rows.push(single.measure("a push to everybody", &mut connection, n_pushes, &everybody).await?);
    let tags = change_tags("both");
    tags.has_begun().await?;
    let mut row = single.measure("both", &mut connection, n_pushes, &everybody).await?;
    row.tag_updates = tags.end()?;
    rows.push(row);
    pushes.end()?;
    server.stop()?;
    print(&rows)
}

fn print(rows: &[Row]) -> Result<()> {
    let cells = rows.iter().map(|Row { name, accepted, delivered, tag_updates, deliveries }| {
        let times = [accepted, delivered].map(|sample| [50, 99].map(|percent| duration(sample.percentile(percent))));
        let beside = [number(*tag_updates), number(*deliveries)];
        [vec![format!("beside {name}")], times.concat(), beside.to_vec()].concat()
    });
    let heading = [
        "",
        "until accepted",
        "p99",
        "from then until delivered",
        "p99",
        "tag updates a second",
        "deliveries a second",
    ];
    report::table(&heading, &cells.collect::<Vec<_>>())?;
    let (Some(idle), Some(busy)) = (rows.first(), rows.last()) else { return Ok(()) };
    let p99 = busy.delivered.percentile(99);
    let text = "from acceptance to delivery beside both, p99, and of that of an idle server";
    report::goal(text, &beside_idle(&busy.delivered, &idle.delivered), "under 20 ms", p99 < GOAL)
}

/// A device of an app of its own, behind a provider of its own.
struct Single {
    provider: Provider,
    push: Vec<u8>,
}

impl Single {
    async fn prepare(connection: &mut Connection) -> Result<Self> {
        let provider = Provider::start()?;
        let app = App::create(connection).await?;
        let platform = Devices::of(Protocol::Apns, &provider)?.platform(&provider);
        let of_app = format!("/operator/apps/{}", app.key);
        // In development, the sandbox would keep every message as well.
        let production = json!({"mode": "production"});
        for (method, path, body) in
            [("PATCH", of_app.clone(), production), ("PUT", format!("{of_app}/platforms/apns"), platform)]
        {
            connection.expect(&request(method, &path, &operator_authorization(), &body.to_string())).await?;
        }
        let address = provider.sim.device(Protocol::Apns, 0);
        let channel = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": address}});
        let made = connection.expect(&request("POST", "/api/channels", &app.device(), &channel.to_string())).await?;
        let id = made["channel_id"].as_str().context("a channel has an id")?;
        let push = json!({"audience": {"ios_channel": id}, "device_types": ["ios"],
                          "notification": {"alert": "Your table is ready."}});
        Ok(Self { push: request("POST", "/api/push", &app.master(), &push.to_string()), provider })
    }

    /// One push after the other at an even pace. The first does not count: it finds neither a connection nor an index.
    async fn measure(
        &self,
        name: &'static str,
        connection: &mut Connection,
        n_pushes: usize,
        everybody: &Provider,
    ) -> Result<Row> {
        report::progress(&format!("beside {name}"));
        let (mut accepted, mut delivered) = (Vec::new(), Vec::new());
        let (before, began) = (everybody.messages(Protocol::Apns), Instant::now());
        let mut pace = interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for n in 0..=n_pushes {
            pace.tick().await;
            let arrived = self.provider.messages(Protocol::Apns);
            let asked = Instant::now();
            connection.expect(&self.push).await?;
            let answered = Instant::now();
            self.provider.wait_for(Protocol::Apns, arrived + 1).await;
            if n > 0 {
                accepted.push(answered.duration_since(asked));
                delivered.push(answered.elapsed());
            }
        }
        let deliveries = (everybody.messages(Protocol::Apns) - before) as f64 / began.elapsed().as_secs_f64();
        let [accepted, delivered] = [accepted, delivered].map(|times| Sample::of(times, Duration::ZERO));
        Ok(Row { name, accepted, delivered, tag_updates: 0.0, deliveries })
    }
}
