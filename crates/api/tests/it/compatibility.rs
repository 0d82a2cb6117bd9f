//! Every documented call of Airship is served, or refused with a sentence that says why; docs/compatibility.md lists them. The page
//! is made of the answers, so that it cannot say otherwise.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use api::{Route, routes};
use bytes::Bytes;
use serde_json::Value;
use testkit::app::{TestApp, on_each_database};

/// Tab-separated: the group, the name of the call in its library, the method and the path.
const CALLS: &str = include_str!("compatibility/calls.tsv");

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
        "They are in its examples of requests only, most of them for its own libraries and for its providers.",
    ),
    ("legacy", "Calls of older versions", "They are not in the document any more, and old programs still make them."),
    ("python", "The Python library, 7.4.1", "Every public method that makes a request."),
    ("ruby", "The Ruby library, 10.0.1", "Every public method that makes a request."),
    ("sdk", "Device libraries", "What the libraries for iOS, Android and browsers call."),
];

const HEAD: &str = "# Compatibility

Which documented calls of Airship this service has. *Served* means that the call does here what it does there, as far as
[the API](api.md) says; everything else is answered with the status 404, the code 40402 and the sentence in this table. A test makes
every call and writes this page.
";

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

/// The sentence of a refusal, or `None` for a call that is served.
async fn refusal(app: &TestApp, all: &[Route], call: &Call) -> Option<String> {
    let (method, path) = (call.method, filled(call.path));
    let caller = app.master();
    let request = caller.request(method.parse().unwrap(), &path).body(Bytes::from("{}")).unwrap();
    let reply = caller.send(request).await;
    let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    assert_ne!(reply.status, 405, "{method} {path}");
    match answer["error_code"].as_u64() {
        Some(40400) => panic!("{method} {path} is answered with a plain 404"),
        Some(40402) => Some(answer["error"].as_str().unwrap().to_owned()),
        Some(_) | None => {
            if let Some(route) = route_of(all, method, &path) {
                assert!(!is_swallowed(call.path, route), "{method} {} gets to {}", call.path, route.path);
            }
            None
        }
    }
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
        let mut page = HEAD.to_owned();
        for (group, heading, about) in GROUPS {
            let mut rows = String::new();
            let (mut n_calls, mut n_served) = (0, 0);
            for call in calls.iter().filter(|call| call.group == group) {
                let refusal = refusal(&app, &all, call).await;
                n_calls += 1;
                n_served += usize::from(refusal.is_none());
                let name = if call.name.is_empty() { String::new() } else { format!("{}: ", call.name) };
                let outcome = refusal.unwrap_or_else(|| "served".to_owned());
                writeln!(rows, "| {name}`{} {}` | {outcome} |", call.method, call.path).unwrap();
            }
            write!(page, "\n## {heading}\n\n{about} {n_served} of {n_calls} are served.\n\n| call | here |\n|---|---|\n{rows}")
                .unwrap();
        }
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
            ("GET", "/api/device_tokens/feedback/", "UNINSTALL"),
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
