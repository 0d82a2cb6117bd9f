//! Devices that do not read: how little is kept for them, what they are told in the end, and that others are told meanwhile.

use std::time::Duration;

use ::model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::live::{Device, Socket};

use super::send;

/// Several times what is kept of them for a device that does not read: the buffers of both ends, and 16 KiB.
const N_PUSHES: usize = 60;
const LARGE: usize = 15 * 1024;
const HOUR: Duration = Duration::from_secs(60 * 60);

async fn kiosk(app: &TestApp, address: &str) -> Device {
    let registration = json!({"channel": {
        "type": "open", "opt_in": true, "live": true, "address": address, "open": {"open_platform_name": "kiosk"},
    }});
    let created = app.master().post("/api/channels/open", registration).await.expect(200);
    Device::of(app, created["channel_id"].as_str().unwrap()).await
}

fn to_all(alert: &str, expiry: u64) -> Value {
    json!({
        "audience": "all", "device_types": ["open::kiosk"], "notification": {"alert": alert},
        "options": {"expiry": expiry},
    })
}

/// A device that does not read, and one that does, and has read many large messages to both.
struct Flooded {
    slow: Device,
    of_slow: Socket,
    of_quick: Socket,
}

impl Flooded {
    async fn new(app: &TestApp, expiry: u64) -> Self {
        let (slow, quick) = (kiosk(app, "slow").await, kiosk(app, "quick").await);
        let mut of_slow = Socket::open_narrow(app, &slow).await;
        let mut of_quick = Socket::open(app, &quick, None).await;
        of_slow.next().await;
        of_quick.next().await;
        let large = to_all(&"x".repeat(LARGE), expiry);
        app.master().post("/api/push", json!(vec![large; N_PUSHES])).await.expect(200);
        app.step_all().await;
        for _ in 0..N_PUSHES {
            assert_eq!(of_quick.next().await["type"], "push", "it waits for nobody");
        }
        Self { slow, of_slow, of_quick }
    }
}

/// Counts messages that come in order.
#[derive(Default)]
struct Told {
    n_messages: usize,
    at: u64,
}

impl Told {
    fn note(&mut self, message: &Value) {
        let at = message["at"].as_str().unwrap().parse().unwrap();
        assert!(at > self.at, "in order, and each once");
        (self.at, self.n_messages) = (at, self.n_messages + 1);
    }

    /// The device got what had been written for it, and that was not much.
    fn check(&self) {
        assert!((1..N_PUSHES / 2).contains(&self.n_messages), "{} of {N_PUSHES} were kept for it", self.n_messages);
    }
}

#[tokio::test]
async fn a_device_that_reads_late_is_told_everything_in_order() {
    on_each_database(async |app| {
        let production = app.another_app(Mode::Production).await;
        let app = app.as_app(production);
        let Flooded { mut of_slow, .. } = Flooded::new(&app, HOUR.as_secs()).await;
        let mut told = Told::default();
        for _ in 0..N_PUSHES {
            told.note(&of_slow.next().await);
        }
        send(&app, to_all("and on", 60)).await;
        assert_eq!(of_slow.next().await["push"]["alert"], "and on");
    })
    .await;
}

/// What does not fit into small buffers is not kept for it, but read when it reads: by then it has expired.
#[tokio::test]
async fn a_device_that_does_not_read_costs_little_and_delays_nobody() {
    on_each_database(async |app| {
        let production = app.another_app(Mode::Production).await;
        let app = app.as_app(production);
        let Flooded { mut of_slow, mut of_quick, .. } = Flooded::new(&app, 60).await;
        app.advance(Duration::from_secs(120));
        send(&app, to_all("now", 60)).await;
        assert_eq!(of_quick.next().await["push"]["alert"], "now");
        let mut told = Told::default();
        loop {
            let message = of_slow.next().await;
            if message["push"]["alert"] == "now" {
                break;
            }
            told.note(&message);
        }
        told.check();
        // From here on it is told what comes, as it comes.
        send(&app, to_all("and on", 60)).await;
        for socket in [&mut of_slow, &mut of_quick] {
            assert_eq!(socket.next().await["push"]["alert"], "and on");
        }
    })
    .await;
}

/// A device that is behind with more than memory has is not told less without a word: its connection ends, and it comes back.
#[tokio::test]
async fn a_device_that_reads_when_its_messages_are_forgotten_has_to_come_back() {
    on_each_database(async |app| {
        let production = app.another_app(Mode::Production).await;
        let app = app.as_app(production);
        let day = (HOUR * 24).as_secs();
        let Flooded { slow, mut of_slow, mut of_quick } = Flooded::new(&app, day).await;
        app.advance(HOUR * 14);
        // When the second one is told, the first has been taken in, and everything that is too old forgotten with it.
        for alert in ["one", "two"] {
            send(&app, to_all(alert, day)).await;
            assert_eq!(of_quick.next().await["push"]["alert"], alert);
        }
        let mut told = Told::default();
        let code = loop {
            match of_slow.event().await {
                Ok(message) => told.note(&message),
                Err(code) => break code,
            }
        };
        told.check();
        assert_eq!(code, 4408);
        drop(of_slow);
        let mut back = Socket::open(&app, &slow, Some(&told.at.to_string())).await;
        assert_eq!(back.next().await["complete"], false, "more than 256 KiB");
        while back.next().await["push"]["alert"] != "two" {}
    })
    .await;
}
