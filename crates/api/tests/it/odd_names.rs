//! Names that no database could hold, wherever a request can carry one.

use api::{Access, Route, routes};
use bytes::Bytes;
use testkit::app::{TestApp, on_each_database};
use testkit::client::{Caller, Reply};

const CHANNEL: &str = "00000000-0000-4000-8000-000000000000";
/// NUL, half a character, and a line break.
const ODD_NAMES: [&str; 3] = ["a%00b", "a%ffb", "a%0Ab"];

fn caller(app: &TestApp, access: Access) -> Caller {
    match access {
        Access::Probe | Access::Public | Access::Open => app.nobody().clone(),
        // An inbox is opened by nobody but its own user.
        Access::Device
        | Access::Channel
        | Access::OwnChannel
        | Access::Page
        | Access::Signed
        | Access::Contact
        | Access::Events
        | Access::Inbox
        | Access::Master => app.master(),
        Access::Operator | Access::Scrape => app.operator(),
    }
}

/// A body that is good enough for the name in the path to count.
fn body(route: &Route) -> &'static str {
    match route.path {
        "/api/channels/{channel_id}" => r#"{"channel":{"device_type":"ios"}}"#,
        "/api/channels/sdk/batch/{channel_id}" | "/api/named_users/{named_user_id}" => {
            r#"{"attributes":[{"action":"set","key":"a","value":1}]}"#
        }
        "/api/channels/{channel_id}/attributes" | "/api/named_users/{named_user_id}/attributes" => {
            r#"{"attributes":[{"action":"set","key":"a","value":1}]}"#
        }
        "/api/named_users/scoped/{named_user_id}" => {
            r#"{"scoped":[{"scope":"app","subscription_lists":{"subscribe":["a"]}}]}"#
        }
        "/api/segments/{segment_id}" => r#"{"display_name":"a","criteria":{"tag":"a"}}"#,
        "/api/templates/{template_id}" => r#"{"name":"a"}"#,
        "/api/tags/{tag}" => r#"{"apids":{"add":["a"]}}"#,
        "/api/lists/{list}/csv" => "named_user,a\r\n",
        "/operator/apps/{key}" => r#"{"name":"a"}"#,
        "/operator/apps/{key}/rotate" => r#"{"secret":"app"}"#,
        "/operator/apps/{key}/platforms/{platform}" => r#"{"url":"http://127.0.0.1:9/","validate":false}"#,
        _ => "{}",
    }
}

/// The path once per variable, each time with that one odd and the others good.
fn odd_paths(app: &TestApp, route: &Route, odd: &str) -> Vec<String> {
    let segments: Vec<&str> = route.path.split('/').collect();
    let good = |segment: &str| match segment {
        "{key}" => app.app.key.clone(),
        "{platform}" => "open::fridge".to_owned(),
        "{number}" => "0".to_owned(),
        "{push_id}" | "{contact_id}" | "{channel_id}" | "{segment_id}" | "{schedule_id}" | "{template_id}" => {
            CHANNEL.to_owned()
        }
        other => other.to_owned(),
    };
    let variables = segments.iter().enumerate().filter(|(_, segment)| segment.starts_with('{'));
    variables
        .map(|(odd_one, segment)| {
            let odd = if *segment == "{platform}" { format!("open::{odd}") } else { odd.to_owned() };
            let filled =
                segments.iter().enumerate().map(|(i, part)| if i == odd_one { odd.clone() } else { good(part) });
            filled.collect::<Vec<_>>().join("/")
        })
        .collect()
}

async fn call(caller: &Caller, route: &Route, path: &str) -> Reply {
    caller.send(caller.request(route.method.clone(), path).body(Bytes::from(body(route))).unwrap()).await
}

#[tokio::test]
async fn odd_names_in_paths_name_nothing() {
    on_each_database(async |app| {
        let mut n_paths = 0;
        for route in routes() {
            for path in ODD_NAMES.iter().flat_map(|odd| odd_paths(&app, &route, odd)) {
                let reply = call(&caller(&app, route.access), &route, &path).await;
                // A device that puts a channel with an odd id is told to register anew.
                let status = reply.status.as_u16();
                let is_expected = match route.access {
                    // Whose inbox it is comes first.
                    Access::Inbox => status == 401,
                    Access::Probe
                    | Access::Public
                    | Access::Open
                    | Access::Device
                    | Access::Channel
                    | Access::OwnChannel
                    | Access::Page
                    | Access::Signed
                    | Access::Contact
                    | Access::Events
                    | Access::Master
                    | Access::Operator
                    | Access::Scrape => [400, 404, 409].contains(&status),
                };
                assert!(is_expected, "{} {path}: {status} {}", route.method, reply.text());
                n_paths += 1;
            }
        }
        assert!(n_paths >= 60, "{n_paths}");
    })
    .await;
}

#[tokio::test]
async fn odd_values_in_queries_are_refused_or_ignored() {
    on_each_database(async |app| {
        for route in routes().iter().filter(|route| route.method == http::Method::GET && !route.path.contains('{')) {
            for name in ["start", "id", "limit", "sort", "order", "type", "platform", "push_id", "channel_id", "a%00"] {
                for odd in ODD_NAMES {
                    let path = format!("{}?{name}={odd}", route.path);
                    let caller = caller(&app, route.access);
                    // Only the head: one of the routes is a stream.
                    let (reply, _) =
                        caller.open(caller.request(http::Method::GET, &path).body(Bytes::new()).unwrap()).await;
                    assert!([200, 400, 404].contains(&reply.status.as_u16()), "{path}: {}", reply.status);
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn odd_credentials_are_nobodys() {
    on_each_database(async |app| {
        let nobody = app.nobody();
        for (key, secret) in [("a\0b", "c"), ("a", "b\0c"), ("", ""), ("\0", "\0"), (&*"x".repeat(3000), "c")] {
            nobody.basic(key, secret).get("/api/channels").await.expect(401);
        }
        nobody.basic(&app.app.key, "\0").get("/api/channels").await.expect(401);
        let not_text = nobody.authorized("Basic //46Yw==".to_owned());
        not_text.get("/api/channels").await.expect(401);
        let push = r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#;
        for odd in [&b"a\xffb"[..], b"a b", b"\xc3\xa9", b""] {
            let master = app.master();
            let request = master.request(http::Method::POST, "/api/push").header("idempotency-key", odd);
            master.send(request.body(Bytes::from(push)).unwrap()).await.expect(400);
        }
    })
    .await;
}

#[tokio::test]
async fn names_in_old_tag_bodies_are_looked_at_too() {
    on_each_database(async |app| {
        let refused = app.master().post("/api/tags/news", r#"{"apids":{"add":["a\u0000b"]}}"#).await.expect(400);
        assert_eq!(refused["details"]["path"], "apids.add[0]");
        app.master().post("/api/tags/batch", r#"[{"apid":"a\u0000b","tags":["x"]}]"#).await.expect(400);
    })
    .await;
}
