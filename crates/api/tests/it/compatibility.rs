//! Every documented call of Airship is served, or refused with a sentence that says why; docs/compatibility.md lists them. The page
//! is made of the answers to requests that are meant to succeed, and of those to parts of bodies that are not, so that it cannot
//! say otherwise.

mod parts;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use api::{Route, routes};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use bytes::Bytes;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;

use crate::oauth::client;

/// Tab-separated: the group, the name of the call in its library, the method and the path.
const CALLS: &str = include_str!("compatibility/calls.tsv");
/// Tab-separated: the method, the path, the status of the answer or `2xx`, the body, and the name of the call if only that one is
/// meant.
const REQUESTS: &str = include_str!("compatibility/requests.tsv");

/// Groups of calls with their headings, and what is said about them.
const GROUPS: [(&str, &str, &str); 6] = [
    (
        "operation",
        "Operations of the API",
        "Everything that Airship's OpenAPI document for servers describes. Wallet is another product and not meant.",
    ),
    (
        "example",
        "Calls that Airship shows without describing them",
        "They are only in its examples of requests, or in a library, most of them for its own libraries and for its providers.",
    ),
    ("legacy", "Calls of older versions", "They are not in the document any more, and old programs still make them."),
    ("python", "The Python library, 7.4.1", "Every public method that makes a request."),
    ("ruby", "The Ruby library, 10.0.1", "Every public method that makes a request."),
    ("sdk", "Device libraries", "What the libraries for iOS, Android and browsers call."),
];

const HEAD: &str = "# Compatibility

Which documented calls of Airship this service has. *Served* means that a test makes the call with a request that is good, and sees it
succeed: it does here what it does there, but for the [parts of bodies](#parts-of-bodies) at the end of this page, which are refused or
without effect, and for what [the API](api.md) says of it. *Nothing there* is said of calls about things of which there are none here:
they are understood and answered with 404. Everything else is answered with the status 404, the code 40402 and the sentence in this
table, or with the status that stands before it. The test writes this page.
";

/// Of the operations of the API.
const LEAST_SERVED: usize = 125;

/// A channel that the requests are about.
const CHANNEL: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
/// Its device token.
const TOKEN: &str = "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB";

struct Call {
    group: &'static str,
    name: &'static str,
    method: &'static str,
    path: &'static str,
}

fn calls() -> Vec<Call> {
    let lines = CALLS.lines().filter(|line| !line.starts_with('#'));
    let calls = lines.map(|line| {
        let [group, name, method, path] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four cells: {line}")
        };
        Call { group, name, method, path }
    });
    calls.collect()
}

/// The path with something for every variable that exists nowhere.
fn filled(path: &str) -> String {
    let segments = path.split('/').map(|segment| match segment {
        "{platform}" | "{platform_name}" => "ios",
        "{year}" => "2030",
        "{month}" => "1",
        "{channel_id}" | "{contact_id}" | "{push_id}" | "{apid}" => "00000000-0000-4000-8000-000000000000",
        segment if segment.starts_with('{') => "nothing",
        segment => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}

/// The route that a request with a method and path gets to. A word in a path is nearer than a variable.
fn route_of<'r>(all: &'r [Route], method: &str, path: &str) -> Option<&'r Route> {
    let fits = |route: &&Route| {
        let (own, asked): (Vec<&str>, Vec<&str>) = (route.path.split('/').collect(), path.split('/').collect());
        let is_same = |(own, asked): (&&str, &&str)| own.starts_with('{') || own == asked;
        route.method == method && own.len() == asked.len() && own.iter().zip(&asked).all(is_same)
    };
    all.iter().filter(fits).min_by_key(|route| route.path.matches('{').count())
}

/// Whether a word of a documented path is taken for an id.
fn is_swallowed(documented: &str, route: &Route) -> bool {
    let pairs = documented.split('/').zip(route.path.split('/'));
    pairs.into_iter().any(|(documented, own)| own.starts_with('{') && !documented.starts_with('{'))
}

/// What a call is good for.
enum Outcome {
    Served,
    /// It is about something of which there is none here.
    NothingThere(String),
    /// Its path is served for other calls.
    Refused(u16, String),
}

