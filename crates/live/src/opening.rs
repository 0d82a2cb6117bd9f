//! A device connects: who it is, what it missed, and from where it goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use base::{Error, Result};
use boxed::boxed;
use model::ids::{AppId, ChannelId, Offset, Ordinal, PushId};
use model::time::UtcMillis;
use serde::Deserialize;
use store::pushes::{self, PushState};
use store::{Tx, channels, log};
use tenancy::Caller;
use websocket::frame;

use crate::hub::Hub;
use crate::line::Line;
use crate::message::{self, InboxNews, Message, Told};
use crate::records::{self, Bounds};
use crate::socket::Socket;
use crate::{Connection, End, Live, Reader, Stream};

/// Messages that a device which comes back is told; of more, the newest.
const MOST_MISSED: usize = 64;
/// And what these may take: they wait in memory until the device has read them.
const MOST_MISSED_BYTES: usize = 256 * 1024;
/// Read from the log for messages that are no longer in memory.
const MOST_READ: Bounds = Bounds { n_records: 1_000, n_bytes: 4 * 1024 * 1024 };
/// How often a channel may connect in a minute.
const MOST_OPENINGS: u32 = 60;
/// Channels whose openings are counted. Of more, all are counted anew: a token may be that of a channel that does not exist.
const MOST_COUNTED: usize = 100_000;

/// What a device asks for.
pub struct Opening {
    pub caller: Caller,
    pub channel: ChannelId,
    /// When the token of the caller ends.
    pub expires: Option<UtcMillis>,
    /// The last message that the device has; without it, it is told what comes from now on.
    pub after: Option<Offset>,
    /// Seconds between two pings.
    pub ping: u32,
    /// Whether everything has to be known that is committed by now, rather than soon.
    pub needs_newest: bool,
}

/// Why a device cannot connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub End);

/// A device that may connect.
pub struct Opened {
    live: Live,
    hub: Arc<Hub>,
    opening: Opening,
    ordinal: Ordinal,
    missed: Vec<Message>,
    /// How its inbox is, if something has changed there.
    inbox: Option<InboxNews>,
    /// Where the missed messages begin, or how far there are none.
    start: Offset,
    /// Where they end.
    at: Offset,
    /// Whether the position that the device gave can be one of this log.
    is_ours: bool,
    is_complete: bool,
}

/// What the database knows of a device that connects.
struct Known {
    ordinal: Ordinal,
    head: Offset,
}

#[boxed]
impl Live {
    pub async fn open(&self, opening: Opening) -> Result<Result<Opened, Refused>> {
        if self.0.is_stopping.load(Ordering::Relaxed) {
            return Ok(Err(Refused(End::Restart { retry: 1_000 })));
        }
        let (app, channel) = (opening.caller.app().id, opening.channel);
        let hub = self.hub(app);
        // Before anything is read, so that those who are refused cannot ask for more than others.
        if !hub.admits_opening(channel, Instant::now()) {
            return Ok(Err(Refused(End::TooMany)));
        }
        let known = match self.0.store.read(move |tx| look_up(tx, app, channel)).await? {
            Ok(known) => known,
            Err(end) => return Ok(Err(Refused(end))),
        };
        // Another node may have told it what this one is yet to read, and it acknowledges that by its position.
        let has_more = |after: Offset| after <= known.head && after > hub.backlog.read().seen();
        let is_late = opening.after.is_some_and(has_more);
        if opening.needs_newest || is_late || !hub.is_loaded.load(Ordering::Acquire) {
            self.catch_up(&hub).await?;
        }
        let mut opened = self.find_missed(&hub, opening, known).await?;
        opened.leave_out_canceled().await?;
        let after = opened.opening.after.filter(|_| opened.is_ours);
        if let Some(after) = after {
            hub.acknowledge(opened.ordinal, after, self.0.clock.now());
        }
        hub.expect_acks(opened.ordinal, &opened.missed, (opened.start, opened.at));
        if let Some(after) = after {
            // Read before the changes are, so that all up to there are among them.
            let looked = hub.inboxes.lock().handed_out();
            let inbox = self.missed_in_inbox(&hub, opened.ordinal, after).await?;
            opened.take_inbox(inbox, looked);
        }
        hub.written.lock().seen.insert(opened.ordinal.0);
        self.follow(&hub);
        Ok(Ok(opened))
    }

