//! Who may call what: every route of the table with every kind of credentials.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use api::{Access, Route, routes};
use bytes::Bytes;
use serde_json::{Value, json};
use testkit::app::{OPERATOR_TOKEN, TestApp, on_each_database};
use testkit::client::{Caller, Reply};

use crate::sdk::{Headers, Library};

/// An app key in the right form that no app has.
const UNKNOWN_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAA";

/// The path with ids that exist nowhere, so that a call that is let through changes nothing.
fn path(route: &Route) -> String {
    fill(route.path)
}

pub(crate) fn fill(path: &str) -> String {
    let id = "00000000-0000-4000-8000-000000000000";
    let filled = path.replace("{push_id}", id).replace("{channel_id}", id).replace("{contact_id}", id);
    let filled = filled.replace("{key}", UNKNOWN_KEY).replace("{platform}", "open::nowhere").replace("{number}", "0");
    let filled = filled.replace("{named_user_id}", "nobody").replace("{fingerprint}", "0123456789abcdef");
    let filled = filled.replace("{schedule_id}", id).replace("{template_id}", id).replace("{place}", "0,0");
    let filled = filled.replace("{draft_id}", id).replace("{region_id}", "nowhere");
    let filled = filled.replace("{device_token}", "ABCDEF").replace("{apid}", id).replace("{device_pin}", "01234567");
    let filled = filled.replace("{type}", "app").replace("{external_id}", "none");
    let filled = filled.replace("{segment_id}", id).replace("{tag}", "nothing").replace("{list}", "none");
    let filled = filled.replace("{group_id}", id).replace("{send_id}", id).replace("{message_id}", "none");
    let filled = filled.replace("{pipeline_id}", id).replace("{webhook_id}", id).replace("{privacy_id}", id);
    let filled = filled.replace("{account_id}", id).replace("{sign_in_id}", id).replace("{token_id}", id);
    let filled = filled.replace("{client_id}", id).replace("{kid}", "0123456789abcdef").replace("{secret}", "master");
    let filled = filled.replace("{automation_id}", id).replace("{flag_id}", id).replace("{holdout_id}", id);
    let filled = filled.replace("{form_id}", "none");
    let filled = filled.replace("{experiment_id}", id).replace("{variant}", "0").replace("{file}", "aerogram.js");
    let filled = filled.replace("{user_id}", UNKNOWN_KEY).replace("{*below}", "a/b").replace("{below}", "a");
    let filled = filled.replace("{device_type}", "ios").replace("{open_platform}", "nowhere");
    assert!(!filled.contains('{'), "{filled}: fill in the new variable here");
    filled
}

async fn call(caller: &Caller, route: &Route) -> Reply {
    let request = caller.request(route.method.clone(), &path(route)).body(Bytes::new()).unwrap();
    // Only the head: one of the routes is a stream.
    caller.open(request).await.0
}

/// Callers by name, and whether each is let through.
fn callers(app: &TestApp, access: Access) -> Vec<(&'static str, Caller, bool)> {
    use Access::{
        Channel, Contact, Device, Events, Master, Open, Operator, OwnChannel, Page, Probe, Public, Scrape, Signed,
    };
    let (nobody, credentials) = (app.nobody(), &app.app);
    let is = |some: &[Access]| some.contains(&access) || [Probe, Public, Open].contains(&access);
    let (key, master) = (&credentials.key, &credentials.master_secret);
    let raw = |text: &str| nobody.authorized(text.to_owned());
    vec![
        ("nobody", nobody.clone(), is(&[])),
        ("unknown key", nobody.basic(UNKNOWN_KEY, master), is(&[])),
        ("wrong secret", nobody.basic(key, UNKNOWN_KEY), is(&[])),
        ("empty secret", nobody.basic(key, ""), is(&[])),
        ("secret as key", nobody.basic(master, key), is(&[])),
        ("key and secret in other letter case", nobody.basic(&swap_case(key), &swap_case(master)), is(&[])),
        ("not base64", raw("Basic ***"), is(&[])),
        ("no colon", raw("Basic QUFBQQ=="), is(&[])),
        ("other scheme", raw("Digest QUFBQQ=="), is(&[])),
        ("nothing after the scheme", raw("Basic"), is(&[])),
        ("master secret as token", nobody.bearer(master), is(&[])),
        ("wrong token", nobody.bearer("the-operator-of-the-test"), is(&[])),
        ("device", app.device(), is(&[Device, Channel, OwnChannel, Page, Signed, Contact, Events])),
        ("master", app.master(), is(&[Device, Channel, OwnChannel, Page, Signed, Contact, Events, Master])),
        ("operator", app.operator(), is(&[Operator, Scrape])),
    ]
}

