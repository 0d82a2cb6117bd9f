//! Every operator against every type of value.

use serde_json::{Value, json};

use super::*;
use crate::selector::{self, Atomic, Selector};

/// 2024-05-15T12:00:00, a Wednesday.
const NOW: UtcMillis = UtcMillis(1_715_774_400_000);

fn attribute(mut companions: Value) -> selector::Attribute {
    companions["attribute"] = "k".into();
    let body = companions.to_string();
    match accepted(&body, Selector::parse) {
        Selector::Atomic(Atomic::Attribute(attribute)) => *attribute,
        other => panic!("{other:?}"),
    }
}

fn check(companions: &Value, value: Option<&Value>, wanted: bool) {
    let stored = value.map(|value| serde_json::from_str::<AttributeValue>(&value.to_string()).unwrap());
    let found = matches(&attribute(companions.clone()), stored.as_ref(), NOW);
    assert_eq!(found, wanted, "{companions} on {value:?}");
}

/// A selector, values that it matches and values that it does not. Except for `is_empty`, nothing matches an unset attribute.
fn table(companions: &Value, matching: &[Value], others: &[Value]) {
    let is_presence = companions["operator"] == "is_empty";
    check(companions, None, is_presence);
    for value in matching {
        check(companions, Some(value), true);
    }
    for value in others {
        check(companions, Some(value), false);
    }
}

#[test]
fn text_and_numbers() {
    table(&json!({"operator": "is_empty"}), &[json!(""), json!({})], &[json!("a"), json!(0), json!({"a": 1})]);
    table(&json!({"operator": "is_empty", "value": null}), &[json!("")], &[json!("a")]);
    table(
        &json!({"operator": "equals", "value": "Oslo"}),
        &[json!("Oslo")],
        &[json!("oslo"), json!("Oslo "), json!(""), json!(7), json!({"Oslo": 1})],
    );
    for seven in [json!(7), json!("7"), json!(7.0), json!("7.0")] {
        let texts = if seven.is_number() { vec![json!("7"), json!("7.00")] } else { vec![seven.clone()] };
        table(
            &json!({"operator": "equals", "value": seven}),
            &[vec![json!(7), json!(7.0)], texts].concat(),
            &[json!(8), json!("x")],
        );
    }
    table(
        &json!({"operator": "contains", "value": "sl"}),
        &[json!("Oslo"), json!("sl")],
        &[json!("SL"), json!(1), json!({})],
    );
    table(&json!({"operator": "contains", "value": 5}), &[json!(150), json!("a5")], &[json!(7), json!("b")]);
    for (operator, is_more) in [("greater", true), ("less", false)] {
        for limit in [json!(10), json!("10"), json!(10.0)] {
            let (more, less) =
                ([json!(11), json!(10.5), json!("11"), json!("100")], [json!(9), json!("9.5"), json!(-1e9)]);
            let (matching, others) = if is_more { (&more[..], &less[..]) } else { (&less[..], &more[..]) };
            let equal = [json!(10), json!("10.0"), json!({})];
            table(&json!({"operator": operator, "value": limit}), matching, &[others, &equal].concat());
        }
    }
    table(&json!({"operator": "less", "value": "m"}), &[json!("a"), json!("Z")], &[json!("z"), json!("m"), json!(3)]);
    // Beyond the precision of a float.
    table(
        &json!({"operator": "greater", "value": 9_007_199_254_740_992_i64}),
        &[json!(9_007_199_254_740_993_i64)],
        &[],
    );
    table(&json!({"operator": "equals", "value": "NaN"}), &[json!("NaN")], &[json!(0)]);
}

#[test]
fn dates() {
    let noon = || json!("2024-05-15T12:00:00");
    table(&json!({"operator": "is_empty"}), &[], &[noon()]);
    table(
        &json!({"operator": "before", "value": "2024-05-15T12:00:00"}),
        &[json!("2024-05-15T11:59:59"), json!("2024-05-15"), json!("2024-05-15 13:00:00+02:00")],
        &[noon(), json!("2024-05-15T12:00:01"), json!("soon"), json!(5), json!({})],
    );
    table(
        &json!({"operator": "after", "value": "2024-05-15T14:00:00+02:00"}),
        &[json!("2024-05-15T12:00:00.001"), json!("2024-05-16")],
        &[noon(), json!("2024-05-15T11:00:00")],
    );
    table(&json!({"operator": "after", "value": "now"}), &[json!("2024-05-15T12:00:01")], &[noon()]);
    table(
        &json!({"operator": "range", "value": "2024-05-01T00:00:00/2024-05-15T12:00:00"}),
        &[json!("2024-05-01T00:00:00"), json!("2024-05-15T11:59:59"), json!("2024-05-07")],
        &[noon(), json!("2024-04-30T23:59:59"), json!("May")],
    );
    table(&json!({"operator": "equals", "value": "2024-05-15T12:00:00Z"}), &[noon()], &[json!("2024-05-15T12:00:01")]);
    table(
        &json!({"operator": "equals", "value": "2024-05-15"}),
        &[noon(), json!("2024-05-15")],
        &[json!("2024-05-16T00:00:00")],
    );
    table(
        &json!({"operator": "equals", "value": "now"}),
        &[noon(), json!("2024-05-15 23:59:59"), json!("2024-05-15"), json!("now")],
        &[json!("2024-05-14")],
    );
    table(&json!({"operator": "contains", "value": "2024-05"}), &[noon()], &[json!("2024-06-15T12:00:00")]);
    table(&json!({"operator": "less", "value": "2024-05-16"}), &[noon()], &[json!("2024-05-16T12:00:00")]);
}

