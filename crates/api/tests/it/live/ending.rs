//! How live connections end: by the service, by the device, and by what becomes of channel, token and app.

use std::time::Duration;

use serde_json::json;
use testkit::app::on_each_database;
use testkit::live::{Device, Socket};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::push;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn page() -> serde_json::Value {
    json!({"device_type": "web", "live": true})
}

#[tokio::test]
async fn a_connection_ends_with_its_channel() {
    on_each_database(async |app| {
        let (gone, no_longer) = (Device::register(&app, page()).await, Device::register(&app, page()).await);
        let mut sockets = [Socket::open(&app, &gone, None).await, Socket::open(&app, &no_longer, None).await];
        for socket in &mut sockets {
            socket.next().await;
        }
        let uninstall = json!([{"channel_id": gone.channel, "device_type": "web"}]);
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        let change = json!({"channel": {"device_type": "web", "opt_in": true, "live": false}});
        app.device().put(&format!("/api/channels/{}", no_longer.channel), change).await.expect(200);
        assert_eq!((sockets[0].closed().await, sockets[1].closed().await), (4410, 4403));
        for (device, code) in [(gone, 4410), (no_longer, 4403)] {
            assert_eq!(Socket::open(&app, &device, None).await.closed().await, code);
        }
    })
    .await;
}

#[tokio::test]
async fn a_connection_ends_with_its_token_unless_it_shows_a_newer_one() {
    on_each_database(async |app| {
        let mut device = Device::register(&app, page()).await;
        let other = Device::register(&app, page()).await;
        let mut sockets = [
            Socket::open(&app, &device, None).await,
            Socket::open(&app, &device, None).await,
            Socket::open(&app, &device, None).await,
        ];
        for socket in &mut sockets {
            socket.next().await;
        }
        app.advance(DAY / 2);
        device.token = Device::of(&app, &device.channel).await.token;
        sockets[0].say(&json!({"token": device.token})).await;
        sockets[2].say(&json!({"token": other.token})).await;
        assert_eq!(sockets[2].closed().await, 4401, "the token of another channel");
        app.advance(DAY / 2 + Duration::from_secs(60));
        assert_eq!(sockets[1].closed().await, 4401);
        push(&app, json!("all"), "still here").await;
        assert_eq!(sockets[0].next().await["push"]["alert"], "still here");
        let refused = Socket::with(&app, "", &other.token).await.err();
        assert!(matches!(refused, Some(Error::Http(answer)) if answer.status() == 401));
    })
    .await;
}

#[tokio::test]
async fn a_replaced_secret_and_a_deleted_app_end_connections() {
    on_each_database(async |app| {
        let key = app.app.key.clone();
        let device = Device::register(&app, page()).await;
        let mut socket = Socket::open(&app, &device, None).await;
        socket.next().await;
        let rotate = format!("/operator/apps/{key}/rotate");
        let secrets = app.operator().post(&rotate, json!({"secret": "app"})).await.expect(200);
        assert_eq!(socket.closed().await, 4401);
        let mut credentials = app.app.clone();
        credentials.app_secret = secrets["app_secret"].as_str().unwrap().to_owned();
        let app = app.as_app(credentials);
        let device = Device::of(&app, &device.channel).await;
        let mut socket = Socket::open(&app, &device, None).await;
        socket.next().await;
        app.operator().delete(&format!("/operator/apps/{key}")).await.expect(204);
        assert_eq!(socket.closed().await, 4403);
    })
    .await;
}

#[tokio::test]
async fn a_stopping_node_says_goodbye() {
    on_each_database(async |app| {
        let device = Device::register(&app, page()).await;
        let mut socket = Socket::open(&app, &device, None).await;
        let hello = socket.next().await;
        app.begin_stop();
        let bye = socket.next().await;
        assert_eq!((&bye["type"], &bye["why"]), (&json!("bye"), &json!("restart")));
        assert!(bye["retry"].as_u64().is_some_and(|retry| retry < 30_000));
        assert_eq!(socket.closed().await, 1012);
        let app = app.restart().await;
        push(&app, json!("all"), "meanwhile").await;
        let mut socket = Socket::open(&app, &device, hello["at"].as_str()).await;
        socket.next().await;
        assert_eq!(socket.next().await["push"]["alert"], "meanwhile");
    })
    .await;
}

#[tokio::test]
async fn a_fifth_connection_ends_the_oldest() {
    on_each_database(async |app| {
        let device = Device::register(&app, page()).await;
        let mut sockets = Vec::new();
        for _ in 0..5 {
            let mut socket = Socket::open(&app, &device, None).await;
            socket.next().await;
            sockets.push(socket);
        }
        assert_eq!(sockets[0].closed().await, 4409);
        push(&app, json!("all"), "to four").await;
        for socket in &mut sockets[1..] {
            assert_eq!(socket.next().await["push"]["alert"], "to four");
        }
    })
    .await;
}

#[tokio::test]
async fn what_the_protocol_does_not_allow_ends_a_connection() {
    on_each_database(async |app| {
        let device = Device::register(&app, page()).await;
        let bad = [
            (Message::binary(vec![1, 2]), 1003),
            (Message::text("no JSON"), 1007),
            (Message::text(json!({"ack": "first"}).to_string()), 1007),
            (Message::text(json!({"ack": "+5"}).to_string()), 1007),
            (Message::text("a".repeat(5000)), 1009),
            (Message::text(json!({"token": "a.b.c"}).to_string()), 4401),
        ];
        for (message, code) in bad {
            let mut socket = Socket::open(&app, &device, None).await;
            socket.next().await;
            socket.send(message).await;
            assert_eq!(socket.closed().await, code);
        }
        let mut socket = Socket::open(&app, &device, None).await;
        socket.next().await;
        for _ in 0..11 {
            socket.say(&json!({"ack": "0"})).await;
        }
        assert_eq!(socket.closed().await, 4429, "eleven messages at once");
    })
    .await;
}