    /// A device has everything up to a position, as it says apart from its connection.
    pub async fn acknowledge(&self, app: AppId, channel: ChannelId, at: Offset) -> Result<Result<(), Refused>> {
        let known = match self.0.store.read(move |tx| look_up(tx, app, channel)).await? {
            Ok(known) => known,
            Err(end) => return Ok(Err(Refused(end))),
        };
        let hub = self.hub(app);
        self.catch_up(&hub).await?;
        if at <= known.head {
            hub.acknowledge(known.ordinal, at, self.0.clock.now());
        }
        // It writes what was acknowledged, a second later at most.
        self.follow(&hub);
        Ok(Ok(()))
    }

    async fn find_missed(&self, hub: &Arc<Hub>, opening: Opening, known: Known) -> Result<Opened> {
        let Known { ordinal, head } = known;
        // A position that is yet to come is one of another installation, or of before a restore.
        let is_ours = opening.after.is_none_or(|after| after <= head);
        let start = opening.after.filter(|_| is_ours).unwrap_or(head);
        let floor = hub.backlog.read().floor();
        let (mut missed, mut is_complete) = (Vec::new(), is_ours);
        if start < floor {
            let app = hub.app;
            let (older, is_whole) =
                self.0.store.read(move |tx| older_messages(tx, app, ordinal, (start, floor))).await?;
            missed = older;
            is_complete &= is_whole;
        }
        let at = {
            let backlog = hub.backlog.read();
            // What was forgotten between the two looks is not known to be complete.
            is_complete &= backlog.floor() == floor || start >= backlog.floor();
            let after = missed.last().map_or(start, |message| message.at.max(start));
            missed.extend(backlog.to(ordinal, after).cloned());
            backlog.seen().max(start)
        };
        let now = self.0.clock.now();
        missed.retain(|message| !message.is_expired(now));
        let n_surplus = missed.len() - newest(&missed).len();
        is_complete &= n_surplus == 0;
        missed.drain(..n_surplus);
        Ok(Opened {
            live: self.clone(),
            hub: hub.clone(),
            opening,
            ordinal,
            missed,
            inbox: None,
            start,
            at,
            is_ours,
            is_complete,
        })
    }
}

impl Opened {
    /// Whether nothing after the position that the device gave is missing.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// What it is told first.
    pub fn missed(&self) -> Vec<Told> {
        let messages = self.missed.iter().cloned().map(Told::Push);
        messages.chain(self.inbox.map(Told::Inbox)).collect()
    }

    /// The position of a device that has the missed messages.
    pub fn position(&self) -> Offset {
        self.missed.last().map_or(self.start, |message| message.at)
    }

    /// The position of a device that has none of them.
    pub fn start(&self) -> Offset {
        self.start
    }

    /// The first message of the connection.
    pub fn hello(&self) -> String {
        message::hello(self.opening.channel, self.start, self.opening.ping, self.is_complete)
    }

    /// Goes on over a WebSocket. Nothing has been sent to it.
    pub fn connect(self, stream: Stream) -> Connection {
        let mut first = frame::text(&self.hello());
        for told in self.missed() {
            first.extend(frame::text(&told.json()));
        }
        let socket = Socket::new(stream, first, self.at, Duration::from_secs(self.opening.ping.into()));
        let line = self.join(Some(socket));
        Connection::new(self.live, self.hub, line)
    }

    /// Goes on in another form, with the messages that were missed.
    pub fn reader(self) -> Reader {
        let line = self.join(None);
        let missed = self.missed();
        Reader::new(self.live, self.hub, line, missed, (self.start, self.at))
    }

    /// Takes how the inbox is, if something has changed in it, where the changes up to an offset are known.
    fn take_inbox(&mut self, inbox: Option<InboxNews>, looked: Offset) {
        if let Some(news) = inbox {
            // A device that says later that it has this has all messages up to there, and none that came meanwhile.
            self.inbox = Some(InboxNews { at: news.at.min(self.at).max(self.position()), ..news });
        } else if self.missed.is_empty() {
            // Nothing up to there is for this device, which need not ask for it again.
            self.start = self.at.min(looked).max(self.start);
        }
    }

    fn join(&self, socket: Option<Socket>) -> Arc<Line> {
        let Opening { caller, channel, expires, .. } = &self.opening;
        let line = Arc::new(Line::new(self.ordinal, *channel, caller.clone(), *expires, socket));
        self.hub.add(&line);
        self.live.follow(&self.hub);
        self.live.note_late(&self.hub, self.ordinal, self.at);
        // The node may have begun to stop meanwhile.
        if self.live.0.is_stopping.load(Ordering::Relaxed) {
            line.end(End::Restart { retry: 1_000 });
        }
        line
    }

