//! How many messages are unread in the inboxes of channels.

use std::collections::BTreeSet;

use base::Result;
use model::ids::{AppId, Ordinal};
use model::time::UtcMillis;
use store::{Tx, inbox_users};

use super::mailbox::Mailbox;
use super::readings::{Readings, There};

/// An inbox, as its devices are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// All channels that share it.
    pub channels: Vec<Ordinal>,
    pub n_messages: usize,
}

/// The inboxes of some channels, which are sorted, each once, as far as their channels are wanted. A channel that has no user has
/// no inbox.
pub fn unread_of(
    tx: &mut Tx<'_>,
    app: AppId,
    channels: &[Ordinal],
    is_wanted: impl Fn(&[Ordinal]) -> bool,
    now: UtcMillis,
) -> Result<Vec<Unread>> {
    let users: BTreeSet<_> = inbox_users::owners(tx, app, channels)?.into_iter().collect();
    let mailboxes = Mailbox::open_all(tx, app, &users, is_wanted)?;
    let all_held = Mailbox::all_ever_held(tx, app, &mailboxes)?;
    let unread = mailboxes.iter().zip(all_held).map(|(mailbox, held)| {
        let visible = mailbox.visible(held, now).into_iter();
        visible.filter(|(held, _)| !mailbox.is_read(held.message.number)).collect()
    });
    let unread: Vec<Vec<There<'_>>> = unread.collect();
    let readings = Readings::read(tx, app, unread.iter().flatten(), BTreeSet::new(), now)?;
    let counted = mailboxes.iter().zip(&unread).map(|(mailbox, unread)| Unread {
        channels: mailbox.ordinals().collect(),
        n_messages: unread.iter().filter(|one| readings.head(one, now).is_some()).count(),
    });
    Ok(counted.collect())
}
