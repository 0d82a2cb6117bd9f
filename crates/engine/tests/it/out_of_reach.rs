//! Providers that cannot be connected to, because the network or the names are out of order: pushes wait for them, for a day.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use sim::{Faults, Keys, Protocol, SimSettings, Simulator};
use testkit::app::{TestApp, on_each_database};
use tokio::net::TcpSocket;

use crate::devices::{push, status};
use crate::outcomes::{arrived, total};
use crate::provider::{apple, configure, devices, hello, work_off};

const N_DEVICES: u64 = 40;
const FIVE_MINUTES: Duration = Duration::from_secs(300);

/// A provider whose place is known, and where nobody listens.
struct Absent {
    keys: Keys,
    /// Keeps the place for it: connections are refused.
    place: TcpSocket,
    address: SocketAddr,
}

impl Absent {
    /// An app whose devices it is to reach.
    async fn configured(app: &TestApp) -> Self {
        let keys = Keys::generate().unwrap();
        // It is there for the credentials only, which are the same.
        let twin = started(app, SimSettings { keys: Some(keys.clone()), ..SimSettings::default() }).await;
        let place = TcpSocket::new_v4().unwrap();
        place.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = place.local_addr().unwrap();
        let mut credentials = apple(&twin);
        credentials["endpoint"]["url"] = json!(format!("https://{address}"));
        configure(app, "apns", &credentials).await;
        devices(app, &twin, Protocol::Apns, N_DEVICES).await;
        Self { keys, place, address }
    }

    async fn back(self, app: &TestApp) -> Simulator {
        let Self { keys, place, address } = self;
        drop(place);
        started(app, SimSettings { listen: address, keys: Some(keys), ..SimSettings::default() }).await
    }
}

async fn started(app: &TestApp, settings: SimSettings) -> Simulator {
    Simulator::start(SimSettings { clock: app.clock().clone(), ..settings }).await.unwrap()
}

async fn wait(app: &TestApp, n_times: usize) {
    for _ in 0..n_times {
        app.advance(FIVE_MINUTES);
        app.step_all().await;
    }
}

async fn notices(app: &TestApp) -> Value {
    app.operator().get("/operator/platforms/notices").await.expect(200)["notices"].clone()
}

#[tokio::test]
async fn an_outage_of_two_hours_costs_nobody_a_message() {
    on_each_database(async |app| {
        let absent = Absent::configured(&app).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        app.step_all().await;
        wait(&app, 24).await;
        let waiting = status(&app, &id).await;
        let (state, total) = (&waiting["state"], &waiting["total"]);
        assert_eq!((state, &total["pending"], &total["failed"]), (&json!("sending"), &json!(N_DEVICES), &json!(0)));
        let why = waiting["platforms"]["ios"]["reason"].as_str().unwrap();
        assert!(why.starts_with(&format!("There is no connection to {}: ", absent.address)), "{why}");
        let told = notices(&app).await;
        assert_eq!((&told[0]["type"], &told[0]["platform"]), (&json!("waiting"), &json!("apns")), "{told}");

        // A failed connection is not tried again for some seconds, which do not pass here. A restart forgets it.
        let app = app.restart().await;
        let provider = absent.back(&app).await;
        work_off(&app).await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["delivered"]), (&json!("done"), &json!(N_DEVICES)), "{done}");
        assert_eq!(arrived(&provider), N_DEVICES);
        assert_eq!(notices(&app).await, json!([]));
    })
    .await;
}

#[tokio::test]
async fn what_could_not_be_sent_for_a_day_has_failed() {
    on_each_database(async |app| {
        let absent = Absent::configured(&app).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        app.step_all().await;
        // The waits have their full length from here on, and one that lasts is as good as many.
        wait(&app, 12).await;
        app.advance(264 * FIVE_MINUTES);
        wait(&app, 11).await;
        assert_eq!(status(&app, &id).await["state"], "sending", "five minutes are left of the day");
        wait(&app, 12).await;
        let done = status(&app, &id).await;
        let (state, total) = (&done["state"], &done["total"]);
        assert_eq!((state, &total["failed"], &total["pending"]), (&json!("done"), &json!(N_DEVICES), &json!(0)));
        let why = done["platforms"]["ios"]["reason"].as_str().unwrap();
        assert!(why.starts_with("There is no connection to "), "{why}");

        let app = app.restart().await;
        let provider = absent.back(&app).await;
        wait(&app, 12).await;
        assert_eq!(arrived(&provider), 0, "it is over");
    })
    .await;
}

#[tokio::test]
async fn a_provider_that_is_back_and_refuses_everything_is_tried_as_often_as_any() {
    on_each_database(async |app| {
        let absent = Absent::configured(&app).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        app.step_all().await;
        wait(&app, 24).await;
        let app = app.restart().await;
        let provider = absent.back(&app).await;
        provider.set_faults(Faults { unavailable: 1.0, retry_after: None, ..Faults::default() });
        wait(&app, 5).await;
        assert_eq!(total(&app, &id).await["pending"], N_DEVICES, "half an hour is not too long");
        wait(&app, 12).await;
        assert_eq!(total(&app, &id).await["failed"], N_DEVICES, "an hour is");
    })
    .await;
}
