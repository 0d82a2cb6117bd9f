//! A push that somebody follows at a terminal.

use serde_json::json;
use testkit::client::Caller;

use crate::operator_story::{APP_SECRET, KEY, Story, register};
use crate::terminal::Terminal;

/// The beginning of the bar: the state of the push, and how many devices are not reached.
const BAR: &str = "sending, 1 not reached [";

#[test]
fn the_bar_tells_failures_rate_and_time_left() {
    let story = Story::begin();
    register(&story.server.url);
    register_phone(&story.server.url);
    // The message to one device is refused, and that to the other waits for as long as the bar is looked at.
    let faults = json!({"faults": [{"answer": "refused", "device_type": "android"}]}).to_string();
    story.says(&["api", "PUT", "/api/sandbox/faults", "-d", &faults]);
    story.says(&["platform", "pause", KEY, "apns"]);
    let mut command = story.command(&["push", "Hello", "--audience", "all", "--yes", "--follow"]);
    // Bars are drawn only where it is known how.
    command.env("TERM", "xterm");
    let mut terminal = Terminal::start(command);
    terminal.wait_for(BAR);
    story.says(&["platform", "resume", KEY, "apns"]);
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");

    let (_, drawn) = shown.split_once(BAR).unwrap();
    let (bar, figures) = drawn.split_once("] ").unwrap_or_else(|| panic!("{shown}"));
    assert!(bar.contains('#') && bar.contains('-'), "half of it is done: {bar}");
    let (figures, _) = figures.split_once(" left").unwrap_or_else(|| panic!("{shown}"));
    let parts: Vec<&str> = figures.split(", ").collect();
    let [position, rate, time] = parts[..] else { panic!("{figures}") };
    assert_eq!(position, "1 of 2");
    let rate = rate.strip_suffix("/s").map(|rate| rate.replace(',', ""));
    assert!(rate.is_some_and(|rate| rate.parse::<f64>().is_ok_and(f64::is_finite)), "{figures}");
    let time = time.trim_end_matches(|unit: char| unit.is_ascii_lowercase());
    assert!(time.parse::<u64>().is_ok(), "{figures}");
    // The bar is gone in the end, and what became of the devices is there instead.
    let (_, end) = shown.rsplit_once("done").unwrap();
    assert!(end.contains("PLATFORM") && end.contains("REASON") && end.contains("total"), "{shown}");
}

#[tokio::main(flavor = "current_thread")]
async fn register_phone(url: &str) {
    let channel = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "ab".repeat(32)}});
    Caller::new(url.to_owned()).basic(KEY, APP_SECRET).post("/api/channels", channel).await.expect(201);
}
