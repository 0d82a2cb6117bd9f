//! What live connections may take: of the connections of an address, of the permits of requests, and of memory.

use ::model::app::Mode;
use api::Limits;
use serde_json::{Value, json};
use testkit::app::{TestApp, limits, on_each_database};
use testkit::live::{Device, Socket};
use testkit::store::databases;

use super::{push, send, status};

const N_CONNECTIONS: usize = 8;

fn page() -> Value {
    json!({"device_type": "web", "live": true})
}

async fn on_each(limits: Limits, test: impl AsyncFn(TestApp)) {
    for database in databases() {
        let app = Box::pin(TestApp::with_limits(database, limits)).await;
        Box::pin(test(app)).await;
    }
}

/// Waits until so many live connections are counted.
async fn until_connected(app: &TestApp, n_wanted: usize) {
    let wanted = format!("aerogram_live_connections {n_wanted}");
    while !app.operator().get("/metrics").await.text().lines().any(|line| line == wanted) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn sockets_that_are_refused_count_until_they_are_closed() {
    let few = Limits { connections: 40, connections_per_address: N_CONNECTIONS, ..limits() };
    on_each(few, async |app| {
        let plain = Device::register(&app, json!({"device_type": "ios", "push_address": "d".repeat(64)})).await;
        let mut held = Vec::new();
        // Nobody reads that they are closed.
        while let Ok(socket) = Socket::with(&app, "", &plain.token).await {
            held.push(socket);
            assert!(held.len() <= N_CONNECTIONS, "an address has no more than its share");
        }
        assert!(!held.is_empty());
        assert_eq!(held.remove(0).closed().await, 4403);
        for socket in held {
            socket.leave().await;
        }
        assert!(Socket::with(&app, "", &plain.token).await.is_ok());
    })
    .await;
}

/// Eight live connections are shared by the apps, and by the addresses: the first of each gets half.
#[tokio::test]
async fn an_address_has_no_more_than_its_share_of_live_connections() {
    on_each(Limits { live_connections: 8, ..limits() }, async |app| {
        let mut held = Vec::new();
        for _ in 0..2 {
            let device = Device::register(&app, page()).await;
            for _ in 0..2 {
                let mut socket = Socket::open(&app, &device, None).await;
                assert_eq!(socket.next().await["type"], "hello");
                held.push(socket);
            }
        }
        let another = app.another_app(Mode::Development).await;
        let app = app.as_app(another);
        let device = Device::register(&app, page()).await;
        let mut refused = Socket::open(&app, &device, None).await;
        assert_eq!(refused.next().await["why"], "limit");
        assert_eq!(refused.closed().await, 4429);
        for socket in held {
            socket.leave().await;
        }
        assert_eq!(Socket::open(&app, &device, None).await.next().await["type"], "hello");
    })
    .await;
}

/// Those that are opened at once wait for each other.
#[tokio::test]
async fn connections_are_opened_one_after_the_other_if_need_be() {
    on_each(Limits { live_handshakes: 1, ..limits() }, async |app| {
        let mut devices = Vec::new();
        for _ in 0..8 {
            devices.push(Device::register(&app, page()).await);
        }
        let open = async |device: &Device| Socket::open(&app, device, None).await.next().await["type"].clone();
        let opened = futures_util::future::join_all(devices.iter().map(open)).await;
        assert!(opened.iter().all(|message| message == "hello"));
        app.nobody().bearer(&devices[0].token).get("/live?wait=0").await.expect(200);
    })
    .await;
}

/// The devices of an app get two of four permits for requests.
#[tokio::test]
async fn polls_that_wait_keep_no_requests_out() {
    on_each(Limits { requests: 4, ..limits() }, async |app| {
        let device = Device::register(&app, page()).await;
        let caller = app.nobody().bearer(&device.token);
        let all_wait = async || {
            until_connected(&app, 3).await;
            push(&app, json!("all"), "to those who wait").await;
        };
        let poll = async |n_before: usize| {
            until_connected(&app, n_before).await;
            let polled = caller.get("/live?wait=60").await.expect(200);
            assert_eq!(polled["messages"][0]["push"]["alert"], "to those who wait");
        };
        tokio::join!(poll(0), poll(1), poll(2), all_wait());
    })
    .await;
}

#[tokio::test]
async fn a_message_that_is_too_large_fails_and_much_that_was_missed_is_cut() {
    on_each_database(async |app| {
        let kiosk = json!({"channel": {
            "type": "open", "opt_in": true, "live": true, "address": "kiosk-1", "open": {"open_platform_name": "kiosk"},
        }});
        let production = app.another_app(Mode::Production).await;
        let app = app.as_app(production);
        let kiosk = app.master().post("/api/channels/open", kiosk).await.expect(200);
        let kiosk = Device::of(&app, kiosk["channel_id"].as_str().unwrap()).await;
        let mut socket = Socket::open(&app, &kiosk, None).await;
        let start = socket.next().await["at"].as_str().unwrap().to_owned();
        let of = |n_bytes: usize| {
            json!({"audience": "all", "device_types": ["open::kiosk"], "notification": {"alert": "x".repeat(n_bytes)}})
        };
        let large = send(&app, of(17 * 1024)).await;
        let total = status(&app, &large).await["total"].clone();
        assert_eq!((&total["delivered"], &total["failed"]), (&json!(0), &json!(1)));
        send(&app, of(10)).await;
        assert_eq!(socket.next().await["push"]["alert"], "x".repeat(10), "the large one was told to nobody");
        drop(socket);
        app.master().post("/api/push", json!(vec![of(15 * 1024); 40])).await.expect(200);
        app.step_all().await;
        let mut socket = Socket::open(&app, &kiosk, Some(&start)).await;
        assert_eq!(socket.next().await["complete"], false, "more than 256 KiB");
        push(&app, json!("all"), "now").await;
        let mut n_missed = 0;
        while socket.next().await["push"]["alert"] != "now" {
            n_missed += 1;
        }
        assert!((10..=17).contains(&n_missed), "{n_missed}");
    })
    .await;
}
