//! Which pipelines can be read, the problems of the others, and which events selectors match.

use serde_json::{Value, json};

use super::*;
use crate::event::{Custom, Region};
use crate::json::{At, parse};
use crate::tag::{Tag, TagGroup};

fn read(body: &Value) -> Result<Pipeline, Vec<(String, String)>> {
    parse(body.to_string().as_bytes(), Pipeline::parse)
        .map_err(|problems| problems.iter().map(|p| (p.path.clone(), p.message.clone())).collect())
}

fn push() -> Value {
    json!({"audience": "triggered", "device_types": "all", "notification": {"alert": "Hello"}})
}

fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut body = json!({"enabled": true, "immediate_trigger": "first_open", "outcome": {"push": push()}});
    change(&mut body);
    body
}

fn triggers(trigger: Value) -> Vec<Happening> {
    let pipeline = read(&with(|body| body["immediate_trigger"] = trigger)).unwrap();
    pipeline.immediate.into_iter().map(|trigger| trigger.happening).collect()
}

#[test]
fn a_pipeline_is_printed_as_it_was_sent() {
    let mut body = with(|body| {
        body["name"] = json!("Welcome");
        body["immediate_trigger"] = json!([{"tag_added": "new", "group": "crm", "id": "t1"}, "open"]);
        body["cancellation_trigger"] = json!({"custom_event": {"key": "name", "value": {"equals": "bought"}}});
        body["timing"] = json!({"delay": {"seconds": 90}});
        body["constraint"] = json!([{"rate": {"pushes": 1, "days": 2}}]);
        body["condition"] = json!({"or": [{"tag": {"tag_name": "x", "negated": true}}]});
        body["activation_time"] = json!("2030-01-01T00:00:00");
    });
    let pipeline = read(&body).unwrap();
    assert_eq!(serde_json::to_value(&pipeline).unwrap(), body);
    assert_eq!((pipeline.delay.as_secs(), pipeline.immediate.len(), pipeline.rates.len()), (90, 2, 1));
    assert_eq!(read(&serde_json::to_value(&pipeline).unwrap()).unwrap(), pipeline);
    let printed = body.clone();
    for key in READ_ONLY {
        body[key] = json!("whatever");
    }
    assert_eq!(serde_json::to_value(read(&body).unwrap()).unwrap(), printed);
}

#[test]
fn a_push_may_stand_in_place_of_its_outcome() {
    let flat = |outcome: Value| with(|body| body["outcome"] = outcome);
    let body = flat(json!({"device_types": "all", "notification": {"alert": "Hello"}, "delay": 60}));
    let mut pipeline = read(&body).unwrap();
    assert_eq!((serde_json::to_value(&pipeline.outcomes[0]).unwrap(), pipeline.delay.as_secs()), (push(), 60));
    let usual = json!({"push": push(), "delay": 60});
    assert_eq!(serde_json::to_value(&pipeline).unwrap(), with(|body| body["outcome"] = usual.clone()));
    assert!(pipeline.has_flat_outcome(0));
    pipeline.reprint_outcomes().unwrap();
    assert_eq!(serde_json::to_value(&pipeline).unwrap()["outcome"], usual);
    assert!(pipeline.has_flat_outcome(0), "the paths of its problems stay");

    for (outcome, path) in [
        (json!({"device_types": "all", "notification": {"alert": 1}}), "outcome.notification.alert"),
        (json!({"device_types": "all"}), "outcome.notification"),
        (json!({"notification": {"alert": "Hello"}}), "outcome.push"),
        (json!({"device_types": "all", "notification": {"alert": "x"}, "audience": "all"}), "outcome.audience"),
        (
            json!([{"push": push()}, {"device_types": "all", "notification": {"alert": "x"}, "delay": -1}]),
            "outcome[1].delay",
        ),
    ] {
        let problems = read(&flat(outcome.clone())).unwrap_err();
        assert!(problems.iter().any(|(found, _)| found == path), "{outcome}: {problems:?}");
    }
}