fn swap_case(text: &str) -> String {
    let swap = |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    text.chars().map(swap).collect()
}

#[tokio::test]
async fn every_route_with_every_kind_of_credentials() {
    on_each_database(async |app| {
        for route in routes() {
            for (name, caller, is_let_through) in callers(&app, route.access) {
                let reply = call(&caller, &route).await;
                let what = format!("{} {} by {name}: {}", route.method, route.path, reply.status);
                assert_eq!(reply.status.as_u16() != 401, is_let_through, "{what}");
                let challenge = match route.access {
                    Access::Operator | Access::Scrape => "Bearer realm=\"aerogram operator\"",
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
                    | Access::Inbox
                    | Access::Master => "Basic realm=\"aerogram\"",
                };
                let expected = (!is_let_through).then_some(challenge);
                assert_eq!(reply.header("www-authenticate"), expected, "{what}");
            }
        }
    })
    .await;
}

/// What devices show instead of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    ChannelToken,
    ContactToken,
    AppSignature,
    ChannelSignature,
    AppKey,
    InboxPassword,
}

impl Proof {
    const ALL: [Proof; 6] = [
        Proof::ChannelToken,
        Proof::ContactToken,
        Proof::AppSignature,
        Proof::ChannelSignature,
        Proof::AppKey,
        Proof::InboxPassword,
    ];

    /// The status of the refusal, or `None` for a call that is let through, of the one whom the path names.
    fn refusal(self, access: Access) -> Option<u16> {
        use Proof::{AppKey, AppSignature, ChannelSignature, ChannelToken, ContactToken, InboxPassword};
        match (access, self) {
            (Access::Probe | Access::Public | Access::Open, _) => None,
            (Access::Inbox, InboxPassword) | (Access::Events, AppKey) => None,
            // Without an origin that the app allows.
            (Access::Page, AppKey) => Some(403),
            (_, InboxPassword | AppKey) => Some(401),
            (Access::Master | Access::Operator | Access::Scrape | Access::Inbox, _) => Some(401),
            (_, AppSignature) => None,
            (Access::Channel | Access::OwnChannel | Access::Page | Access::Events, ChannelToken | ChannelSignature) => {
                None
            }
            (Access::Contact, ContactToken) => None,
            (Access::Signed, ChannelSignature) => None,
            (Access::Signed, ChannelToken | ContactToken) => Some(401),
            (Access::Device | Access::Contact, ChannelToken | ChannelSignature) => Some(403),
            (Access::Device | Access::Channel | Access::OwnChannel | Access::Page | Access::Events, ContactToken) => {
                Some(403)
            }
        }
    }
}

