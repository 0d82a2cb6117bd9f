//! The subscriptions of real browsers, and the messages that each browser has not acknowledged yet.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use model::ids::DeliveryId;
use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How many messages wait for a browser; the oldest go first.
const MOST_WAITING: usize = 100;

#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<State>);

#[derive(Default)]
struct State {
    by_token: HashMap<String, Subscription>,
    browsers: HashMap<String, Line>,
}

/// The way to one browser.
#[derive(Default)]
struct Line {
    /// `None` until it connects. A connection that has ended does not take anything.
    notices: Option<UnboundedSender<Notice>>,
    waiting: VecDeque<Notice>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subscription {
    /// The id of the browser at its push service.
    pub(super) browser: String,
    /// The browser's own name for the subscription.
    pub(super) name: String,
    /// The program that is the browser, as Google wants to have it repeated.
    pub(super) app: String,
    /// The public key of the server that may send, if the page named one.
    pub(super) sender: String,
    pub(super) is_ended: bool,
}

/// One message to one subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(super) id: String,
    pub(super) subscription: Subscription,
    pub(super) ttl: u32,
    /// In milliseconds.
    pub(super) sent: u64,
    pub(super) body: Bytes,
}

/// Whether a server may send to a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Good,
    /// Made with the key of another server.
    Foreign,
    Ended,
    Unknown,
}

impl Subscriptions {
    /// The token of a subscription. The same page of the same browser has the same one until it unsubscribes.
    pub(super) fn subscribe(&self, subscription: Subscription) -> String {
        let mut state = self.0.lock();
        let known = state.by_token.iter().find(|(_, known)| **known == subscription);
        if let Some((token, _)) = known {
            return token.clone();
        }
        let token = DeliveryId::random().uuid().simple().to_string();
        state.by_token.insert(token.clone(), subscription);
        token
    }

    /// Ends the subscription of a browser by this name, or those of one server by it.
    pub(super) fn unsubscribe(&self, browser: &str, name: &str, sender: Option<&str>) {
        for subscription in self.0.lock().by_token.values_mut() {
            let is_meant = subscription.browser == browser && subscription.name == name;
            subscription.is_ended |= is_meant && sender.is_none_or(|sender| subscription.sender == sender);
        }
    }

    /// Whether the owner of a public key, in base64url, may send to a subscription.
    pub(crate) fn standing(&self, token: &str, key: &str) -> Standing {
        match self.0.lock().by_token.get(token) {
            None => Standing::Unknown,
            Some(subscription) if subscription.is_ended => Standing::Ended,
            Some(subscription) if subscription.sender.is_empty() || subscription.sender == key => Standing::Good,
            Some(_) => Standing::Foreign,
        }
    }

    /// How many subscriptions of pages there are. Their senders are keys, which begin with a B in base64url; Chromium makes others
    /// for itself, whose senders are numbers.
    pub(crate) fn n_active(&self) -> u64 {
        let state = self.0.lock();
        let is_of_page = |subscription: &&Subscription| !subscription.is_ended && subscription.sender.starts_with('B');
        state.by_token.values().filter(is_of_page).count() as u64
    }

    /// Sends a message, now if the browser is connected, and when it connects otherwise.
    pub(crate) fn send(&self, token: &str, ttl: u32, sent: u64, body: Bytes) {
        let mut state = self.0.lock();
        let Some(subscription) = state.by_token.get(token).cloned() else { return };
        let line = state.browsers.entry(subscription.browser.clone()).or_default();
        let notice = Notice { id: DeliveryId::random().to_string(), subscription, ttl, sent, body };
        if let Some(notices) = &line.notices {
            // A connection that has just ended takes nothing; the next one gets it.
            drop(notices.send(notice.clone()));
        }
        if line.waiting.len() >= MOST_WAITING {
            line.waiting.pop_front();
        }
        line.waiting.push_back(notice);
    }

    pub(super) fn knows_browser(&self, browser: &str) -> bool {
        self.0.lock().browsers.contains_key(browser)
    }

    /// The messages of a browser from now on, and before them those that it has not acknowledged.
    pub(super) fn connect(&self, browser: &str) -> UnboundedReceiver<Notice> {
        let mut state = self.0.lock();
        let line = state.browsers.entry(browser.to_owned()).or_default();
        let (sender, receiver) = unbounded_channel();
        for notice in &line.waiting {
            // The receiver is right here.
            drop(sender.send(notice.clone()));
        }
        line.notices = Some(sender);
        receiver
    }

    pub(super) fn acknowledge<'a>(&self, browser: &str, ids: impl Iterator<Item = &'a str>) {
        let mut state = self.0.lock();
        let Some(line) = state.browsers.get_mut(browser) else { return };
        for id in ids {
            line.waiting.retain(|notice| notice.id != id);
        }
    }
}
