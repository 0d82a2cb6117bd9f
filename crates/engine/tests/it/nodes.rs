//! Several processes on one PostgreSQL database.

use engine::{Engine, NewApp, SealKey, Settings, Worker};
use model::app::Mode;
use model::channel::Registration;
use model::json;
use model::payload::parse_pushes;
use model::time::Clock;
use store::sandbox::Filter;
use testkit::app::START;
use testkit::store::{self as stores, Home};

async fn node(home: &Home) -> Engine {
    let settings = Settings {
        seal_key: SealKey::new(&[7; 32]),
        allow_private_addresses: true,
        public_url: "http://localhost".to_owned(),
    };
    Engine::start(home.open().await, Clock::stepped(START), settings).await.unwrap()
}

#[tokio::test]
async fn a_push_sees_what_was_registered_on_another_node() {
    if !stores::engines().contains(&stores::Engine::Postgres) {
        return;
    }
    let home = Home::new(stores::Engine::Postgres);
    let (first, second) = (node(&home).await, node(&home).await);
    let new = NewApp {
        name: "Two nodes".to_owned(),
        mode: Mode::Development,
        key: None,
        app_secret: None,
        master_secret: None,
    };
    let created = first.create_app(new, None).await.unwrap();
    let app = second.app(created.key.as_str()).await.unwrap();
    for i in 0..10 {
        let body = format!(
            r#"{{"channel": {{"device_type": "ios", "opt_in": true, "push_address": "A{i}", "tags": ["t{i}"]}}}}"#
        );
        let registration = json::parse(body.as_bytes(), Registration::parse).unwrap();
        let (here, there) = if i % 2 == 0 { (&first, &second) } else { (&second, &first) };
        here.register_channel(app.id, registration, None).await.unwrap();
        let push =
            format!(r#"{{"audience": {{"tag": "t{i}"}}, "device_types": "all", "notification": {{"alert": "x"}}}}"#);
        let accepted = there.accept_pushes(&app, parse_pushes(push.as_bytes()).unwrap(), None).await.unwrap();
        // Whichever node takes the jobs, the audience includes the registration.
        while Worker::new(there.clone()).step().await.unwrap() {}
        let filter = Filter { push: Some(accepted.push_ids[0]), channel: None };
        assert_eq!(here.sandbox(app.id, filter, 10).await.unwrap().len(), 1, "t{i}");
    }
}
