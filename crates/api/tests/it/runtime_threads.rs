//! The threads that answer requests compute next to nothing: whatever grows with an app is worked out on others.

use std::time::Duration;

use api::{Access, routes};
use http::Method;
use serde_json::{Map, Value, json};
use testkit::app::{OPERATOR_TOKEN, on_each_database};
use testkit::client::Caller;
use testkit::watched::WatchedServer;

use crate::remote_data::{in_app, keep, modal};

/// Of a build without optimization, which is some ten times as slow. A listing of the tags below on the thread itself takes several
/// times as long.
const MOST: Duration = Duration::from_millis(30);
const TAGS_PER_CHANNEL: usize = 1000;
const CHANNELS: usize = 40;

/// These do not end by themselves.
const STREAMS: [&str; 3] = ["/api/events", "/api/sandbox/stream", "/api/requests/stream"];
/// The document itself is a constant.
const CONSTANT: [&str; 1] = ["/openapi.json"];

#[tokio::test(flavor = "multi_thread")]
async fn no_listing_computes_long_where_requests_are_answered() {
    on_each_database(async |app| {
        for n in 0..CHANNELS {
            let tags: Vec<String> = (0..TAGS_PER_CHANNEL).map(|tag| format!("tag-{n}-{tag}")).collect();
            let channel = json!({"device_type": "ios", "opt_in": true, "set_tags": true, "tags": tags});
            app.master().post("/api/channels", json!({ "channel": channel })).await.expect(201);
            let lists: Vec<String> = (0..100).map(|list| format!("list-{n}-{list}")).collect();
            let scoped = json!({"scoped": [{"scope": ["app"], "subscription_lists": {"subscribe": lists}}]});
            app.master().post(&format!("/api/named_users/scoped/user-{n}"), scoped).await.expect(200);
        }
        let server = WatchedServer::start(&app);
        let master = server.caller.basic(&app.app.key, &app.app.master_secret);
        let operator = server.caller.bearer(OPERATOR_TOKEN);
        let mut n_listings = 0;
        for route in routes() {
            let is_listing = route.method == Method::GET && !route.path.contains('{');
            if !is_listing || STREAMS.contains(&route.path) || CONSTANT.contains(&route.path) {
                continue;
            }
            let caller: &Caller = match route.access {
                Access::Operator | Access::Scrape => &operator,
                _ => &master,
            };
            // The first answer may open a connection, and fill what is remembered.
            caller.get(route.path).await;
            let mut least = Duration::MAX;
            for _ in 0..3 {
                let before = server.computed();
                caller.get(route.path).await;
                least = least.min(server.computed() - before);
            }
            assert!(least < MOST, "{} computes for {least:?} on the thread of the server", route.path);
            n_listings += 1;
        }
        assert!(n_listings > 20, "{n_listings}");
    })
    .await;
}

/// With these values in a list, the texts below take nearly as many steps as all texts of a message may.
const LIST: usize = 80;
const TEXTS: usize = 7;

#[tokio::test(flavor = "multi_thread")]
async fn no_message_is_filled_in_where_requests_are_answered() {
    on_each_database(async |app| {
        let channel = json!({"device_type": "ios", "opt_in": true});
        let made = app.master().post("/api/channels", json!({ "channel": channel })).await.expect(201);
        let loops = |n: usize| {
            format!("{{{{#each list}}}}{{{{#each @root.list}}}}{{{{#if {n}}}}}{{{{/if}}}}{{{{/each}}}}{{{{/each}}}}")
        };
        let mut extra: Map<String, Value> = (0..TEXTS).map(|n| (format!("loops-{n}"), loops(n).into())).collect();
        extra.insert("long".to_owned(), format!("{}{{{{item}}}}", "long ".repeat(20_000)).into());
        let mut body = modal("opened");
        body["in_app_message"]["message"]["extra"] = extra.into();
        let id = keep(&app, &body).await;
        let server = WatchedServer::start(&app);
        let master = server.caller.basic(&app.app.key, &app.app.master_secret);
        let path = format!("{}/{id}/resolve", in_app(&app));
        let event = json!({"event_name": "opened", "properties": {"item": "hat", "list": vec![1; LIST]}});
        let asked = json!({
            "platform": "ios", "channel_id": made["channel_id"],
            "trigger": {"type": "custom_event_count", "goal": 1, "event": event},
        });
        let mut least = Duration::MAX;
        // Before the first one the message is read.
        for _ in 0..4 {
            let before = server.computed();
            let told = master.post(&path, &asked).await.expect(200);
            least = least.min(server.computed() - before);
            assert_eq!(told["audience_match"], true);
            assert!(told["message"]["extra"]["long"].as_str().unwrap().ends_with("long hat"));
            assert_eq!(told["message"]["extra"]["loops-0"], "");
        }
        assert!(least < MOST, "a message is computed for {least:?} on the thread of the server");
    })
    .await;
}
