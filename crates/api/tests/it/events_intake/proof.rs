//! How much of what uploads say about a device is believed, by how well their senders prove who they are.

use bytes::Bytes;
use devices::LocationSettings;
use http::Method;
use serde_json::{Value, json};
use testkit::app::{START, TestApp, on_each_database};
use testkit::store::databases;

use super::{event, event_at, register, told, upload_with};

/// What events say about the device that told the last one.
async fn device(app: &TestApp) -> Value {
    told(app).await.last().unwrap()["device"].clone()
}

/// An upload that tells a version of the app and an id of the device. Every one has a new event.
async fn tell(app: &TestApp, credentials: (&str, &str), channel: &str, version: &str) {
    let events = json!([
        event("associate_identifiers", json!({"crm": version})),
        event("screen_tracking", json!({"screen": format!("{credentials:?} {version}"), "duration": "1"})),
    ]);
    let headers = [
        credentials,
        ("X-UA-Channel-ID", channel),
        ("X-UA-Package-Version", version),
        ("X-UA-Package-Name", "com.example"),
    ];
    upload_with(app, &headers, events.to_string().into_bytes()).await.expect(200);
}

#[tokio::test]
async fn what_nobody_proved_replaces_nothing_that_was_registered() {
    on_each_database(async |app| {
        let registered = json!({"channel": {"device_type": "android", "opt_in": true, "app_version": "1"}});
        let made = app.device().post("/api/channels", &registered).await.expect(201);
        let channel = made["channel_id"].as_str().unwrap();
        let path = format!("/api/channels/{channel}");
        let request = app.device().request(Method::GET, "/api/auth/device").header("X-UA-Channel-ID", channel);
        let token = app.device().send(request.body(Bytes::new()).unwrap()).await.expect(200);
        let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
        let key = app.app.key.clone();
        let (by_key, by_token) = (("X-UA-App-Key", key.as_str()), ("Authorization", bearer.as_str()));
        let shown = async |app: &TestApp| {
            let device = device(app).await;
            let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
            let attributes = &device["attributes"];
            assert_eq!(attributes["app_package_name"], "com.example", "nobody else has told this");
            (text(&attributes["app_version"]), text(&device["identifiers"]["crm"]))
        };
        let both = |version: &str, crm: &str| (version.to_owned(), crm.to_owned());

        tell(&app, by_key, channel, "2").await;
        assert_eq!(shown(&app).await, both("1", "2"));
        tell(&app, by_token, channel, "3").await;
        assert_eq!(shown(&app).await, both("3", "3"));
        let app = app.restart().await;
        tell(&app, by_key, channel, "4").await;
        assert_eq!(shown(&app).await, both("3", "3"));
        // A device that tells nothing of the kind when it registers is believed, as long as nobody knows better.
        app.device().put(&path, json!({"channel": {"device_type": "android", "app_version": null}})).await.expect(200);
        tell(&app, by_key, channel, "5").await;
        tell(&app, by_key, channel, "6").await;
        assert_eq!(shown(&app).await, both("6", "3"));
        app.device().put(&path, registered).await.expect(200);
        tell(&app, by_key, channel, "7").await;
        assert_eq!(shown(&app).await, both("1", "3"));
    })
    .await;
}

#[tokio::test]
async fn a_token_uploads_for_its_own_channel_whatever_the_header_says() {
    on_each_database(async |app| {
        let (own, other) = (register(&app, "ios", "A1").await, register(&app, "ios", "A2").await);
        let request = app.device().request(Method::GET, "/api/auth/device").header("X-UA-Channel-ID", &own);
        let token = app.device().send(request.body(Bytes::new()).unwrap()).await.expect(200);
        let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
        tell(&app, ("Authorization", &bearer), &other, "1").await;
        let device = device(&app).await;
        assert_eq!((&device["channel"], &device["attributes"]["app_version"]), (&json!(own), &json!("1")));
        let forged = [("Authorization", "Bearer a.b.c"), ("X-UA-App-Key", &app.app.key), ("X-UA-Channel-ID", &own)];
        upload_with(&app, &forged, b"[]".to_vec()).await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn coordinates_are_kept_only_where_the_operator_wants_it() {
    for database in databases() {
        for keep_coordinates in [false, true] {
            let locations = LocationSettings { keep_coordinates, ..LocationSettings::default() };
            let app = Box::pin(TestApp::with_locations(database, locations)).await;
            let channel = register(&app, "ios", "A1").await;
            let place = json!({"lat": "59.9139", "long": "10.7522", "foreground": "true", "session_id": "s"});
            let headers = [("X-UA-App-Key", app.app.key.as_str()), ("X-UA-Channel-ID", &channel)];
            let body = json!([event_at("location", START.0, place)]).to_string().into_bytes();
            upload_with(&app, &headers, body).await.expect(200);
            let app = app.restart().await;
            let body = told(&app).await.pop().unwrap()["body"].clone();
            let exactly = json!({"latitude": "59.9139", "longitude": "10.7522", "foreground": true, "session_id": "s"});
            let vaguely = json!({"foreground": true, "session_id": "s"});
            assert_eq!(body, if keep_coordinates { exactly } else { vaguely });
        }
    }
}
