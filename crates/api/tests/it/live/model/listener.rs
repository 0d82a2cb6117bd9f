//! A device of the model: connected in one of three forms or not at all, what it has been told, and what it is yet to be told.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::live::{Device, Events, Socket};

use crate::live::forms::poll;

#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Socket,
    Events,
    Polls,
}

enum Line {
    Socket(Box<Socket>),
    Events(Events),
    /// Nothing between two polls.
    Polls,
}

/// A push to a device.
#[derive(Clone)]
pub(super) struct Sent {
    alert: String,
    expires: bool,
    telling: Telling,
    /// Where it is in the log, once it was told.
    at: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    Due,
    /// It was canceled: the device may be told, if it was connected and the delivery was recorded.
    Canceled,
    /// It has expired, but may have been written to the device before.
    Expired,
    /// It had expired when the device connected.
    Never,
}

pub(super) struct Listener {
    pub(super) device: Device,
    /// In the order of the log.
    sent: Vec<Sent>,
    /// The first that the device may be told next.
    next: usize,
    /// The position that the device says when it comes back.
    remembered: u64,
    /// The last position that it was told.
    at: u64,
    /// With the number of its node.
    line: Option<(usize, Line)>,
}

impl Sent {
    pub(super) fn new(alert: String, expires: bool, is_canceled: bool) -> Self {
        Self { alert, expires, telling: if is_canceled { Telling::Canceled } else { Telling::Due }, at: None }
    }
}

impl Listener {
    pub(super) async fn new(app: &TestApp, device_type: &str) -> Self {
        let device = Device::register(app, json!({"device_type": device_type, "live": true})).await;
        let hello = Socket::open(app, &device, None).await.next().await;
        let start = position(&hello);
        Self { device, sent: Vec::new(), next: 0, remembered: start, at: start, line: None }
    }

    pub(super) fn expect(&mut self, sent: Sent) {
        self.sent.push(sent);
    }

    /// Everything that can expire has.
    pub(super) fn expire(&mut self) {
        for sent in self.sent.iter_mut().filter(|sent| sent.expires && sent.telling != Telling::Never) {
            sent.telling = Telling::Expired;
        }
    }

    pub(super) fn leave(&mut self) {
        self.line = None;
    }

    pub(super) async fn connect(&mut self, nodes: [&TestApp; 2], node: usize, form: Form) {
        self.leave();
        self.come_back();
        let (app, after) = (nodes[node], self.remembered.to_string());
        let line = match form {
            Form::Socket => {
                let mut socket = Socket::open(app, &self.device, Some(&after)).await;
                self.greet(&socket.next().await);
                Line::Socket(Box::new(socket))
            }
            Form::Events => {
                let mut events = Events::open(app, &self.device, Some(&after)).await;
                self.greet(&events.next().await);
                Line::Events(events)
            }
            Form::Polls => Line::Polls,
        };
        self.line = Some((node, line));
    }

    /// Takes everything that is due, and what comes before it.
    pub(super) async fn read(&mut self, nodes: [&TestApp; 2]) {
        let Some((node, mut line)) = self.line.take() else { return };
        match &mut line {
            Line::Socket(socket) => {
                while self.is_due() {
                    self.hear(&socket.next().await);
                }
            }
            Line::Events(events) => {
                while self.is_due() {
                    self.hear(&events.next().await);
                }
            }
            Line::Polls => {
                self.come_back();
                let polled = poll(nodes[node], &self.device, &format!("after={}&wait=0", self.remembered)).await;
                assert_eq!(polled["complete"], true);
                polled["messages"].as_array().unwrap().iter().for_each(|message| self.hear(message));
                assert!(!self.is_due(), "a poll waits for no node to be told: {polled}");
                self.at = position(&polled);
            }
        }
        self.line = Some((node, line));
    }

    /// Remembers how far it has read, and says so in the way of its form. A poll says it the next time.
    pub(super) async fn acknowledge(&mut self, nodes: [&TestApp; 2]) {
        self.remembered = self.at;
        let at = self.at.to_string();
        match &mut self.line {
            Some((_, Line::Socket(socket))) => socket.say(&json!({"ack": at})).await,
            Some((node, Line::Events(_))) => {
                let (code, _) = self.device.post(nodes[*node], "/live/ack", &json!({"at": at})).await;
                assert_eq!(code, 200);
            }
            Some((_, Line::Polls)) | None => {}
        }
    }

    fn is_due(&self) -> bool {
        self.sent[self.next..].iter().any(|sent| sent.telling == Telling::Due)
    }

    /// It is told again what comes after the position that it remembers.
    fn come_back(&mut self) {
        for sent in self.sent.iter_mut().filter(|sent| sent.telling == Telling::Expired) {
            sent.telling = Telling::Never;
        }
        let known = self.sent.iter().rposition(|sent| sent.at.is_some_and(|at| at <= self.remembered));
        self.next = known.map_or(0, |last| last + 1);
        self.at = self.remembered;
    }

    fn greet(&mut self, hello: &Value) {
        assert_eq!((&hello["type"], &hello["complete"]), (&json!("hello"), &json!(true)));
        assert!(position(hello) >= self.at, "{hello} after {}", self.at);
        self.at = position(hello);
    }

    fn hear(&mut self, message: &Value) {
        let (at, alert) = (position(message), &message["push"]["alert"]);
        let found = self.sent[self.next..].iter().position(|sent| *alert == sent.alert.as_str());
        let which = self.next + found.unwrap_or_else(|| panic!("another's, or out of order: {message}"));
        let is_due = self.sent[self.next..which].iter().any(|sent| sent.telling == Telling::Due);
        assert!(!is_due, "something before it was not told: {message}");
        assert!(at > self.at, "{message} after {}", self.at);
        let sent = &mut self.sent[which];
        assert!(sent.telling != Telling::Never, "it had expired: {message}");
        assert_eq!(*sent.at.get_or_insert(at), at, "a message has one position");
        (self.next, self.at) = (which + 1, at);
    }
}

fn position(message: &Value) -> u64 {
    message["at"].as_str().unwrap().parse().unwrap()
}
