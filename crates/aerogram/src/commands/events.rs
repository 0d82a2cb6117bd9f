//! `aerogram events`: the events of an app, as they happen or the newest.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use model::event::{EventOffset, RecordKind};
use model::ids::{ChannelId, PushId};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client::Client;
use crate::config::{AppLogin, Remote, channel_id, number_in, push_id};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Events {
    #[command(subcommand)]
    command: EventsCommand,
}

#[derive(Subcommand, Debug)]
enum EventsCommand {
    /// Show events, and go on as they happen
    Tail(Tail),
    /// List the newest events, the newest first
    List(List),
}

/// An event has to fulfill all conditions.
#[derive(Args, Debug)]
struct Filter {
    /// Only events of these types, such as OPEN,SEND
    #[arg(long = "type", visible_alias = "types", value_name = "TYPES", value_delimiter = ',', value_parser = event_type)]
    types: Vec<&'static str>,
    /// Only events of these channels
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = channel_id)]
    channel: Vec<ChannelId>,
    /// Only what is about these pushes
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = push_id)]
    push: Vec<PushId>,
}

#[derive(Args, Debug)]
struct List {
    #[command(flatten)]
    filter: Filter,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = number_in(1_usize..=1000))]
    limit: usize,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Args, Debug)]
struct Tail {
    #[command(flatten)]
    filter: Filter,
    /// Where to begin: earliest, latest, or after the event with an offset
    #[arg(long, value_name = "WHERE", default_value = "latest", value_parser = from)]
    from: String,
    /// End after this many events
    #[arg(long, value_name = "N", value_parser = number_in(1..=u32::MAX))]
    limit: Option<u32>,
    /// End when everything that has happened by now is shown
    #[arg(long)]
    no_follow: bool,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

/// An event, reduced to the fields that a person reads at a glance.
#[derive(Deserialize)]
struct Event {
    offset: String,
    occurred: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    device: Option<Device>,
    /// Free-form: each type has its own.
    #[serde(default)]
    body: Value,
}

/// A page of the newest events.
#[derive(Deserialize)]
struct Newest {
    events: Vec<Box<RawValue>>,
    before: Option<String>,
}

#[derive(Deserialize)]
struct Device {
    channel: String,
    device_type: String,
}

impl Events {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        match &self.command {
            EventsCommand::Tail(tail) => tail.run().await?,
            EventsCommand::List(list) => list.run().await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Tail {
    async fn run(&self) -> Result<()> {
        let client = Client::app(&self.remote, &self.login)?;
        let mut body = client.stream(&format!("/api/events?{}", self.query())).await?;
        if !self.no_follow {
            output::note(format_args!("Waiting for events. Control-C ends this."));
        }
        let mut line = Vec::new();
        while let Some(chunk) = body.chunk().await? {
            for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(piece);
                if line.ends_with(b"\n") {
                    self.show(line.trim_ascii())?;
                    line.clear();
                }
            }
        }
        if self.no_follow || self.limit.is_some() {
            return Ok(());
        }
        bail!("The server ended the stream.")
    }

    fn query(&self) -> String {
        let mut query = match self.from.as_str() {
            "earliest" | "latest" => format!("start={}", self.from),
            offset => format!("offset={offset}"),
        };
        query += &self.filter.query();
        query += &self.limit.map(|limit| format!("&limit={limit}")).unwrap_or_default();
        query += if self.no_follow { "&follow=false" } else { "" };
        query
    }

    /// An empty line only shows that the stream is alive.
    fn show(&self, line: &[u8]) -> Result<()> {
        match line.is_empty() {
            true => Ok(()),
            false => show(&serde_json::from_slice::<Box<RawValue>>(line)?, self.remote.json),
        }
    }
}

impl List {
    async fn run(&self) -> Result<()> {
        let client = Client::app(&self.remote, &self.login)?;
        let (mut n_left, mut before) = (self.limit, String::new());
        // A page may have few events, or none, although there are more.
        while n_left > 0 {
            let path = format!("/api/events/newest?limit={n_left}{before}{}", self.filter.query());
            let page: Newest = client.get(&path).await?.read()?;
            page.events.iter().try_for_each(|event| show(event, self.remote.json))?;
            n_left = n_left.saturating_sub(page.events.len());
            before = match page.before {
                Some(offset) => format!("&before={offset}"),
                None => break,
            };
        }
        Ok(())
    }
}

impl Filter {
    /// Begins with `&`, unless there are no conditions.
    fn query(&self) -> String {
        let channels = self.channel.iter().map(ChannelId::to_string).collect();
        let pushes = self.push.iter().map(PushId::to_string).collect();
        let types = self.types.iter().map(|name| (*name).to_owned()).collect();
        let all: [(&str, Vec<String>); 3] = [("types", types), ("channel", channels), ("push", pushes)];
        let given = all.iter().filter(|(_, values)| !values.is_empty());
        given.map(|(name, values)| format!("&{name}={}", values.join(","))).collect()
    }
}

/// One line: what a person reads at a glance with the body as it is, or the whole event.
fn show(event: &RawValue, is_json: bool) -> Result<()> {
    if is_json {
        return output::line(format_args!("{event}"));
    }
    let Event { offset, occurred, kind, device, body } = serde_json::from_str(event.get())?;
    let device = device.map(|device| format!("  {}  {}", device.device_type, device.channel)).unwrap_or_default();
    let body = if body.is_null() { String::new() } else { format!("  {body}") };
    output::line(format_args!("{occurred}  {offset}  {kind}{device}{body}"))
}

fn event_type(text: &str) -> Result<&'static str, String> {
    let found = RecordKind::from_public_name(&text.trim().to_uppercase()).and_then(RecordKind::public_name);
    found.ok_or_else(|| {
        let names: Vec<_> = RecordKind::NUMBERED.iter().filter_map(|(_, kind)| kind.public_name()).collect();
        format!("'{text}' is not a type of events; use {}.", names.join(", "))
    })
}

fn from(text: &str) -> Result<String, &'static str> {
    let is_word = matches!(text, "earliest" | "latest");
    let is_known = is_word || text.parse::<EventOffset>().is_ok();
    if is_known { Ok(text.to_owned()) } else { Err("Use earliest, latest or the offset of an event.") }
}
