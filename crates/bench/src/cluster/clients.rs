//! The load: clients that register devices, tag them, tell their events and push to them, and one that pushes to a crowd.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::time::Clock;
use serde_json::{Value, json};
use sim::{Protocol, device_address};
use testkit::balanced::{Balanced, Call, Reply, Retries};
use tokio::task::JoinSet;
use tokio::time::sleep;
use uuid::Uuid;

use super::books::Book;
use super::chance::Chance;
use crate::server::{APP_KEY, device_authorization, master_authorization};

/// Those that push to single devices.
const CLIENTS: u32 = 12;
/// Devices that a client registers before it does anything else: one may upload sixty times a minute.
const FIRST_DEVICES: u32 = 12;
/// Numbers of devices that belong to one client.
const PER_CLIENT: u64 = 1_000_000;
/// The most between two requests of a client.
const LONGEST_PAUSE: u64 = 60;
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// A client that has failed this often learns nothing new.
const MOST_FAILURES: usize = 20;
pub(super) const GROUP: &str = "cluster";
pub(super) const CROWD: &str = "crowd";

/// A run of all clients.
pub(super) struct Load {
    is_over: Arc<AtomicBool>,
    clients: JoinSet<Book>,
}

impl Load {
    /// `phase` keeps what different loads do apart.
    pub(super) fn start(nodes: &Arc<[SocketAddr]>, phase: u32, retries: Retries, chance: &mut Chance) -> Self {
        let (is_over, mut clients) = (Arc::new(AtomicBool::new(false)), JoinSet::new());
        for number in 0..=CLIENTS {
            let client = Client {
                id: phase * 100 + number,
                caller: Balanced::new(nodes.clone(), number as usize, retries),
                chance: chance.fork(),
                is_over: is_over.clone(),
                book: Book::default(),
                channels: Vec::new(),
                n_made: 0,
            };
            match number {
                CLIENTS => clients.spawn(client.broadcast()),
                _ => clients.spawn(client.run()),
            };
        }
        Self { is_over, clients }
    }

    /// Lets everybody finish what they are at.
    pub(super) async fn end(self) -> Book {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = Book::default();
        for book in self.clients.join_all().await {
            all.add(book);
        }
        all
    }
}

struct Client {
    id: u32,
    caller: Balanced,
    chance: Chance,
    is_over: Arc<AtomicBool>,
    book: Book,
    channels: Vec<String>,
    /// Numbers everything that is made.
    n_made: u32,
}

impl Client {
    async fn run(mut self) -> Book {
        for _ in 0..FIRST_DEVICES {
            self.register().await;
        }
        while !self.is_over() {
            match self.chance.below(10) {
                0 => self.register().await,
                1..=3 => self.tag().await,
                4..=6 => self.upload().await,
                _ => self.push().await,
            }
            sleep(self.chance.millis(0, LONGEST_PAUSE)).await;
        }
        self.into_book()
    }

    /// Pushes to the crowd, the next when one has ended.
    async fn broadcast(mut self) -> Book {
        while !self.is_over() {
            let body =
                json!({"audience": {"tag": CROWD}, "device_types": ["android"], "notification": {"alert": "All"}});
            let key = self.name("broadcast");
            let call = Call::post("/api/push", &master_authorization(), &body).once(&key);
            let Some(accepted) = self.call(&call).await else { continue };
            let Some(id) = accepted["push_ids"][0].as_str().map(str::to_owned) else { continue };
            let began = Instant::now();
            let look = Call::get(format!("/api/push/{id}"), &master_authorization());
            while self.book.failures.len() < MOST_FAILURES {
                let found = self.call(&look).await;
                if found.is_some_and(|found| found["push"]["state"] == "done") {
                    break;
                }
                sleep(LOOK_EVERY).await;
            }
            self.book.broadcasts.push((id, began.elapsed()));
            sleep(self.chance.millis(0, 500)).await;
        }
        self.into_book()
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.book.failures.len() >= MOST_FAILURES
    }

    fn into_book(mut self) -> Book {
        self.book.n_retries = self.caller.n_retries();
        self.book
    }

    fn name(&mut self, kind: &str) -> String {
        self.n_made += 1;
        format!("{kind}-{}-{}", self.id, self.n_made)
    }

    async fn call(&mut self, call: &Call) -> Option<Value> {
        let began = Instant::now();
        let answered = self.caller.call(call).await;
        self.book.n_calls += 1;
        self.book.slowest = self.book.slowest.max(began.elapsed());
        let failure = match answered {
            Ok(reply) if reply.is_success() => return Some(reply.json()),
            Ok(Reply { status, body }) => format!("{status} {}", String::from_utf8_lossy(&body)),
            Err(error) => format!("{error:?}"),
        };
        self.book.failures.push(format!("{} {}: {failure}", call.method, call.path));
        None
    }

    async fn register(&mut self) {
        let key = self.name("device");
        let number = u64::from(self.id) * PER_CLIENT + u64::from(self.n_made);
        let address = device_address(Protocol::Apns, number, "");
        let body = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": address}});
        let made = self.call(&Call::post("/api/channels", &device_authorization(), &body).once(&key)).await;
        if let Some(id) = made.as_ref().and_then(|made| made["channel_id"].as_str()) {
            self.book.histories.insert(id.to_owned(), Vec::new());
            self.channels.push(id.to_owned());
        }
    }

    /// Adding a tag again changes nothing, so the request is safe to repeat.
    async fn tag(&mut self) {
        let Some(channel) = self.channel() else { return };
        let tag = self.name("tag");
        let body = json!({"audience": {"channel": channel}, "add": {GROUP: [tag]}});
        if self.call(&Call::post("/api/channels/tags", &master_authorization(), &body)).await.is_some() {
            self.note(&channel, tag);
        }
    }

    /// Events are recognized by their ids.
    async fn upload(&mut self) {
        let Some(channel) = self.channel() else { return };
        let names = [self.name("event"), self.name("event")];
        let time = Clock::System.now().seconds().to_string();
        let id = |place: u64| Uuid::from_u64_pair(u64::from(self.id) + 1, u64::from(self.n_made) << 8 | place);
        let session = id(0);
        let open = json!({"type": "app_foreground", "event_id": id(1), "time": time, "data": {"session_id": session}});
        let custom = |place: u64, name: &str| {
            let data = json!({"event_name": "step", "properties": {"label": name}, "session_id": session});
            json!({"type": "enhanced_custom_event", "event_id": id(place), "time": time, "data": data})
        };
        let body = json!([open, custom(2, &names[0]), custom(3, &names[1])]);
        let call = Call::post("/warp9/", &device_authorization(), &body).with("x-ua-app-key", APP_KEY);
        if self.call(&call.with("x-ua-channel-id", channel.as_str())).await.is_some() {
            self.book.n_opens += 1;
            self.book.n_custom_events += names.len() as u64;
            for name in names {
                self.note(&channel, name);
            }
        }
    }

    async fn push(&mut self) {
        let Some(channel) = self.channel() else { return };
        let text = self.name("push");
        let body = json!({
            "audience": {"ios_channel": channel}, "device_types": ["ios"], "notification": {"alert": text},
        });
        if self.call(&Call::post("/api/push", &master_authorization(), &body).once(&text)).await.is_some() {
            self.book.pushes.insert(text, Instant::now());
        }
    }

    fn channel(&mut self) -> Option<String> {
        let index = self.chance.below(self.channels.len());
        self.channels.get(index).cloned()
    }

    fn note(&mut self, channel: &str, what: String) {
        self.book.histories.entry(channel.to_owned()).or_default().push(what);
    }
}
