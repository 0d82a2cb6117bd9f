//! What clients do: each act is repeated until it is known to have happened, as a careful client does.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::bad_channels::{ChannelEndpoint, bad_channels};
use testkit::client::Caller;

use super::books::{Audience, TAGS};
use super::{World, audience_of};

/// A client gives up after this many refusals in a row, long after every fault is over.
const MOST_TRIES: usize = 40;

impl World {
    pub(super) async fn register(&mut self) {
        let address = format!("kiosk {}", self.books.n_devices());
        let tags = self.chance.some(&TAGS, 3);
        let body = json!({"channel": {
            "type": "open", "opt_in": true, "address": address, "open": {"open_platform_name": "kiosk"},
        }});
        // The same address is the same channel, however often it registers.
        let reply = self.insist("/api/channels/open", &body).await;
        let id = reply["channel_id"].as_str().unwrap().to_owned();
        self.insist("/api/channels/tags", &json!({"audience": audience_of(&id), "set": {"crew": tags}})).await;
        self.books.add_device(id, address, tags);
    }

    pub(super) async fn tag(&mut self) {
        let Some(device) = self.books.any_device(&mut self.chance) else { return };
        let (add, tag) = (self.chance.percent(60), self.chance.pick(&TAGS));
        let action = if add { "add" } else { "remove" };
        let audience = audience_of(&self.books.id(device));
        self.insist("/api/channels/tags", &json!({"audience": audience, action: {"crew": [tag]}})).await;
        self.books.change_device(device, |device| {
            if add {
                device.tags.insert(tag);
            } else {
                device.tags.remove(tag);
            }
        });
    }

    /// A device that wants no messages any more, or wants them again.
    pub(super) async fn opt(&mut self) {
        let Some(device) = self.books.any_device(&mut self.chance) else { return };
        let opted_in = self.chance.percent(50);
        let body = json!({"channel": {
            "type": "open", "opt_in": opted_in, "address": self.books.address(device),
            "open": {"open_platform_name": "kiosk"},
        }});
        self.insist("/api/channels/open", &body).await;
        self.books.change_device(device, |device| device.opted_in = opted_in);
    }

    pub(super) async fn push(&mut self) {
        let (audience, alert) = (Audience::random(&mut self.chance), self.books.next_alert());
        let reply = self.insist("/api/push", &content(&audience, &alert)).await;
        let push_id = reply["push_ids"][0].as_str().unwrap().to_owned();
        self.books.add_sent(push_id, alert, audience, self.n_healed);
    }

    pub(super) async fn schedule(&mut self) {
        let (audience, alert) = (Audience::random(&mut self.chance), self.books.next_alert());
        let wait = Duration::from_secs(60 + u64::try_from(self.chance.below(7000)).unwrap());
        let at = self.nodes[0].clock().now().plus(wait);
        let schedule = json!({"scheduled_time": at.to_api()});
        let body = json!({"name": alert, "schedule": schedule, "push": content(&audience, &alert)});
        let reply = self.insist("/api/schedules", &body).await;
        let push_id = reply["schedules"][0]["push_ids"][0].as_str().unwrap().to_owned();
        self.books.add_scheduled(push_id, alert, audience, self.n_healed, at);
    }

    /// Devices that send nonsense, and strangers who guess secrets, change nothing for others.
    pub(super) async fn mean_harm(&mut self) {
        let node = self.chance.below(self.nodes.len());
        let mut bad = bad_channels();
        bad.retain(|it| matches!(it.endpoint, ChannelEndpoint::Register));
        let body = Bytes::from(bad[self.chance.below(bad.len())].body.clone());
        let device = self.nodes[node].device();
        let reply = device.send(device.request(Method::POST, "/api/channels").body(body).unwrap()).await;
        // Of libraries from other times the service takes what it understands.
        let is_answer = !reply.status.is_server_error() || reply.status == StatusCode::SERVICE_UNAVAILABLE;
        assert!(is_answer, "{}: {}", reply.status, reply.text());
        let stranger = self.nodes[node].nobody().basic(&self.nodes[node].app.key, "not-the-secret-of-this-app");
        let reply = stranger.post("/api/push", content(&Audience::All, "nobody gets this")).await;
        let is_refused = [StatusCode::UNAUTHORIZED, StatusCode::SERVICE_UNAVAILABLE].contains(&reply.status);
        assert!(is_refused, "{}: {}", reply.status, reply.text());
    }

    /// Sends a request to whichever node until it succeeds. It carries a key, so that what happened already does not happen again.
    async fn insist(&mut self, path: &str, body: &Value) -> Value {
        let key = format!("simulated-{}-{}", self.chance.below(1 << 30), self.chance.below(1 << 30));
        let mut said = String::new();
        for n_tries in 0..MOST_TRIES {
            let node = self.chance.below(self.nodes.len());
            let master: Caller = self.nodes[node].master();
            let request = master.request(Method::POST, path).header("Idempotency-Key", &key);
            let request = request.header("Accept", "application/vnd.urbanairship+json; version=3;");
            let reply = master.send(request.body(Bytes::from(body.to_string())).unwrap()).await;
            if reply.status.is_success() {
                return reply.json();
            }
            said = format!("{} {}", reply.status, reply.text());
            let is_trouble = reply.status == StatusCode::SERVICE_UNAVAILABLE;
            assert!(is_trouble && self.n_faults > 0, "{path}: {said}");
            if n_tries % 4 == 3 {
                self.heal().await;
            }
        }
        panic!("{path} is refused for ever: {said}");
    }
}

fn content(audience: &Audience, alert: &str) -> Value {
    json!({"audience": audience.to_json(), "device_types": ["open::kiosk"], "notification": {"alert": alert}})
}