#[test]
fn triggers_have_several_forms() {
    let tag = |group: &str, tag: &str| Happening::TagAdded {
        group: TagGroup::new(group).unwrap(),
        tag: Tag::new(tag).unwrap(),
    };
    assert_eq!(triggers(json!("first_open")), [Happening::FirstOpen]);
    assert_eq!(triggers(json!({"tag_added": "new"})), [tag("device", "new")]);
    assert_eq!(triggers(json!({"tag_added": "new", "group": "crm"})), [tag("crm", "new")]);
    assert_eq!(triggers(json!({"tag_added": {"tag": "new", "group": "crm"}})), [tag("crm", "new")]);
    assert_eq!(triggers(json!([{"tag_added": "a"}, "first_open"])), [tag("device", "a"), Happening::FirstOpen]);
    let lists = triggers(json!([{"subscription_added": "weekly"}, {"subscription_removed": "weekly"}]));
    assert!(matches!(lists.as_slice(), [Happening::SubscriptionAdded(_), Happening::SubscriptionRemoved(_)]));
}

#[test]
fn the_delay_of_the_outcome_wins() {
    let delay = |body: Value| read(&body).unwrap().delay.as_secs();
    assert_eq!(delay(with(|_| {})), 0);
    assert_eq!(delay(with(|body| body["outcome"]["delay"] = json!(3600))), 3600);
    assert_eq!(delay(with(|body| body["timing"] = json!({"delay": {"seconds": 1}}))), 1);
    let both = with(|body| {
        body["outcome"]["delay"] = json!(86400);
        body["timing"] = json!({"delay": {"seconds": 1}});
    });
    assert_eq!(delay(both), 86400);
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let cases: Vec<(&str, Value)> = vec![
        ("enabled", with(|body| drop(body.as_object_mut().unwrap().remove("enabled")))),
        ("immediate_trigger", with(|body| drop(body.as_object_mut().unwrap().remove("immediate_trigger")))),
        ("immediate_trigger", with(|body| body["immediate_trigger"] = json!("double_opt_in"))),
        (
            "immediate_trigger.condition.and[0].tag",
            with(|body| body["immediate_trigger"] = json!({"tag_added": "a", "condition": {"and": [{}]}})),
        ),
        ("immediate_trigger", with(|body| body["immediate_trigger"] = json!("sneeze"))),
        ("immediate_trigger", with(|body| body["immediate_trigger"] = json!({"group": "x"}))),
        ("immediate_trigger.double_opt_in", with(|body| body["immediate_trigger"] = json!({"double_opt_in": {}}))),
        (
            "immediate_trigger.tag_removed",
            with(|body| body["immediate_trigger"] = json!({"tag_added": "a", "tag_removed": "b"})),
        ),
        ("outcome.push.audience", with(|body| body["outcome"]["push"]["audience"] = json!("all"))),
        ("outcome.push.audience", with(|body| body["outcome"]["push"]["audience"] = json!({"tag": "x"}))),
        ("outcome.delay", with(|body| body["outcome"]["delay"] = json!(-1))),
        ("outcome", with(|body| body["outcome"] = json!([{"push": push()}, {"push": push(), "delay": 60}]))),
        ("timing.delay.seconds", with(|body| body["timing"] = json!({"delay": {"seconds": 0}}))),
        ("timing.schedule.dayparts", with(|body| body["timing"] = json!({"schedule": {"dayparts": []}}))),
        ("cancellation_trigger", with(|body| body["cancellation_trigger"] = json!({"tag_added": "x"}))),
        ("cancellation_trigger", with(|body| body["cancellation_trigger"] = json!("first_open"))),
        ("condition.and[0]", with(|body| body["condition"] = json!({"and": [{"or": []}]}))),
        ("constraint.rate", with(|body| body["constraint"] = json!({"rate": {"pushes": 1, "days": 1, "hours": 1}}))),
        ("constraint.rate.days", with(|body| body["constraint"] = json!({"rate": {"pushes": 1, "days": 91}}))),
        (
            "historical_trigger.days",
            with(|body| body["historical_trigger"] = json!({"event": "open", "equals": 0, "days": 91})),
        ),
        (
            "historical_trigger",
            with(|body| {
                body["historical_trigger"] = json!({"event": "open", "equals": 0, "days": 7});
                body["outcome"]["delay"] = json!(60);
            }),
        ),
        (
            "deactivation_time",
            with(|body| {
                body["activation_time"] = json!("2030-01-02T00:00:00");
                body["deactivation_time"] = json!("2030-01-01T00:00:00");
            }),
        ),
        ("color", with(|body| body["color"] = json!("red"))),
    ];
    for (path, body) in cases {
        let problems = read(&body).unwrap_err();
        assert!(problems.iter().any(|(found, _)| found == path), "{path}: {problems:?}");
        assert!(problems.iter().all(|(_, message)| message.ends_with('.')), "{problems:?}");
    }
}