impl Outcome {
    fn of(reply: &Reply) -> Self {
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let sentence = || answer["details"]["error"].as_str().or(answer["error"].as_str()).unwrap().to_owned();
        match reply.status.as_u16() {
            200..=299 => Outcome::Served,
            404 => Outcome::NothingThere(sentence()),
            status => Outcome::Refused(status, sentence()),
        }
    }

    fn in_page(&self) -> String {
        match self {
            Outcome::Served => "served".to_owned(),
            Outcome::NothingThere(sentence) => format!("nothing there: {sentence}"),
            Outcome::Refused(status, sentence) => format!("{status}: {sentence}"),
        }
    }
}

/// A path without the names of its variables, which differ from table to table.
fn pattern(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// What became of the requests, by the names of calls, methods and the patterns of paths. Most have no name.
type Outcomes = BTreeMap<(String, String, String), Outcome>;

/// Makes the requests, which are about what earlier ones have made.
async fn make_requests(app: &TestApp) -> Outcomes {
    let (client, secret, _) = client(app, json!({"name": "CRM", "role": "admin"})).await;
    let mut known: BTreeMap<String, String> = [
        ("{channel_id}", CHANNEL),
        ("{token}", TOKEN),
        ("{app_key}", app.app.key.as_str()),
        ("{platform}", "ios"),
        ("{named_user_id}", "jo"),
        ("{list}", "a"),
        ("{tag}", "t"),
        ("{type}", "app"),
        ("{external_id}", "a"),
        ("{variant}", "0"),
        ("{device_pin}", "nothing"),
        ("{region_id}", "nothing"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let mut outcomes = Outcomes::new();
    for line in REQUESTS.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap_or_default();
        let (method, path, status, body, name) = (cell(), cell(), cell(), cell(), cell());
        let fill = |text: &str| known.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
        // A body that is a text in quotes is not JSON.
        let body = serde_json::from_str(body).unwrap_or_else(|_| body.to_owned());
        let caller = match path {
            "/token" => app.nobody().basic(&client, &secret),
            path if path.starts_with("/api/user/{user_id}") => {
                app.nobody().basic(&known["{user_id}"], &known["{password}"])
            }
            _ => app.master(),
        };
        let request = caller.request(method.parse().unwrap(), &fill(path)).header("x-ua-channel-id", CHANNEL);
        let reply = caller.send(request.body(Bytes::from(fill(&body))).unwrap()).await;
        let is_expected = match status {
            "2xx" => reply.status.is_success(),
            status => reply.status.as_str() == status,
        };
        assert!(is_expected, "{method} {path} {body}: {}, not {status}: {}", reply.status, reply.text());
        let key = (name.to_owned(), method.to_owned(), pattern(path));
        outcomes.insert(key, Outcome::of(&reply));
        known.extend(learned(path, &reply));
        app.step_all().await;
    }
    outcomes
}

/// What an answer tells for later requests.
fn learned(path: &str, reply: &Reply) -> Vec<(String, String)> {
    let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let kid = || {
        let header = BASE64_URL.decode(answer["access_token"].as_str()?.split('.').next()?).ok()?;
        Some(serde_json::from_slice::<Value>(&header).ok()?["kid"].clone())
    };
    let channel = match path {
        "/api/channels" => "{apid}",
        "/api/web-channels" => "{web_channel}",
        _ => "{another_channel}",
    };
    let told = [
        (channel, answer["channel_id"].clone()),
        ("{contact_id}", answer["contact_id"].clone()),
        ("{automation_id}", if path.starts_with("/api/in-app") { answer["message_id"].clone() } else { Value::Null }),
        ("{message_id}", answer["message_ids"][0].clone()),
        ("{push_id}", if path == "/api/push" { answer["push_ids"][0].clone() } else { Value::Null }),
        ("{user_id}", answer["user_id"].clone()),
        ("{password}", answer["password"].clone()),
        ("{bulk_id}", answer["bulk_id"].clone()),
        ("{schedule_id}", answer["schedule_ids"][0].clone()),
        ("{template_id}", answer["template_id"].clone()),
        ("{segment_id}", answer["segment_id"].clone()),
        ("{experiment_id}", answer["experiment_id"].clone()),
        ("{pipeline_id}", answer["pipeline_ids"][0].clone()),
        ("{kid}", kid().unwrap_or_default()),
    ];
    told.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned()))).collect()
}

