//! `aerogram events`: the events of an app, as they happen.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use model::event::{EventOffset, RecordKind};
use model::ids::ChannelId;
use serde::Deserialize;
use serde_json::Value;

use crate::client::Client;
use crate::config::{AppLogin, Remote, number_in};
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
}

#[derive(Args, Debug)]
struct Tail {
    /// Only events of these types, such as OPEN,SEND
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = event_type)]
    types: Vec<&'static str>,
    /// Only events of these channels
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    channel: Vec<ChannelId>,
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

#[derive(Deserialize)]
struct Device {
    channel: String,
    device_type: String,
}

impl Events {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        match &self.command {
            EventsCommand::Tail(tail) => tail.run().await?,
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
        let channels: Vec<String> = self.channel.iter().map(ChannelId::to_string).collect();
        for (name, values) in [("types", self.types.join(",")), ("channel", channels.join(","))] {
            if !values.is_empty() {
                query += &format!("&{name}={values}");
            }
        }
        query += &self.limit.map(|limit| format!("&limit={limit}")).unwrap_or_default();
        query += if self.no_follow { "&follow=false" } else { "" };
        query
    }

    /// An empty line only shows that the stream is alive.
    fn show(&self, line: &[u8]) -> Result<()> {
        if line.is_empty() {
            return Ok(());
        }
        if self.remote.json {
            return output::line(format_args!("{}", String::from_utf8_lossy(line)));
        }
        let Event { offset, occurred, kind, device, body } = serde_json::from_slice(line)?;
        let device = device.map(|device| format!("  {}  {}", device.device_type, device.channel)).unwrap_or_default();
        let body = if body.is_null() { String::new() } else { format!("  {body}") };
        output::line(format_args!("{occurred}  {offset}  {kind}{device}{body}"))
    }
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