#[test]
fn the_status_follows_from_the_times() {
    let at = |text: &str| UtcMillis::parse_api(text).unwrap();
    let body = with(|body| {
        body["activation_time"] = json!("2030-01-01T00:00:00");
        body["deactivation_time"] = json!("2030-01-02T00:00:00");
    });
    let mut pipeline = read(&body).unwrap();
    for (now, status) in [
        ("2029-12-31T23:59:59", PipelineStatus::Pending),
        ("2030-01-01T00:00:00", PipelineStatus::Live),
        ("2030-01-02T00:00:00", PipelineStatus::Completed),
    ] {
        assert_eq!(pipeline.status(at(now)), status, "{now}");
    }
    pipeline.enabled = false;
    assert_eq!(pipeline.status(at("2030-01-01T00:00:00")), PipelineStatus::Disabled);
}

#[test]
fn event_selectors_look_into_events() {
    let event = json!({
        "name": "bought", "source": "SDK", "value": 12.5, "transaction": "t7",
        "properties": {"color": "red", "sizes": ["s", "m"], "n": 3, "gift": true},
    });
    let event: Custom = serde_json::from_str(&event.to_string()).unwrap();
    let property = |key: &str, value: Value| json!({"key": key, "scope": "properties", "value": value});
    let name = |name: &str| json!({"key": "name", "value": {"equals": name}});
    for (is_match, selector) in [
        (true, name("bought")),
        (false, name("sold")),
        (true, json!({"key": "value", "value": {"at_least": 12.5, "less_than": 13}})),
        (false, json!({"key": "value", "value": {"greater_than": 12.5}})),
        (false, json!({"key": "interaction_id", "value": {"equals": "x"}})),
        (true, json!({"not": {"key": "interaction_id", "value": {"equals": "x"}}})),
        (true, property("color", json!({"equals": "red"}))),
        (true, property("n", json!({"equals": 3.0}))),
        (true, property("gift", json!({"equals": true}))),
        (true, property("sizes", json!({"array_contains": "m"}))),
        (false, property("sizes", json!({"array_contains": "l"}))),
        (true, json!({"and": [name("bought"), {"or": [name("x"), property("n", json!({"at_most": 3}))]}]})),
        (false, json!({"and": [name("bought"), name("sold")]})),
        (true, json!({"AND": [name("bought"), {"Not": {"OR": [name("x"), name("y")]}}]})),
    ] {
        let read = |at: &At<'_>| EventSelector::parse(at, event_selector::Vocabulary::Custom);
        let parsed = parse(selector.to_string().as_bytes(), read).unwrap();
        assert_eq!(parsed.matches(Subject::Custom(&event)), is_match, "{selector}");
    }
    let region = json!({
        "action": "enter", "region_id": "r1", "source_info": {"source": "gimbal", "region_id": "x"},
    });
    let region: Region = serde_json::from_str(&region.to_string()).unwrap();
    let selector = json!({"key": "region_id", "value": {"equals": "r1"}});
    let read = |at: &At<'_>| EventSelector::parse(at, event_selector::Vocabulary::Region);
    assert!(parse(selector.to_string().as_bytes(), read).unwrap().matches(Subject::Region(&region)));
    for selector in [
        json!({"key": "value", "value": {"equals": 1}}),
        json!({"key": "region_id", "value": {}}),
        json!({"key": "region_id", "value": {"at_least": 2, "at_most": 1}}),
        json!({"and": []}),
    ] {
        parse(selector.to_string().as_bytes(), read).unwrap_err();
    }
}
