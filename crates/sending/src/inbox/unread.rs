//! How many messages are unread in the inboxes of channels.

use std::collections::BTreeSet;

use base::Result;
use model::ids::{AppId, Ordinal};
use model::time::UtcMillis;
use store::{Tx, inbox_users};

use super::mailbox::Mailbox;

/// An inbox, as its devices are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// All channels that share it.
    pub channels: Vec<Ordinal>,
    pub n_messages: usize,
}

/// The inboxes of some channels, each once, as far as their channels are wanted. A channel that has no user has no inbox.
pub fn unread_of(
    tx: &mut Tx<'_>,
    app: AppId,
    channels: &[Ordinal],
    is_wanted: impl Fn(&[Ordinal]) -> bool,
    now: UtcMillis,
) -> Result<Vec<Unread>> {
    let mut users = BTreeSet::new();
    for channel in channels {
        users.extend(inbox_users::owner(tx, app, *channel)?);
    }
    let mut found = Vec::with_capacity(users.len());
    for user in users {
        let mailbox = Mailbox::open(tx, app, &user, None)?;
        let channels: Vec<Ordinal> = mailbox.ordinals().collect();
        if is_wanted(&channels) {
            let held = mailbox.ever_held(tx)?;
            let visible = mailbox.visible(held, now);
            let unread = visible.iter().filter(|(held, _)| !mailbox.is_read(held.message.number));
            found.push(Unread { n_messages: unread.count(), channels });
        }
    }
    Ok(found)
}
