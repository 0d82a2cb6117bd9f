//! Tests of the audience grammar: which audiences are read and printed back, which are refused and where.

use super::*;
use crate::json;

const UUID: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

fn read(body: &str) -> Result<Audience, Vec<String>> {
    json::parse(body.as_bytes(), |at| Audience::parse(at, Purpose::Send))
        .map_err(|problems| problems.iter().map(|problem| problem.path.clone()).collect())
}

fn prints_back(body: &str) {
    let audience = read(body).unwrap_or_else(|paths| panic!("{body}: {paths:?}"));
    assert_eq!(serde_json::to_string(&audience).unwrap(), body);
}

fn refused(body: &str, path: &str) {
    let paths = read(body).expect_err(body);
    assert_eq!(paths[0], path, "{body}");
}

#[test]
fn words() {
    for body in [r#""all""#, r#""ALL""#, r#""All""#] {
        prints_back(body);
    }
    refused(r#""triggered""#, "");
    refused(r#""everyone""#, "");
    refused("null", "");
    for body in [r#""triggered""#, r#""TRIGGERED""#] {
        let audience = json::parse(body.as_bytes(), |at| Audience::parse(at, Purpose::Pipeline));
        assert_eq!(serde_json::to_string(&audience.unwrap()).unwrap(), body);
    }
}

#[test]
fn atomic_selectors_print_back() {
    prints_back(r#"{"tag":"news"}"#);
    prints_back(r#"{"tag":["news","sports"],"group":"loyalty","tag_class":"device"}"#);
    for key in ["segment", "channel", "ios_channel", "android_channel", "amazon_channel", "web_channel"] {
        prints_back(&format!(r#"{{"{key}":"{UUID}"}}"#));
        prints_back(&format!(r#"{{"{key}":["{UUID}"]}}"#));
        refused(&format!(r#"{{"{key}":"{}"}}"#, UUID.replace('-', "")), key);
    }
    for key in [
        "named_user",
        "alias",
        "static_list",
        "subscription_list",
        "subscription_lists",
        "open_channel",
        "apid",
        "wns",
        "mpns",
        "device_pin",
        "sms_sender",
    ] {
        prints_back(&format!(r#"{{"{key}":"x"}}"#));
        prints_back(&format!(r#"{{"{key}":["x","y"]}}"#));
        refused(&format!(r#"{{"{key}":""}}"#), key);
        refused(&format!(r#"{{"{key}":[]}}"#), key);
        refused(&format!(r#"{{"{key}":"x","group":"y"}}"#), "group");
        // Databases choke on NUL, and no real name has a control character.
        refused(&format!(r#"{{"{key}":"a\u0000b"}}"#), key);
        refused(&format!(r#"{{"{key}":["x","a\u007fb"]}}"#), &format!("{key}[1]"));
    }
    refused(r#"{"attribute":"a\u0000b","operator":"equals","value":"x"}"#, "attribute");
    prints_back(r#"{"sms_id":{"msisdn":"15035550100","sender":"12345"}}"#);
    refused(r#"{"sms_id":{"msisdn":"+15035550100","sender":"12345"}}"#, "sms_id.msisdn");
    refused(r#"{"sms_id":{"msisdn":"15035550100"}}"#, "sms_id.sender");
}

#[test]
fn ids_have_one_letter_case() {
    let upper = read(&format!(r#"{{"ios_channel":"{}"}}"#, UUID.to_uppercase())).unwrap();
    assert_eq!(upper, read(&format!(r#"{{"ios_channel":"{UUID}"}}"#)).unwrap());
    let token = "0a".repeat(32);
    let lower = read(&format!(r#"{{"device_token":"{token}"}}"#)).unwrap();
    assert_eq!(serde_json::to_string(&lower).unwrap(), format!(r#"{{"device_token":"{}"}}"#, token.to_uppercase()));
    refused(r#"{"device_token":"0a"}"#, "device_token");
    refused(&format!(r#"{{"device_token":["{token}","x"]}}"#), "device_token[1]");
}

#[test]
fn compounds_keep_their_spelling() {
    prints_back(r#"{"AND":[{"tag":"a"},{"Or":[{"tag":"b"},{"not":{"tag":"c"}}]},{"NOT":[{"tag":"d"}]}]}"#);
    refused(r#"{"and":[]}"#, "and");
    refused(r#"{"or":{"tag":"a"}}"#, "or");
    refused(r#"{"not":[{"tag":"a"},{"tag":"b"}]}"#, "not");
    refused(r#"{"not":"all"}"#, "not");
    refused(r#"{"or":[{"tag":"a"},"ALL"]}"#, "or[1]");
    refused(r#"{"or":[{"tag":"a"},3]}"#, "or[1]");
    refused(r#"{"nor":[{"tag":"a"}]}"#, "nor");
}

#[test]
fn one_head_per_object() {
    refused("{}", "");
    refused(r#"{"group":"x"}"#, "group");
    refused(r#"{"tag":"a","segment":"b"}"#, "segment");
    refused(r#"{"and":[{"tag":"a"}],"or":[{"tag":"a"}]}"#, "or");
    refused(r#"{"and":[{"tag":"a"}],"AND":[{"tag":"a"}]}"#, "AND");
    refused(r#"{"and":[{"tag":"a"}],"group":"x"}"#, "group");
    refused(r#"{"tag":"a","tag":"b"}"#, "tag");
    assert_eq!(read(r#"{"or":[{"tag":1},{"tag":""},{"x":2}]}"#).unwrap_err(), ["or[0].tag", "or[1].tag", "or[2].x"]);
}

#[test]
fn sizes_are_limited() {
    let many = |n| format!(r#"{{"tag":[{}]}}"#, vec![r#""a""#; n].join(","));
    prints_back(&many(100));
    refused(&many(101), "tag");

    let wide = |n| format!(r#"{{"or":[{}]}}"#, vec![r#"{"tag":"a"}"#; n].join(","));
    prints_back(&wide(1000));
    assert_eq!(read(&wide(1001)).unwrap_err(), ["or"]);
    let two_wide = |n| format!(r#"{{"AND":[{},{}]}}"#, wide(600), wide(n));
    prints_back(&two_wide(400));
    assert_eq!(read(&two_wide(402)).unwrap_err(), ["AND[1].or[400]"], "the first too many, once");
    let each_excluded = vec![r#"{"not":{"tag":"a"}}"#; 1000].join(",");
    prints_back(&format!(r#"{{"and":[{each_excluded}]}}"#));

    let deep = |n| format!(r#"{}{{"tag":"a"}}{}"#, r#"{"not":"#.repeat(n), "}".repeat(n));
    prints_back(&deep(50));
    assert_eq!(read(&deep(51)).unwrap_err(), [["not"; 51].join(".")]);
    assert_eq!(read(&deep(10_000)).unwrap_err(), [""]);
}

#[test]
fn attributes() {
    for body in [
        r#"{"attribute":"loyalty","operator":"equals","value":"gold"}"#,
        r#"{"attribute":"points","operator":"greater","value":7.5}"#,
        r#"{"attribute":"points","operator":"less","value":"7"}"#,
        r#"{"attribute":"points","operator":"is_empty"}"#,
        r#"{"attribute":"born","operator":"equals","value":"02-29","precision":"month_day"}"#,
        r#"{"attribute":"born","operator":"equals","value":"now","precision":"day"}"#,
        r#"{"attribute":"born","operator":"equals","value":7,"precision":"month"}"#,
        r#"{"attribute":"born","operator":"before","value":"2020-01-31T12:00:00+02:00"}"#,
        r#"{"attribute":"born","operator":"after","value":14,"precision":"days","relative_to":"future"}"#,
        r#"{"attribute":"born","operator":"equals","value":"4","precision":"days","relative_to":"future"}"#,
        r#"{"attribute":"born","operator":"equals","value":"now","precision":"months"}"#,
        r#"{"attribute":"born","operator":"after","value":"14","precision":"hours"}"#,
        r#"{"attribute":"born","operator":"after","value":"now"}"#,
        r#"{"attribute":"born","operator":"range","value":"2020-01-01/2020-02-01T00:00:00Z"}"#,
        r#"{"attribute":"cart#1","where":{"property":"$.items[0]","operator":"not_contains","value":true,"compare_as":"boolean"}}"#,
    ] {
        prints_back(body);
    }
    for (body, path) in [
        (r#"{"attribute":"a"}"#, "operator"),
        (r#"{"attribute":"a","operator":"near","value":1}"#, "operator"),
        (r#"{"attribute":"a","operator":"not_empty"}"#, "operator"),
        (r#"{"attribute":"a","operator":"is_empty","value":[1]}"#, "value"),
        (r#"{"attribute":"a","operator":"is_empty","value":{}}"#, "value"),
        (r#"{"attribute":"a","operator":"equals"}"#, "value"),
        (r#"{"attribute":"a","operator":"equals","value":true}"#, "value"),
        (r#"{"attribute":"a","operator":"equals","value":"13-01","precision":"month_day"}"#, "value"),
        (r#"{"attribute":"a","operator":"before","value":3}"#, "precision"),
        (r#"{"attribute":"a","operator":"equals","value":"soon","precision":"days"}"#, "value"),
        (
            r#"{"attribute":"a","operator":"equals","value":"02-29","precision":"month_day","relative_to":"past"}"#,
            "relative_to",
        ),
        (r#"{"attribute":"a","operator":"before","value":"soon"}"#, "value"),
        (r#"{"attribute":"a","operator":"range","value":"2020-02-01/2020-01-01"}"#, "value"),
        (r#"{"attribute":"a","operator":"range","value":"2020-02-01"}"#, "value"),
        (r#"{"attribute":"a","operator":"contains","value":"x","precision":"days"}"#, "precision"),
        (r#"{"attribute":"a","where":{"operator":"not_empty"}}"#, "where.property"),
        (r#"{"attribute":"a","where":{"property":"p","operator":"not_empty"},"value":1}"#, "value"),
    ] {
        refused(body, path);
    }
}

#[test]
fn activities() {
    for body in [
        r#"{"activity":"app_open","metric":"count","operator":"greater","value":2,"after":7,"precision":"days"}"#,
        r#"{"activity":"bought","metric":"total_value","operator":"less_eq","value":9.5,"where":{"property":"$.x","operator":"is_empty"}}"#,
        r#"{"activity":"app_open","metric":"first","on":1,"on_precision":"weeks"}"#,
        r#"{"activity":"app_open","metric":"last","before":"now"}"#,
    ] {
        prints_back(body);
    }
    for (body, path) in [
        (r#"{"activity":"a"}"#, "metric"),
        (r#"{"activity":"","metric":"first"}"#, "activity"),
        (r#"{"activity":"a","metric":"count"}"#, "operator"),
        (r#"{"activity":"a","metric":"count","operator":"less","value":"1"}"#, "value"),
        (r#"{"activity":"a","metric":"first","operator":"less","value":1}"#, "operator"),
        (r#"{"activity":"a","metric":"first","after":1}"#, "precision"),
        (r#"{"activity":"a","metric":"first","on":1}"#, "on_precision"),
    ] {
        refused(body, path);
    }
}

#[test]
fn locations() {
    let location = |date: &str| format!(r#"{{"location":{{"id":"4oFkxX7RcUdirjtaenEQIV","date":{date}}}}}"#);
    for date in [
        r#"{"recent":{"months":3}}"#,
        r#"{"recent":{"hours":48},"last_seen":true}"#,
        r#"{"days":{"recent":60}}"#,
        r#"{"minutes":{"end":"2015-10-15 10:30","start":"2015-10-15T10:00"}}"#,
        r#"{"hours":{"end":"2015-10-15 23","start":"2015-10-15 10"}}"#,
        r#"{"days":{"end":"2015-10-21","start":"2015-10-15"},"last_seen":false}"#,
        r#"{"weeks":{"end":"2015-W53","start":"2015-W01"}}"#,
        r#"{"months":{"end":"2015-10","start":"2015-10"}}"#,
        r#"{"years":{"end":"2016","start":"2015"}}"#,
    ] {
        prints_back(&location(date));
    }
    prints_back(r#"{"location":{"us_state":"CA","date":{"recent":{"years":20}}}}"#);
    for (date, path) in [
        ("{}", "location.date.recent"),
        (r#"{"recent":{}}"#, "location.date.recent"),
        (r#"{"recent":{"minutes":3}}"#, "location.date.recent.minutes"),
        (r#"{"recent":{"days":61}}"#, "location.date.recent.days"),
        (r#"{"recent":{"weeks":0}}"#, "location.date.recent.weeks"),
        (r#"{"recent":{"days":3,"weeks":1}}"#, "location.date.recent.weeks"),
        (r#"{"recent":{"days":3},"weeks":{"recent":1}}"#, "location.date.weeks"),
        (r#"{"days":{"start":"2015-10-15"}}"#, "location.date.days.end"),
        (r#"{"days":{"start":"2015-10-15","end":"2015-10-32"}}"#, "location.date.days.end"),
        (r#"{"days":{"start":"2015-10-15","end":"2015-10-14"}}"#, "location.date.days.end"),
        (r#"{"minutes":{"start":"2015-10-15 1000Z","end":"2015-10-15 10:30"}}"#, "location.date.minutes.start"),
        (r#"{"weeks":{"start":"2015-W00","end":"2015-W03"}}"#, "location.date.weeks.start"),
        (r#"{"recent":{"days":3},"last_seen":"yes"}"#, "location.date.last_seen"),
    ] {
        refused(&location(date), path);
    }
    refused(r#"{"location":{"date":{"recent":{"days":3}}}}"#, "location.id");
    refused(r#"{"location":{"id":"x"}}"#, "location.date");
    refused(r#"{"location":{"id":"x","us_state":"CA","date":{"recent":{"days":3}}}}"#, "location.us_state");
    refused(r#"{"location":{"a b":"x","date":{"recent":{"days":3}}}}"#, "location.a b");
}

#[test]
fn atoms_come_in_order() {
    let Audience::Selector(selector) =
        read(r#"{"and":[{"tag":"a"},{"or":[{"tag":"b"},{"not":{"tag":"c"}}]},{"tag":"d"}]}"#).unwrap()
    else {
        panic!("this is a selector")
    };
    let tags: Vec<_> = selector
        .atoms()
        .map(|atomic| match atomic {
            Atomic::Tag { tags, .. } => tags.as_slice()[0].as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(tags, ["a", "b", "c", "d"]);
}
