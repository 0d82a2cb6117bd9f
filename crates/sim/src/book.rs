//! The history so far: counts, which deliveries were seen, and the newest of them in full. It stays small under any load: an
//! accepted delivery costs about nine bytes, a refused one a few more.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use serde::Serialize;

use crate::chance::Fingerprint;
use crate::faults::{Faults, Mishap, device_of};
use crate::protocol::Protocol;
use crate::stats::{Stats, Tally};

/// One message to one device, from a valid request.
pub(crate) struct Message<'a> {
    pub(crate) protocol: Protocol,
    pub(crate) address: Cow<'a, str>,
    /// The id that the sender repeats with the same message; `None` where the protocol has none.
    pub(crate) id: Option<Fingerprint>,
    /// The id as text, for people.
    pub(crate) label: Option<Cow<'a, str>>,
    /// The body, in clear where the simulator can read it.
    pub(crate) body: Cow<'a, [u8]>,
}

/// The outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Accepted,
    Duplicate,
    Gone,
    Throttled,
    Unavailable,
    Reset,
    LostAnswer,
    Cut,
    Rejected,
    Unauthorized,
}

/// A message as it is kept for inspection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delivery {
    pub protocol: Protocol,
    pub address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub fate: Fate,
    /// The body, in clear where the simulator can read it.
    pub body: String,
}

#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) tallies: [Tally; Protocol::ALL.len()],
    pub(crate) connections: u64,
    pub(crate) goaways: u64,
    pub(crate) tokens: u64,
    pub(crate) ignored: u64,
    pub(crate) over_limit: u64,
    pub(crate) unanswered: u64,
    accepted: Fingerprints,
    gone: Fingerprints,
    /// How often an injected fault hit a message. Only messages that were hit are in here.
    tries: HashMap<u64, u32, BuildHasherDefault<AsIs>>,
    recent: VecDeque<Delivery>,
}

type Fingerprints = HashSet<u64, BuildHasherDefault<AsIs>>;

/// Fingerprints are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = Fingerprint::of(&[bytes]).0;
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

impl Message<'_> {
    fn device(&self) -> Fingerprint {
        Fingerprint::of(&[self.protocol.name().as_bytes(), device_of(&self.address).as_bytes()])
    }
}

