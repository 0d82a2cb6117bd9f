//! A pipeline in words, read from what was sent. What has no words here is shown as JSON.

use serde_json::Value;

/// One or many, as the API takes them.
pub(super) fn many(value: &Value) -> Vec<&Value> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(all) => all.iter().collect(),
        one => vec![one],
    }
}

pub(super) fn triggers(body: &Value) -> String {
    let immediate = many(&body["immediate_trigger"]).into_iter().map(trigger);
    let inactive = many(&body["historical_trigger"]).into_iter().map(|inactivity| match inactivity["days"].as_u64() {
        Some(days) => format!("the app was not opened for {}", plural(days, "day")),
        None => inactivity.to_string(),
    });
    immediate.chain(inactive).collect::<Vec<_>>().join(", or ")
}

pub(super) fn cancellation(body: &Value) -> Option<String> {
    let triggers: Vec<String> = many(&body["cancellation_trigger"]).into_iter().map(trigger).collect();
    (!triggers.is_empty()).then(|| format!("{} meanwhile", triggers.join(", or ")))
}

pub(super) fn delay(body: &Value) -> Option<String> {
    let outcomes = many(&body["outcome"]);
    let seconds = outcomes.iter().find_map(|outcome| outcome["delay"].as_u64());
    let seconds = seconds.or_else(|| body["timing"]["delay"]["seconds"].as_u64()).filter(|seconds| *seconds > 0)?;
    Some(span(seconds))
}

pub(super) fn window(body: &Value) -> Option<String> {
    let schedule = body["timing"]["schedule"].as_object()?;
    let dayparts = many(schedule.get("dayparts")?).into_iter().map(|part| {
        let days: Vec<&str> = many(&part["days_of_week"]).into_iter().filter_map(Value::as_str).collect();
        let times = many(&part["allowed_times"]).into_iter().map(|time| {
            match (&time["start"], &time["end"], &time["preferred"]) {
                (_, _, Value::String(preferred)) => format!("best at {}", clock(preferred)),
                (start, end, _) => {
                    format!("{} to {}", start.as_str().map_or("0:00", clock), end.as_str().map_or("24:00", clock))
                }
            }
        });
        let parts = (!days.is_empty()).then(|| days.join(", ")).into_iter().chain(times);
        parts.collect::<Vec<_>>().join(" ")
    });
    let dayparts = dayparts.collect::<Vec<_>>().join("; ");
    let zone =
        if schedule.get("type").is_some_and(|kind| kind == "utc") { "UTC" } else { "by the clock of the device" };
    Some(format!("{dayparts}, {zone}"))
}

pub(super) fn conditions(body: &Value) -> Option<String> {
    let all: Vec<String> = many(&body["condition"]).into_iter().map(condition).collect();
    (!all.is_empty()).then(|| all.join(", and "))
}

pub(super) fn rates(body: &Value) -> Option<String> {
    let all = many(&body["constraint"]).into_iter().map(|constraint| {
        let rate = &constraint["rate"];
        let times = rate["pushes"].as_u64().map_or_else(|| rate["pushes"].to_string(), |n| plural(n, "time"));
        match (rate["hours"].as_u64(), rate["days"].as_u64()) {
            (Some(hours), _) => format!("{times} in {}", plural(hours, "hour")),
            (None, Some(days)) => format!("{times} in {}", plural(days, "day")),
            (None, None) => format!("{times} ever"),
        }
    });
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| format!("{} per device", all.join(", ")))
}

fn trigger(trigger: &Value) -> String {
    let word = |word: &str| match word {
        "first_open" => "a device registers for the first time".to_owned(),
        "first_opt_in" => "a device can be shown notifications for the first time".to_owned(),
        "open" => "the app is opened".to_owned(),
        "region_entered" => "a region is entered".to_owned(),
        "region_exited" => "a region is left".to_owned(),
        other => other.to_owned(),
    };
    let Some(fields) = trigger.as_object() else { return trigger.as_str().map_or_else(|| trigger.to_string(), word) };
    let named = |value: &Value, inner: &str| {
        let name = value.as_str().or_else(|| value[inner].as_str());
        let group = value["group"].as_str().or_else(|| trigger["group"].as_str());
        match (name, group) {
            (Some(name), Some(group)) => format!("“{name}” of {group}"),
            (Some(name), None) => format!("“{name}”"),
            (None, _) => value.to_string(),
        }
    };
    for (key, value) in fields {
        match key.as_str() {
            "tag_added" => return format!("the tag {} is added", named(value, "tag")),
            "tag_removed" => return format!("the tag {} is removed", named(value, "tag")),
            "subscription_added" => return format!("somebody subscribes to {}", named(value, "list_name")),
            "subscription_removed" => return format!("somebody unsubscribes from {}", named(value, "list_name")),
            "custom_event" => return format!("the custom event {}", selector(value)),
            "region_entered" | "region_exited" => return format!("{}: {}", word(key.as_str()), selector(value)),
            _ => {}
        }
    }
    trigger.to_string()
}