#[test]
fn a_distance_from_now() {
    for (unit, units, edge) in [
        ("years", 1, "2023-05-15T12:00:00"),
        ("months", 3, "2024-02-15T12:00:00"),
        ("months", 15, "2023-02-15T12:00:00"),
        ("days", 7, "2024-05-08T12:00:00"),
        ("hours", 36, "2024-05-14T00:00:00"),
        ("minutes", 90, "2024-05-15T10:30:00"),
    ] {
        for value in [json!(units), json!(units.to_string())] {
            let after = json!({"operator": "after", "value": value, "precision": unit});
            let at_edge = json!(edge);
            let just_after = json!(format!("{edge}.001"));
            table(&after, &[just_after.clone(), json!("2030-01-01")], &[at_edge.clone(), json!("1999-01-01")]);
            let before = json!({"operator": "before", "value": value, "precision": unit, "relative_to": "past"});
            table(&before, &[json!("1999-01-01")], &[at_edge, just_after, json!("2030-01-01")]);
        }
    }
    let soon = json!({"operator": "before", "value": 2, "precision": "days", "relative_to": "future"});
    table(&soon, &[json!("2024-05-17T11:59:59"), json!("2024-01-01")], &[json!("2024-05-17T12:00:00")]);
    // The last of a month, and distances that no calendar has.
    let now = UtcMillis::parse_api("2024-03-31T00:00:00").unwrap();
    let month = attribute(json!({"operator": "before", "value": 1, "precision": "months"}));
    for (text, wanted) in [("2024-02-28T23:59:59", true), ("2024-02-29T00:00:00", false)] {
        let value = AttributeValue::Date(UtcMillis::parse_api(text).unwrap());
        assert_eq!(matches(&month, Some(&value), now), wanted, "{text}");
    }
    table(&json!({"operator": "after", "value": 4_000_000_000_u32, "precision": "years"}), &[json!("1800-01-01")], &[]);
    let never =
        json!({"operator": "after", "value": 4_000_000_000_u32, "precision": "months", "relative_to": "future"});
    table(&never, &[], &[json!("2500-01-01")]);
}

#[test]
fn a_date_equals_a_distance_from_now_in_units_of_the_calendar() {
    for (unit, units, same, other) in [
        ("years", 1, ["2023-01-01T00:00:00", "2023-12-31T23:59:59"], "2024-05-15T12:00:00"),
        ("months", 3, ["2024-02-01T00:00:00", "2024-02-29T23:59:59"], "2023-02-15T12:00:00"),
        ("days", 7, ["2024-05-08T00:00:00", "2024-05-08T23:59:59"], "2024-05-09T00:00:00"),
        ("hours", 36, ["2024-05-14T00:00:00", "2024-05-14T00:59:59"], "2024-05-13T23:59:59"),
        ("minutes", 90, ["2024-05-15T10:30:00", "2024-05-15T10:30:59"], "2024-05-15T10:31:00"),
    ] {
        for value in [json!(units), json!(units.to_string())] {
            let equals = json!({"operator": "equals", "value": value, "precision": unit});
            table(&equals, &same.map(|same| json!(same)), &[json!(other)]);
        }
    }
    let travel = json!({"operator": "equals", "value": "4", "precision": "days", "relative_to": "future"});
    table(&travel, &[json!("2024-05-19T00:00:00")], &[json!("2024-05-11T12:00:00"), json!("2024-05-20")]);
    let today = json!({"operator": "equals", "value": "now", "precision": "days"});
    table(&today, &[json!("2024-05-15T23:59:59")], &[json!("2024-05-16")]);
    // Out of reach of the calendar.
    let never = json!({"operator": "equals", "value": 4_000_000_000_u32, "precision": "years"});
    table(&never, &[], &[json!("1800-01-01")]);
}

#[test]
fn a_precision_makes_comparisons_coarse() {
    for (precision, same, other) in [
        ("minutes", "2024-05-15T12:00:59", "2024-05-15T12:01:00"),
        ("hours", "2024-05-15T12:59:59", "2024-05-15T13:00:00"),
        ("days", "2024-05-15T23:59:59", "2024-05-16T00:00:00"),
        ("months", "2024-05-31T00:00:00", "2024-06-01T00:00:00"),
        ("years", "2024-12-31T00:00:00", "2025-01-01T00:00:00"),
    ] {
        for moment in ["now", "2024-05-15T12:00:30"] {
            let after = json!({"operator": "after", "value": moment, "precision": precision});
            table(&after, &[json!(other)], &[json!(same)]);
            let before = json!({"operator": "before", "value": moment, "precision": precision});
            table(&before, &[json!("2023-12-31T00:00:00")], &[json!(same), json!(other)]);
        }
    }
}

