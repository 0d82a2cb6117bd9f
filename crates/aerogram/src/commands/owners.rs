//! Whose tags and attributes a command changes, and how it tells that the server took the change.

use anyhow::Result;
use clap::Args;
use model::ids::{ChannelId, NamedUserId};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Reply;
use crate::config::channel_id;
use crate::output;

/// Channels or named users.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct Owners {
    /// Of these channels
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = channel_id)]
    channel: Vec<ChannelId>,
    /// Of this named user; may be repeated, because an id may have commas
    #[arg(long, value_name = "ID", value_parser = NamedUserId::new)]
    user: Vec<NamedUserId>,
}

#[derive(Deserialize)]
struct Accepted {
    /// Channels that were passed over, and why.
    #[serde(default)]
    warnings: Vec<String>,
}

impl Owners {
    pub(super) fn are_users(&self) -> bool {
        !self.user.is_empty()
    }

    /// As requests name them.
    pub(super) fn audience(&self) -> Value {
        match self.are_users() {
            true => json!({ "named_user_id": self.user }),
            false => json!({ "channel": self.channel }),
        }
    }
}

/// Not "changed": the API takes changes of channels that it does not know, and does nothing.
pub(super) fn show_accepted(reply: &Reply, is_json: bool) -> Result<()> {
    if is_json {
        return reply.print();
    }
    let Accepted { warnings } = reply.read()?;
    for warning in &warnings {
        output::note(format_args!("{warning}"));
    }
    output::line(format_args!("accepted"))
}