    /// A push that was canceled after it had come into the log is told to nobody who comes back.
    async fn leave_out_canceled(&mut self) -> Result<()> {
        let pushes: BTreeSet<PushId> = self.missed.iter().map(|message| message.push).collect();
        if pushes.is_empty() {
            return Ok(());
        }
        let app = self.hub.app;
        let read = move |tx: &mut Tx<'_>| {
            let mut states = BTreeMap::new();
            for push in pushes {
                states.insert(push, pushes::sending_state(tx, app, push)?.map(|push| push.state));
            }
            Ok::<_, store::Error>(states)
        };
        let states = self.live.0.store.read(read).await?;
        self.missed.retain(|message| states.get(&message.push) != Some(&Some(PushState::Canceled)));
        Ok(())
    }
}

impl Hub {
    fn admits_opening(&self, channel: ChannelId, now: Instant) -> bool {
        let mut lines = self.lines.lock();
        // Nobody else does for an app that is only polled, and so has no task.
        lines.forget_openings(now);
        if lines.n_openings.len() >= MOST_COUNTED && !lines.n_openings.contains_key(&channel) {
            lines.n_openings.clear();
        }
        let n_openings = lines.n_openings.entry(channel).or_default();
        *n_openings = n_openings.saturating_add(1);
        *n_openings <= MOST_OPENINGS
    }
}

/// The only part of a profile that is needed here.
#[derive(Deserialize)]
struct LiveProfile {
    #[serde(default)]
    live: bool,
}

fn look_up(tx: &mut Tx<'_>, app: AppId, channel: ChannelId) -> Result<Result<Known, End>> {
    let Some(row) = channels::by_id(tx, app, channel)?.filter(|row| row.installed) else {
        return Ok(Err(End::Uninstalled));
    };
    let profile: LiveProfile = serde_json::from_str(&row.profile).map_err(Error::internal)?;
    if !profile.live {
        return Ok(Err(End::NotLive));
    }
    Ok(Ok(Known { ordinal: row.ordinal, head: log::head(tx, app)? }))
}

/// The messages to a channel after an offset and up to another, and whether these are all.
fn older_messages(
    tx: &mut Tx<'_>,
    app: AppId,
    ordinal: Ordinal,
    (after, until): (Offset, Offset),
) -> Result<(Vec<Message>, bool)> {
    let mut found = Vec::new();
    let looked = records::read(tx, app, (after, until), MOST_READ, |message, channels| {
        if channels.contains(ordinal.0) {
            found.push(message);
        }
    })?;
    let is_whole = looked.is_end && log::start(tx, app)?.0 <= after.0 + 1;
    Ok((found, is_whole))
}

/// Those of the last messages that a device which comes back is told.
pub(crate) fn newest(missed: &[Message]) -> &[Message] {
    let mut n_bytes = 0;
    let fits = |message: &&Message| {
        n_bytes += message.content.len();
        n_bytes <= MOST_MISSED_BYTES
    };
    let n_newest = missed.iter().rev().take(MOST_MISSED).take_while(fits).count();
    &missed[missed.len() - n_newest..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_counted_anew_every_minute() {
        let (hub, began) = (Hub::new(AppId(1), base::Metrics::default()), Instant::now());
        let (channel, other) = (ChannelId::random(), ChannelId::random());
        for _ in 0..MOST_OPENINGS {
            assert!(hub.admits_opening(channel, began));
        }
        assert!(!hub.admits_opening(channel, began) && hub.admits_opening(other, began));
        assert!(!hub.admits_opening(channel, began + Duration::from_secs(59)));
        assert!(hub.admits_opening(channel, began + Duration::from_secs(60)), "without a task that follows the log");
    }

    #[test]
    fn what_was_missed_is_bounded_by_its_size_too() {
        let of = |n_messages: usize, n_bytes: usize| {
            let message = Message {
                at: Offset(1),
                occurred: UtcMillis(0),
                push: PushId::random(),
                expires: None,
                content: "x".repeat(n_bytes).into(),
            };
            newest(&vec![message; n_messages]).len()
        };
        assert_eq!((of(3, 16 * 1024), of(100, 16 * 1024), of(100, 10)), (3, 16, 64));
    }
}
