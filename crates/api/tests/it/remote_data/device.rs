//! A device that reads remote data as the libraries of version 20 do: it demands what their parsers demand, schedules by their rule
//! of newness, and evaluates triggers and flags.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use http::Method;
use serde_json::{Map, Value};
use testkit::app::TestApp;
use testkit::client::Reply;

/// Types of event triggers that the libraries count here.
const TRIGGERS: [&str; 6] =
    ["foreground", "background", "app_init", "screen", "custom_event_count", "feature_flag_interaction"];

pub(super) struct Device<'a> {
    app: &'a TestApp,
    path: String,
    modified: Option<String>,
    /// Of the payload with in-app messages that was processed last.
    processed: Option<String>,
    schedules: BTreeMap<String, Value>,
    payloads: BTreeMap<String, Map<String, Value>>,
    pub(super) tags: BTreeSet<&'static str>,
}

impl<'a> Device<'a> {
    pub(super) fn new(app: &'a TestApp, platform: &str, query: &str) -> Self {
        let path = format!("/api/remote-data/app/{}/{platform}?random_value=42&{query}", app.app.key);
        let (schedules, payloads) = (BTreeMap::new(), BTreeMap::new());
        Self { app, path, modified: None, processed: None, schedules, payloads, tags: BTreeSet::new() }
    }