impl Book {
    /// Decides the fates of the messages of one request, and counts them. At most `keep` messages are kept in full. The
    /// fate of the first is returned; that of the others differs only in being duplicates or not.
    pub(crate) fn enter(&mut self, messages: &[Message<'_>], faults: &Faults, keep: usize) -> Option<Fate> {
        let mishap = self.mishap(messages.first()?, faults);
        let mut first = None;
        for message in messages {
            let fate = match mishap {
                Some(Mishap::Throttled) => Fate::Throttled,
                Some(Mishap::Unavailable) => Fate::Unavailable,
                Some(Mishap::Reset) => Fate::Reset,
                Some(Mishap::Cut) => Fate::Cut,
                Some(Mishap::LostAnswer) => self.settled(message, faults, Fate::LostAnswer),
                None => self.settled(message, faults, Fate::Accepted),
            };
            self.count(message.protocol, fate);
            self.keep(message, fate, keep);
            first.get_or_insert(fate);
        }
        first
    }

    /// Counts a request that was refused before it became a message.
    pub(crate) fn refuse(&mut self, protocol: Protocol, fate: Fate, reason: &str) {
        self.count(protocol, fate);
        let reasons = &mut self.tally(protocol).reasons;
        match reasons.get_mut(reason) {
            Some(count) => *count += 1,
            None => drop(reasons.insert(reason.to_owned(), 1)),
        }
    }

    fn keep(&mut self, message: &Message<'_>, fate: Fate, keep: usize) {
        if keep == 0 {
            return;
        }
        if self.recent.len() >= keep {
            self.recent.pop_front();
        }
        self.recent.push_back(Delivery {
            protocol: message.protocol,
            address: message.address.clone().into_owned(),
            id: message.label.as_deref().map(str::to_owned),
            fate,
            body: String::from_utf8_lossy(&message.body).into_owned(),
        });
    }

    /// The newest deliveries, newest first.
    pub(crate) fn recent(&self, limit: usize) -> Vec<Delivery> {
        self.recent.iter().rev().take(limit).cloned().collect()
    }

    pub(crate) fn stats(&self) -> Stats {
        let used = Protocol::ALL.into_iter().zip(&self.tallies).filter(|(_, tally)| tally.messages > 0);
        Stats {
            protocols: used.map(|(protocol, tally)| (protocol.name(), tally.clone())).collect(),
            connections: self.connections,
            goaways: self.goaways,
            tokens: self.tokens,
            ignored: self.ignored,
            over_limit: self.over_limit,
            unanswered: self.unanswered,
            subscriptions: 0,
        }
    }

    fn mishap(&mut self, message: &Message<'_>, faults: &Faults) -> Option<Mishap> {
        if message.id.is_some_and(|id| self.accepted.contains(&id.0)) {
            return None;
        }
        // Without an id, tries are counted per device.
        let tried = message.id.unwrap_or_else(|| message.device());
        let n_tries = self.tries.get(&tried.0).copied().unwrap_or(0);
        let mishap = faults.mishap(tried, n_tries.into())?;
        self.tries.insert(tried.0, n_tries + 1);
        Some(mishap)
    }

    /// The fate of a message that reaches the provider.
    fn settled(&mut self, message: &Message<'_>, faults: &Faults, taken: Fate) -> Fate {
        if message.protocol != Protocol::Open && faults.is_gone(&message.address) {
            if self.gone.insert(message.device().0) {
                self.tally(message.protocol).devices_gone += 1;
            }
            return Fate::Gone;
        }
        match message.id {
            Some(id) if !self.accepted.insert(id.0) => Fate::Duplicate,
            Some(_) | None => taken,
        }
    }

    fn count(&mut self, protocol: Protocol, fate: Fate) {
        let tally = self.tally(protocol);
        tally.messages += 1;
        match fate {
            Fate::Accepted => tally.accepted += 1,
            Fate::Duplicate => {
                tally.accepted += 1;
                tally.duplicates += 1;
            }
            Fate::LostAnswer => {
                tally.accepted += 1;
                tally.lost_answers += 1;
            }
            Fate::Gone => tally.gone += 1,
            Fate::Throttled => tally.throttled += 1,
            Fate::Unavailable => tally.unavailable += 1,
            Fate::Reset => tally.resets += 1,
            Fate::Cut => tally.cuts += 1,
            Fate::Rejected => tally.rejected += 1,
            Fate::Unauthorized => tally.unauthorized += 1,
        }
    }

    fn tally(&mut self, protocol: Protocol) -> &mut Tally {
        &mut self.tallies[protocol as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<'a>(address: &'a str, id: &'a str) -> Message<'a> {
        let id = Some(Fingerprint::of(&[id.as_bytes()]));
        Message { protocol: Protocol::Apns, address: address.into(), id, label: None, body: b"{}".into() }
    }

    #[test]
    fn every_message_ends_up_somewhere_once() {
        let faults = Faults {
            gone: 0.1,
            throttled: 0.1,
            unavailable: 0.1,
            resets: 0.1,
            lost_answers: 0.1,
            cuts: 0.1,
            ..Faults::default()
        };
        let mut book = Book::default();
        let (mut n_sent, mut n_gone) = (0, 0);
        for n in 0..2000 {
            let address = format!("device-{n}");
            n_gone += u64::from(faults.is_gone(&address));
            loop {
                n_sent += 1;
                match book.enter(&[message(&address, &address)], &faults, 10).unwrap() {
                    Fate::Accepted | Fate::Duplicate | Fate::Gone => break,
                    Fate::LostAnswer | Fate::Throttled | Fate::Unavailable | Fate::Reset | Fate::Cut => {}
                    Fate::Rejected | Fate::Unauthorized => panic!("nothing was wrong with it"),
                }
            }
        }
        let tally = book.stats().of(Protocol::Apns);
        assert_eq!(tally.messages, n_sent);
        assert_eq!((tally.devices_gone, tally.gone, tally.delivered()), (n_gone, n_gone, 2000 - n_gone));
        assert_eq!(tally.duplicates, tally.lost_answers);
        let parts = tally.throttled + tally.unavailable + tally.resets + tally.cuts;
        assert_eq!(tally.messages, tally.accepted + tally.gone + parts);
        assert!(n_gone > 0 && tally.throttled > 0 && tally.cuts > 0 && tally.lost_answers > 0, "{tally:?}");
        assert_eq!(book.recent(5).len(), 5);
        assert_eq!(book.recent(100).len(), 10);
    }
}