#[test]
fn parts_of_dates() {
    for (precision, values, same, others) in [
        ("day", vec![json!("15"), json!(15), json!("now"), json!("2000-01-15T00:00:00")], "1999-12-15", "2024-05-16"),
        ("month", vec![json!("05"), json!(5), json!("now")], "1999-05-01", "2024-06-15"),
        ("month_day", vec![json!("05-15"), json!("now")], "1988-05-15T23:00:00", "2024-05-14"),
        ("year_month", vec![json!("2024-05"), json!("now")], "2024-05-31", "2023-05-15"),
        ("year_month_day", vec![json!("2024-05-15"), json!("now")], "2024-05-15T01:00:00", "2024-05-14T23:59:59"),
    ] {
        for value in values {
            let companions = json!({"operator": "equals", "value": value, "precision": precision});
            table(&companions, &[json!(same)], &[json!(others), json!("x"), json!(15)]);
        }
    }
    table(
        &json!({"operator": "equals", "value": "02-29", "precision": "month_day"}),
        &[json!("2024-02-29")],
        &[json!("2023-02-28")],
    );
}

fn properties(comparison: &Value, matching: &[Value], others: &[Value]) {
    let mut property = comparison.clone();
    property["property"] = "$.a.b".into();
    let companions = json!({"where": property});
    let is_presence = comparison["operator"] == "is_empty";
    for missing in [None, Some(json!({})), Some(json!({"a": {}})), Some(json!({"a": {"b": null}})), Some(json!("a"))] {
        check(&companions, missing.as_ref(), is_presence);
    }
    for (values, wanted) in [(matching, true), (others, false)] {
        for value in values {
            check(&companions, Some(&json!({"a": {"b": value}})), wanted);
        }
    }
}

#[test]
fn properties_of_objects() {
    let full = [json!("a"), json!(0), json!(false), json!([1]), json!({"c": 1})];
    let empty = [json!(""), json!([]), json!({})];
    properties(&json!({"operator": "is_empty"}), &empty, &full);
    properties(&json!({"operator": "not_empty"}), &full, &empty);
    properties(&json!({"operator": "not_empty", "compare_as": "date"}), &full, &empty);
    properties(&json!({"operator": "equals", "value": "x"}), &[json!("x")], &[json!("X"), json!(["x"]), json!(true)]);
    properties(&json!({"operator": "equals", "value": true}), &[json!(true), json!("true")], &[json!(false), json!(1)]);
    properties(
        &json!({"operator": "equals", "value": "true"}),
        &[json!(true), json!("true")],
        &[json!(false), json!(1)],
    );
    let haves = [json!("axb"), json!(["x", "y"]), json!("x")];
    let have_nots = [json!("ab"), json!(["xy", 1, null]), json!({"x": 1}), json!(7)];
    properties(&json!({"operator": "contains", "value": "x"}), &haves, &have_nots);
    properties(&json!({"operator": "not_contains", "value": "x"}), &have_nots, &haves);
    properties(&json!({"operator": "contains", "value": 7}), &[json!([7]), json!(["7.0"]), json!(17)], &[json!([17])]);
    properties(
        &json!({"operator": "less_eq", "value": 5}),
        &[json!(5), json!(4), json!("3")],
        &[json!(6), json!([5]), json!(true)],
    );
    properties(&json!({"operator": "greater_eq", "value": "5"}), &[json!(5), json!(6)], &[json!(4), json!({})]);
    properties(
        &json!({"operator": "after", "value": 7, "precision": "days"}),
        &[json!("2024-05-10")],
        &[json!("2024-05-01"), json!(1)],
    );
    properties(
        &json!({"operator": "range", "value": "2024-05-01/2024-06-01"}),
        &[json!("2024-05-01T00:00:00Z")],
        &[json!("2024-06-01")],
    );
}

#[test]
fn properties_as_another_type() {
    for (compare_as, value, matching, others) in [
        ("text", json!("7"), vec![json!(7), json!("7")], vec![json!(7.0), json!("7.0"), json!({})]),
        ("number", json!("7"), vec![json!(7), json!("7.0"), json!("7")], vec![json!("x"), json!(true)]),
        (
            "date",
            json!("2024-05-15"),
            vec![json!("2024-05-15"), json!("2024-05-15T09:00:00Z")],
            vec![json!("x"), json!(5)],
        ),
        ("boolean", json!(true), vec![json!(true), json!("true")], vec![json!(false), json!("yes"), json!(1)]),
    ] {
        properties(&json!({"operator": "equals", "value": value, "compare_as": compare_as}), &matching, &others);
    }
    properties(&json!({"operator": "greater", "value": "10", "compare_as": "text"}), &[json!("11")], &[json!("09")]);
}

#[test]
fn a_plain_comparison_cannot_look_into_an_object() {
    table(&json!({"operator": "equals", "value": "1"}), &[], &[json!({"a": "1"})]);
    table(&json!({"operator": "contains", "value": "1"}), &[], &[json!({"a": "1"})]);
}