fn selector(value: &Value) -> String {
    let all = |value: &Value, between: &str| many(value).into_iter().map(selector).collect::<Vec<_>>().join(between);
    if let Some(fields) = value.as_object() {
        for (key, inner) in fields {
            match key.to_lowercase().as_str() {
                "and" => return all(inner, " and "),
                "or" => return all(inner, " or "),
                "not" => return format!("not {}", selector(inner)),
                _ => {}
            }
        }
    }
    let Some(key) = value["key"].as_str() else { return value.to_string() };
    let bound = value["value"].as_object().into_iter().flatten().map(|(bound, limit)| {
        let bound = match bound.as_str() {
            "equals" => "is",
            "array_contains" => "contains",
            "at_least" => "is at least",
            "greater_than" => "is more than",
            "at_most" => "is at most",
            "less_than" => "is less than",
            other => other,
        };
        format!("{bound} {}", limit.as_str().map_or_else(|| limit.to_string(), |text| format!("“{text}”")))
    });
    format!("{key} {}", bound.collect::<Vec<_>>().join(" and "))
}

fn condition(value: &Value) -> String {
    let Some(fields) = value.as_object() else { return value.to_string() };
    let all = |value: &Value, between: &str| many(value).into_iter().map(condition).collect::<Vec<_>>().join(between);
    for (key, inner) in fields {
        let not = if inner["negated"] == Value::Bool(true) { "not " } else { "" };
        match (key.to_lowercase().as_str(), inner["tag_name"].as_str(), inner["list_name"].as_str()) {
            ("and", ..) => return all(inner, " and "),
            ("or", ..) => return all(inner, " or "),
            ("tag", Some(tag), _) => return format!("it does {not}have the tag “{tag}”").replace("does have", "has"),
            ("subscription", _, Some(list)) => return format!("it is {not}subscribed to “{list}”"),
            _ => {}
        }
    }
    value.to_string()
}

fn clock(time: &str) -> &str {
    time.strip_suffix(":00").unwrap_or(time)
}

fn plural(n: u64, unit: &str) -> String {
    if n == 1 { format!("1 {unit}") } else { format!("{n} {unit}s") }
}

/// In the largest unit that divides it.
fn span(seconds: u64) -> String {
    for (unit, length) in [("day", 24 * 3600), ("hour", 3600), ("minute", 60)] {
        if seconds.is_multiple_of(length) {
            return plural(seconds / length, unit);
        }
    }
    plural(seconds, "second")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pipelines_are_told_in_words() {
        let body = json!({
            "immediate_trigger": ["first_open", {"tag_added": "cart", "group": "shop"},
                {"custom_event": {"and": [{"key": "name", "value": {"equals": "bought"}}, {"key": "value", "value": {"at_least": 5}}]}}],
            "historical_trigger": {"event": "open", "equals": 0, "days": 30},
            "cancellation_trigger": {"tag_added": {"tag": "bought"}},
            "condition": [{"tag": {"tag_name": "quiet", "negated": true}}, {"or": [{"tag": {"tag_name": "a"}}, {"subscription": {"list_name": "l"}}]}],
            "constraint": [{"rate": {"pushes": 1, "days": 7}}, {"rate": {"pushes": 3, "lifetimes": 1}}],
            "outcome": {"delay": 3600},
            "timing": {"schedule": {"dayparts": [{"days_of_week": ["monday"], "allowed_times": [{"start": "09:00:00", "end": "17:30:00"}]}]}},
        });
        assert_eq!(
            triggers(&body),
            "a device registers for the first time, or the tag “cart” of shop is added, or the custom event name is “bought” and \
             value is at least 5, or the app was not opened for 30 days"
        );
        assert_eq!(cancellation(&body).as_deref(), Some("the tag “bought” is added meanwhile"));
        assert_eq!(
            conditions(&body).as_deref(),
            Some("it does not have the tag “quiet”, and it has the tag “a” or it is subscribed to “l”")
        );
        assert_eq!(rates(&body).as_deref(), Some("1 time in 7 days, 3 times ever per device"));
        assert_eq!(delay(&body).as_deref(), Some("1 hour"));
        assert_eq!(window(&body).as_deref(), Some("monday 09:00 to 17:30, by the clock of the device"));
        assert_eq!([90, 86_400, 7200].map(span), ["90 seconds", "1 day", "2 hours"]);
        let unknown = json!({"immediate_trigger": {"new": 1}});
        assert_eq!((triggers(&unknown).as_str(), conditions(&unknown), delay(&unknown)), ("{\"new\":1}", None, None));
    }
}