/// What a call is good for: as the request for it was answered, or else the sentence by which its path is refused.
async fn outcome(app: &TestApp, all: &[Route], outcomes: &Outcomes, call: &Call) -> String {
    let (method, path) = (call.method, filled(call.path));
    let key = |name: &str| (name.to_owned(), method.to_owned(), pattern(call.path));
    if let Some(outcome) = outcomes.get(&key(call.name)).or_else(|| outcomes.get(&key(""))) {
        // Other names of paths have no routes of their own.
        if let Some(route) = route_of(all, method, &path) {
            assert!(!is_swallowed(call.path, route), "{method} {} gets to {}", call.path, route.path);
        }
        return outcome.in_page();
    }
    let caller = app.master();
    let reply = caller.send(caller.request(method.parse().unwrap(), &path).body(Bytes::from("{}")).unwrap()).await;
    let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    assert_eq!(answer["error_code"], 40402, "{method} {path} is in requests.tsv, or not offered: {answer}");
    answer["error"].as_str().unwrap().to_owned()
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compatibility.md")
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "whoever runs the tests says with a variable that the file is to be written"
)]
async fn every_documented_call_is_served_or_refused_with_a_reason() {
    on_each_database(async |app| {
        let (all, calls) = (routes(), calls());
        let outcomes = make_requests(&app).await;
        let mut page = HEAD.to_owned();
        for (group, heading, about) in GROUPS {
            let mut rows = String::new();
            let (mut n_calls, mut n_served) = (0, 0);
            for call in calls.iter().filter(|call| call.group == group) {
                let outcome = outcome(&app, &all, &outcomes, call).await;
                n_calls += 1;
                n_served += usize::from(outcome == Outcome::Served.in_page());
                let name = if call.name.is_empty() { String::new() } else { format!("{}: ", call.name) };
                writeln!(rows, "| {name}`{} {}` | {outcome} |", call.method, call.path).unwrap();
            }
            assert!(group != "operation" || n_served >= LEAST_SERVED, "{n_served} operations are served");
            write!(page, "\n## {heading}\n\n{about} {n_served} of {n_calls} are served.\n\n| call | here |\n|---|---|\n{rows}")
                .unwrap();
        }
        page += &parts::table(&app).await;
        if std::env::var_os("UPDATE_COMPATIBILITY").is_some() {
            fs::write(file(), &page).unwrap();
        }
        let kept = fs::read_to_string(file()).unwrap_or_default();
        let help = "docs/compatibility.md is out of date; run UPDATE_COMPATIBILITY=1 cargo test -p api --test it compatibility";
        assert!(kept == page, "{help}");
    })
    .await;
}

#[tokio::test]
async fn refused_calls_say_so_with_every_method_and_without_credentials() {
    on_each_database(async |app| {
        for (method, path, word) in [
            ("POST", "/api/channels/email", "open platform"),
            ("PUT", "/api/channels/email/x", "open platform"),
            ("GET", "/api/channels/sms/1/2", "open platform"),
            ("GET", "/api/channels/resend", "confirmations"),
            ("POST", "/api/channels/resend/", "confirmations"),
            ("POST", "/api/attachments", "email"),
            ("POST", "/api/events/general", "compliance"),
            ("PUT", "/api/channels/import", "POST"),
            ("POST", "/api/push/batch", "array"),
        ] {
            let request = app.nobody().request(method.parse().unwrap(), path).body(Bytes::new()).unwrap();
            let refused = app.nobody().send(request).await;
            let answer = refused.expect(404);
            assert_eq!(answer["error_code"], 40402, "{path}: {answer}");
            assert!(answer["error"].as_str().unwrap().contains(word), "{path}: {answer}");
        }
    })
    .await;
}
