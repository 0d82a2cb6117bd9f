//! Random selectors over the whole grammar.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::random_json::{Random, array, flag, integer, number, object, one_or_many, text, uuid, words};

pub(crate) fn selector() -> Random {
    atomic()
        .prop_recursive(4, 24, 4, |inner| {
            let inner = inner.boxed();
            let operator = select(vec!["and", "AND", "And", "or", "OR", "oR"]);
            let compound = (operator, array(inner.clone(), 1..=4)).prop_map(|(key, members)| json!({key: members}));
            let not = (select(vec!["not", "NOT"]), inner.clone()).prop_map(|(key, member)| json!({key: member}));
            let not_array = inner.prop_map(|member| json!({"not": [member]}));
            prop_oneof![4 => compound, 1 => not, 1 => not_array].boxed()
        })
        .boxed()
}

fn atomic() -> Random {
    let ids = select(vec!["segment", "channel", "ios_channel", "android_channel", "amazon_channel", "web_channel"]);
    let names = select(vec![
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
    ]);
    let user = one_or_many("[a-zé][a-z 😀]{0,5}[a-z]".prop_map(Value::String).boxed());
    let token = one_or_many("[0-9A-F]{64}".prop_map(Value::String).boxed());
    let sms = json!({"msisdn": "15035550100", "sender": "12345"});
    prop_oneof![
        4 => object(
            vec![("tag", one_or_many(text()))],
            vec![("group", words(&["device", "loyalty", "ua_locale_language"])), ("tag_class", text())],
        ),
        2 => (ids, one_or_many(uuid())).prop_map(|(key, ids)| json!({key: ids})),
        2 => (names, one_or_many(text())).prop_map(|(key, names)| json!({key: names})),
        1 => user.prop_map(|ids| json!({"named_user": ids})),
        1 => token.prop_map(|tokens| json!({"device_token": tokens})),
        1 => one_or_many(Just(sms).boxed()).prop_map(|ids| json!({"sms_id": ids})),
        2 => attribute(),
        1 => activity(),
        1 => location(),
    ]
    .boxed()
}

fn scalar() -> Random {
    prop_oneof![text(), number()].boxed()
}

fn comparison(name: (&'static str, Random), json: bool, more: Vec<(&'static str, Random)>) -> Random {
    let ordered: &[&str] = match json {
        true => &["equals", "contains", "not_contains", "less", "less_eq", "greater", "greater_eq"],
        false => &["equals", "contains", "less", "greater"],
    };
    let empty: &[&str] = if json { &["is_empty", "not_empty"] } else { &["is_empty"] };
    let side = ("operator", words(&["before", "after"]));
    let unit = ("precision", words(&["years", "months", "days", "hours", "minutes"]));
    let direction = ("relative_to", words(&["past", "future"]));
    let moments = words(&["now", "2020-01-31T12:00:00+02:00", "2020-01-31 12:00:00", "2020-01-31"]);
    let with = |entry: (&'static str, Random)| {
        let mut all = more.clone();
        all.push(entry);
        all
    };
    prop_oneof![
        object(vec![name.clone(), ("operator", words_of(empty))], more.clone()),
        object(vec![name.clone(), ("operator", words_of(ordered)), ("value", scalar())], more.clone()),
        object(vec![name.clone(), side.clone(), unit.clone(), ("value", integer(0..=100))], with(direction)),
        object(vec![name.clone(), side, ("value", moments)], with(unit)),
        object(
            vec![
                name.clone(),
                ("operator", words(&["equals"])),
                ("value", words(&["now", "02-29"])),
                ("precision", words(&["month_day"])),
            ],
            more.clone(),
        ),
        object(
            vec![
                name,
                ("operator", words(&["range"])),
                ("value", words(&["2020-01-01/2020-02-01", "2020-01-01T00:00:00Z/2020-02-01T00:00:00+01:00"])),
            ],
            more,
        ),
    ]
    .boxed()
}

fn words_of(words: &[&'static str]) -> Random {
    select(words.to_vec()).prop_map(Value::from).boxed()
}

fn property() -> Random {
    let compare_as = ("compare_as", words(&["text", "number", "date", "boolean"]));
    comparison(("property", words(&["$.x[0]", "name"])), true, vec![compare_as])
}

fn attribute() -> Random {
    prop_oneof![
        comparison(("attribute", text()), false, Vec::new()),
        object(vec![("attribute", words(&["cart#1"])), ("where", property())], Vec::new()),
    ]
    .boxed()
}

fn activity() -> Random {
    let units = || words(&["days", "weeks", "months", "years"]);
    let window = || {
        vec![
            ("after", integer(0..=9)),
            ("before", words(&["now", "2020-01-31"])),
            ("on", integer(0..=9)),
            ("where", property()),
        ]
    };
    let always = || vec![("activity", text()), ("precision", units()), ("on_precision", units())];
    let mut counted = always();
    counted.extend([
        ("metric", words(&["count", "total_value"])),
        ("operator", words(&["less", "less_eq", "equals", "greater", "greater_eq"])),
        ("value", number()),
    ]);
    let mut placed = always();
    placed.push(("metric", words(&["first", "last"])));
    prop_oneof![object(counted, window()), object(placed, window())].boxed()
}

fn location() -> Random {
    let date = select(vec![
        json!({"recent": {"months": 3}}),
        json!({"weeks": {"recent": 10}}),
        json!({"hours": {"start": "2015-10-15 10", "end": "2015-10-15T23"}}),
        json!({"weeks": {"start": "2015-W01", "end": "2015-W53"}}),
        json!({"years": {"start": "2015", "end": "2016"}}),
    ]);
    let place = select(vec!["id", "us_state", "fips_10-4"]);
    (place, text(), date, proptest::option::of(flag()))
        .prop_map(|(kind, name, mut date, last_seen)| {
            if let Some(last_seen) = last_seen {
                date["last_seen"] = last_seen;
            }
            json!({"location": {kind: name, "date": date}})
        })
        .boxed()
}