    pub(super) async fn ask(&self, headers: &[(&str, &str)]) -> Reply {
        let mut request = self.app.nobody().request(Method::GET, &self.path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.app.nobody().send(request.body(Bytes::new()).unwrap()).await
    }

    /// Returns whether there was anything new.
    pub(super) async fn refresh(&mut self) -> bool {
        let known: Vec<_> = self.modified.iter().map(|known| ("If-Modified-Since", known.as_str())).collect();
        let reply = self.ask(&known).await;
        if reply.status == 304 {
            return false;
        }
        self.modified = Some(reply.header("last-modified").unwrap().to_owned());
        let body = reply.expect(200);
        let mut payloads = BTreeMap::new();
        for payload in body["payloads"].as_array().unwrap() {
            let timestamp = date(&payload["timestamp"]);
            let (kind, data) = (payload["type"].as_str().unwrap(), payload["data"].as_object().unwrap());
            if kind == "in_app_messages" {
                self.process(&timestamp, data);
            }
            payloads.insert(kind.to_owned(), data.clone());
        }
        // A success replaces everything.
        self.payloads = payloads;
        true
    }

    fn process(&mut self, timestamp: &str, data: &Map<String, Value>) {
        let constraints: Vec<&str> = data["frequency_constraints"].as_array().unwrap().iter().map(constraint).collect();
        let mut listed = BTreeSet::new();
        for schedule in data["in_app_messages"].as_array().unwrap() {
            let id = schedule["id"].as_str().unwrap().to_owned();
            let created = date(&schedule["created"]);
            check_schedule(schedule, &constraints);
            let is_new = self.processed.as_ref().is_none_or(|processed| created > *processed);
            if self.schedules.contains_key(&id) || is_new {
                self.schedules.insert(id.clone(), schedule.clone());
            }
            listed.insert(id);
        }
        self.schedules.retain(|id, _| listed.contains(id));
        self.processed = Some(timestamp.to_owned());
    }

    pub(super) fn scheduled(&self) -> BTreeSet<&str> {
        self.schedules.keys().map(String::as_str).collect()
    }

    pub(super) fn schedule(&self, id: &str) -> &Value {
        &self.schedules[id]
    }

    pub(super) fn payload(&self, kind: &str) -> Option<&Map<String, Value>> {
        self.payloads.get(kind)
    }

    /// The messages that a custom event sets off.
    pub(super) fn on_custom_event(&self, event: &Value) -> Vec<String> {
        let is_set_off = |schedule: &Value| {
            schedule["triggers"].as_array().unwrap().iter().any(|trigger| {
                trigger["type"] == "custom_event_count"
                    && trigger["goal"] == 1
                    && trigger.get("predicate").is_none_or(|predicate| holds(predicate, event))
            })
        };
        self.schedules.iter().filter(|(_, schedule)| is_set_off(schedule)).map(|(id, _)| id.clone()).collect()
    }

    /// The answer of a static flag, as the app gets it: whether it is on, its values, and what is reported.
    pub(super) fn flag(&self, name: &str) -> Option<(bool, Value, Value)> {
        let all = self.payloads["feature_flags"]["feature_flags"].as_array().unwrap();
        let named: Vec<&Value> = all.iter().filter(|flag| flag["flag"]["name"] == name).collect();
        for flag in &named {
            date(&flag["created"]);
            date(&flag["last_updated"]);
            assert!(flag["flag_id"].is_string() && flag["flag"]["reporting_metadata"].is_object());
        }
        let decides = |flag: &&&Value| self.is_meant(&flag["flag"]["audience_selector"]);
        let deciding = named.iter().find(decides).or_else(|| named.last())?;
        let flag = &deciding["flag"];
        assert_eq!(flag["type"], "static");
        let is_on = self.is_meant(&flag["audience_selector"]);
        let of_variant = flag["variables"]["variants"].as_array().into_iter().flatten().find(|variant| {
            assert!(variant["id"].is_string());
            self.is_meant(&variant["audience_selector"])
        });
        let (data, metadata) = match of_variant {
            Some(variant) => (&variant["data"], &variant["reporting_metadata"]),
            None => (&flag["variables"]["data"], &flag["reporting_metadata"]),
        };
        assert!(metadata.is_object());
        Some((is_on, data.clone(), metadata.clone()))
    }

    fn is_meant(&self, audience: &Value) -> bool {
        audience.get("tags").is_none_or(|tags| self.has_tags(tags))
    }

    fn has_tags(&self, tags: &Value) -> bool {
        match tags["tag"].as_str() {
            Some(tag) => self.tags.contains(tag),
            None => !self.has_tags(&tags["not"]),
        }
    }
}

/// A date that all libraries read: seconds, and no zone.
fn date(value: &Value) -> String {
    let text = value.as_str().unwrap();
    assert!(text.len() == 19 && text.as_bytes()[10] == b'T', "{text}");
    text.to_owned()
}

fn constraint(value: &Value) -> &str {
    assert!(value["range"].as_u64().unwrap() >= 1 && value["boundary"].is_u64());
    assert!(["seconds", "minutes", "hours", "days", "months", "years"].contains(&value["period"].as_str().unwrap()));
    value["id"].as_str().unwrap()
}

fn check_schedule(schedule: &Value, constraints: &[&str]) {
    date(&schedule["last_updated"]);
    let triggers = schedule["triggers"].as_array().unwrap();
    assert!(triggers.len() <= 10);
    for trigger in triggers {
        assert!(trigger["id"].is_string() && trigger["goal"].is_number(), "{trigger}");
        assert!(TRIGGERS.contains(&trigger["type"].as_str().unwrap()), "{trigger}");
    }
    for id in schedule["frequency_constraint_ids"].as_array().into_iter().flatten() {
        assert!(constraints.contains(&id.as_str().unwrap()));
    }
    for key in ["server_audience", "localizations", "requires_eligibility"] {
        assert!(schedule.get(key).is_none(), "{key} is not for devices");
    }
    match schedule["type"].as_str().unwrap() {
        "in_app_message" => check_message(&schedule["message"]),
        "deferred" => {
            assert!(schedule["deferred"]["url"].as_str().unwrap().starts_with("http"));
            assert!(["in_app_message", "actions"].contains(&schedule["deferred"]["type"].as_str().unwrap()));
        }
        "actions" => assert!(schedule["actions"].is_object()),
        other => panic!("{other} is no type"),
    }
}

pub(super) fn check_message(message: &Value) {
    let display = message["display"].as_object().unwrap();
    let text = |key: &str| display.get(key).is_some_and(|info| !info["text"].as_str().unwrap().is_empty());
    match message["display_type"].as_str().unwrap() {
        "banner" => assert!(display["duration"].as_f64().unwrap() > 0.0),
        "modal" | "fullscreen" => {}
        "layout" => return assert!(display["layout"]["version"].is_u64()),
        other => panic!("{other} is not in these tests"),
    }
    assert!(text("heading") || text("body"), "{message}");
    for button in display.get("buttons").and_then(Value::as_array).into_iter().flatten() {
        assert!((1..=100).contains(&button["id"].as_str().unwrap().len()));
        assert!(button["label"]["text"].is_string());
    }
}

/// Predicates as far as these tests have them.
fn holds(predicate: &Value, value: &Value) -> bool {
    if let Some(all) = predicate["and"].as_array() {
        return all.iter().all(|one| holds(one, value));
    }
    let found = predicate["key"].as_str().map_or(Some(value), |key| value.get(key));
    found == predicate["value"].get("equals")
}