#[tokio::test]
async fn every_route_with_everything_that_devices_show() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, channel_token) = library.channel("token").await;
        let acted = library.act(&channel, json!({"type": "identify", "named_user_id": "jo"})).await;
        let (contact, contact_token) = (text(&acted["contact"]["contact_id"]), text(&acted["token"]));
        let inbox = app.device().post("/api/user", json!({})).await.expect(201);
        let (user, password) = (text(&inbox["user_id"]), text(&inbox["password"]));
        for route in routes() {
            let own = route.path.replace("{channel_id}", &channel).replace("{contact_id}", &contact);
            let own = fill(&own.replace("{user_id}", &user));
            for proof in Proof::ALL {
                let headers: Headers = match proof {
                    Proof::ChannelToken => library.with_token(&channel_token),
                    Proof::ContactToken => {
                        [library.with_token(&contact_token), vec![("X-UA-Contact-ID", contact.clone())]].concat()
                    }
                    Proof::AppSignature => library.as_app(),
                    Proof::ChannelSignature => library.as_channel(&channel),
                    Proof::AppKey => vec![("X-UA-App-Key", app.app.key.clone())],
                    Proof::InboxPassword => Vec::new(),
                };
                let is_user = proof == Proof::InboxPassword;
                let caller = if is_user { app.nobody().basic(&user, &password) } else { app.nobody().clone() };
                let mut request = caller.request(route.method.clone(), &own);
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                let status = caller.open(request.body(Bytes::new()).unwrap()).await.0.status.as_u16();
                let refusal = [401, 403].contains(&status).then_some(status);
                assert_eq!(
                    refusal,
                    proof.refusal(route.access),
                    "{} {} by {proof:?}: {status}",
                    route.method,
                    route.path
                );
            }
        }
    })
    .await;
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn refusals_say_what_is_missing_and_have_the_error_body() {
    on_each_database(async |app| {
        let texts = [
            (app.nobody().clone(), "missing"),
            (app.nobody().basic(&app.app.key, "wrong"), "wrong"),
            (app.device(), "master secret"),
        ];
        for (caller, text) in texts {
            let reply = caller.post("/api/push", "{}").await;
            let body = reply.expect(401);
            assert_eq!(body["ok"], false);
            assert_eq!(body["error_code"], 40100);
            assert!(body["error"].as_str().unwrap().contains(text), "{body}");
            assert_eq!(body["operation_id"].as_str().unwrap().len(), 36);
            let content_type = reply.header("content-type");
            assert_eq!(content_type, Some("application/vnd.urbanairship+json; version=3"));
        }
        app.nobody().get("/operator/apps").await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn rotated_and_deleted_credentials_stop_working_at_once() {
    on_each_database(async |app| {
        let operator = app.operator();
        let path = format!("/operator/apps/{}", app.app.key);
        app.device().post("/api/channels", "{}").await.expect(400);
        let new = operator.post(&format!("{path}/rotate"), r#"{"secret":"app"}"#).await.expect(200);
        app.device().post("/api/channels", "{}").await.expect(401);
        let renewed = app.nobody().basic(&app.app.key, new["app_secret"].as_str().unwrap());
        renewed.post("/api/channels", "{}").await.expect(400);
        app.master().get("/api/channels").await.expect(200);
        operator.delete(&path).await.expect(204);
        app.master().get("/api/channels").await.expect(401);
        renewed.post("/api/channels", "{}").await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn bodies_of_strangers_are_not_even_asked_for() {
    on_each_database(async |app| {
        let address = app.url("").strip_prefix("http://").unwrap().to_owned();
        let ask = move || {
            let mut stream = std::net::TcpStream::connect(&address).unwrap();
            let head = "POST /api/push HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).unwrap();
            line
        };
        let line = tokio::task::spawn_blocking(ask).await.unwrap();
        assert!(line.starts_with("HTTP/1.1 401"), "{line}");
    })
    .await;
}

#[tokio::test]
async fn a_node_that_only_works_answers_about_itself_and_nothing_else() {
    on_each_database(async |app| {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let operator_token = OPERATOR_TOKEN.to_owned();
        let settings = api::Settings {
            public_url: None,
            operator_token,
            serves_api: false,
            keep_alive: api::KEEP_ALIVE,
            drain: Duration::ZERO,
            limits: api::Limits::default(),
            tls: None,
            trusted_proxies: Vec::new(),
            demo: false,
            pages: None,
        };
        let (_stop, stops) = tokio::sync::watch::channel(false);
        tokio::spawn(api::serve(listener, app.engine().clone(), settings, stops));
        let server = Caller::new(base.clone()).basic(&app.app.key, &app.app.master_secret);
        let operator = Caller::new(base).bearer(OPERATOR_TOKEN);
        for route in routes() {
            let statuses = (call(&server, &route).await.status.as_u16(), call(&operator, &route).await.status.as_u16());
            let expected = match route.access.is_on_every_node() {
                true if route.access == Access::Scrape => (401, 200),
                true => (200, 200),
                false => (503, 503),
            };
            assert_eq!(statuses, expected, "{} {}", route.method, route.path);
        }
        let refused = operator.get("/operator/apps").await.expect(503);
        assert!(refused["error"].as_str().unwrap().starts_with("This node only sends"), "{refused}");
    })
    .await;
}

/// A call in which everything that is variable looks the same, whatever it is called.
fn shape(call: &str) -> String {
    let is_variable = |segment: &&str| segment.starts_with(['<', '{']);
    let segments: Vec<&str> =
        call.split('/').map(|segment| if is_variable(&segment) { "<>" } else { segment }).collect();
    segments.join("/")
}

#[test]
fn what_devices_may_call_is_documented() {
    let document = include_str!("../../../../docs/api.md");
    let (_, rest) = document.split_once("### What devices may call\n").expect("docs/api.md has the section");
    let section = rest.split("\n### ").next().unwrap_or(rest);
    let rows = section.lines().filter(|line| line.starts_with('|'));
    let documented: BTreeSet<String> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).map(shape).collect();

    let is_for_devices = |route: &Route| match route.access {
        Access::Device
        | Access::Channel
        | Access::OwnChannel
        | Access::Page
        | Access::Signed
        | Access::Contact
        | Access::Events => true,
        Access::Probe | Access::Public | Access::Open | Access::Inbox => false,
        Access::Master | Access::Operator | Access::Scrape => false,
    };
    let served = routes().into_iter().filter(is_for_devices);
    let mut served: BTreeSet<String> = served.map(|route| shape(&format!("{} {}", route.method, route.path))).collect();
    // A word that cannot be the id of a named user there; it answers nobody.
    assert!(served.remove("POST /api/named_users/scoped"));
    assert_eq!(documented, served);
}
