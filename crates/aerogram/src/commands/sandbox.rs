//! `aerogram sandbox`: the requests that providers would have got from a development app.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use model::ids::{ChannelId, PushId};
use serde::Deserialize;
use serde_json::Value;

use crate::client::Client;
use crate::config::{AppLogin, Remote, channel_id, number_in, push_id};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Sandbox {
    /// Only deliveries of this push
    #[arg(long, value_name = "ID", value_parser = push_id)]
    push: Option<PushId>,
    /// Only deliveries to this channel
    #[arg(long, value_name = "ID", value_parser = channel_id)]
    channel: Option<ChannelId>,
    /// At most this many of the newest deliveries
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = number_in(1_u32..=1000))]
    limit: u32,
    /// Go on showing deliveries as they happen
    #[arg(long, conflicts_with = "limit")]
    follow: bool,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Deserialize)]
struct Deliveries {
    deliveries: Vec<Delivery>,
}

#[derive(Deserialize)]
struct Delivery {
    channel_id: String,
    device_type: String,
    transport: String,
    at: String,
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    method: String,
    url: String,
    body: Value,
}

impl Sandbox {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        if self.follow {
            self.follow(&client).await?
        } else {
            self.list(&client).await?
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn list(&self, client: &Client) -> Result<()> {
        let reply = client.get(&format!("/api/sandbox?limit={}{}", self.limit, self.filter())).await?;
        if self.remote.json {
            return reply.print();
        }
        reply.read::<Deliveries>()?.deliveries.iter().try_for_each(Delivery::show)
    }

    async fn follow(&self, client: &Client) -> Result<()> {
        let query = self.filter();
        let query = query.strip_prefix('&').map_or_else(String::new, |query| format!("?{query}"));
        let mut body = client.stream(&format!("/api/sandbox/stream{query}")).await?;
        output::note(format_args!("Waiting for deliveries. Control-C ends this."));
        let mut events = EventReader::default();
        while let Some(chunk) = body.chunk().await? {
            for event in events.feed(&chunk) {
                if self.remote.json {
                    output::line(format_args!("{event}"))?;
                } else {
                    serde_json::from_str::<Delivery>(&event)?.show()?;
                }
            }
        }
        bail!("The server ended the stream.")
    }

    fn filter(&self) -> String {
        let push = self.push.map(|id| format!("&push_id={id}")).unwrap_or_default();
        let channel = self.channel.map(|id| format!("&channel_id={id}")).unwrap_or_default();
        push + &channel
    }
}

impl Delivery {
    fn show(&self) -> Result<()> {
        let Self { channel_id, device_type, transport, at, request } = self;
        output::line(format_args!(
            "{at}  {device_type}  {channel_id}  {transport}  {} {}",
            request.method, request.url
        ))?;
        output::line(format_args!("  {}", request.body))
    }
}

/// Cuts a stream of server-sent events into the data of each event. Comments, ids and event names are left out.
#[derive(Default)]
struct EventReader {
    /// The bytes of a line that has not ended yet.
    line: Vec<u8>,
    data: Vec<String>,
}

impl EventReader {
    fn feed(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for byte in chunk {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = String::from_utf8_lossy(&self.line).trim_end_matches('\r').to_owned();
            self.line.clear();
            if let Some(data) = line.strip_prefix("data:") {
                self.data.push(data.strip_prefix(' ').unwrap_or(data).to_owned());
            } else if line.is_empty() && !self.data.is_empty() {
                events.push(std::mem::take(&mut self.data).join("\n"));
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_cut_out_wherever_the_chunks_end() {
        let stream = ": hello\n\nid: 1\ndata: {\"a\":\ndata: 1}\n\nevent: x\r\ndata:two\r\n\r\ndata: unfinished\n";
        let expected = ["{\"a\":\n1}", "two"];
        for size in 1..stream.len() {
            let mut reader = EventReader::default();
            let events: Vec<String> = stream.as_bytes().chunks(size).flat_map(|chunk| reader.feed(chunk)).collect();
            assert_eq!(events, expected, "chunks of {size}");
        }
    }
}
