//! Where the cells of a listing come from.

use model::time::UtcMillis;
use serde_json::Value;

use crate::output;

/// Where a cell of a listing comes from, by JSON pointers into the item.
pub(crate) enum Cell {
    At(&'static str),
    /// The end of a URL.
    EndOf(&'static str),
    /// Milliseconds since 1970.
    Millis(&'static str),
    /// How many elements there are.
    Count(&'static str),
    /// The elements of an array, or what lies in each of them.
    Each(&'static str, &'static str),
    /// The time of a schedule, the first one if it repeats.
    When(&'static str),
    /// How often a schedule repeats, and whether it is paused.
    Repeats(&'static str),
    /// The values of those keys of an object that end like this.
    KeysEnding(&'static str, &'static str),
}

impl Cell {
    pub(super) fn of(&self, item: &Value) -> String {
        let array = |pointer: &str| item.pointer(pointer).and_then(Value::as_array);
        let text = match self {
            Cell::At(pointer) => item.pointer(pointer).and_then(brief),
            Cell::EndOf(pointer) => {
                let url = item.pointer(pointer).and_then(Value::as_str);
                url.and_then(|url| url.rsplit('/').next()).map(str::to_owned)
            }
            Cell::Millis(pointer) => {
                item.pointer(pointer).and_then(Value::as_i64).map(|millis| UtcMillis(millis).to_api())
            }
            Cell::Count(pointer) => array(pointer).map(|all| all.len().to_string()),
            Cell::Each(pointer, inside) => {
                array(pointer).map(|all| joined(all.iter().filter_map(|one| one.pointer(inside))))
            }
            Cell::When(pointer) => item.pointer(pointer).and_then(when),
            Cell::Repeats(pointer) => item.pointer(pointer).map(repeats),
            Cell::KeysEnding(pointer, end) => {
                let object = item.pointer(pointer).and_then(Value::as_object);
                object.map(|all| joined(all.iter().filter(|(key, _)| key.ends_with(end)).map(|(_, value)| value)))
            }
        };
        output::shortened(text.as_deref().filter(|text| !text.is_empty()).unwrap_or("-"))
    }
}

fn brief(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        // Of what is chosen by its key the first value tells most.
        Value::Object(parts) => parts.iter().next().map(|(key, value)| match value {
            Value::String(text) => text.clone(),
            _ => key.clone(),
        }),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Some(value.to_string()),
    }
}

/// Such as `2030-01-31T12:00:00`, which is UTC, or `2030-01-31T12:00:00 local`, which is at another moment for each device.
fn when(schedule: &Value) -> Option<String> {
    let text = |pointer: &str| schedule.pointer(pointer).and_then(Value::as_str);
    let utc = || text("/scheduled_time").map(str::to_owned);
    let local = || text("/local_scheduled_time").map(|time| format!("{time} local"));
    let best = || text("/best_time/send_date").map(|day| format!("the best time of {day}"));
    utc().or_else(local).or_else(best)
}

/// Such as `never`, or `every 2 weeks, paused`.
fn repeats(schedule: &Value) -> String {
    let Some(recurring) = schedule.get("recurring") else { return "never".to_owned() };
    let unit = recurring["cadence"]["type"].as_str().unwrap_or("recurring");
    let cadence = match recurring["cadence"]["count"].as_u64() {
        None | Some(1) => unit.to_owned(),
        Some(count) => format!("every {count} {}", many(unit)),
    };
    if recurring["paused"] == true { format!("{cadence}, paused") } else { cadence }
}

fn many(unit: &str) -> &str {
    match unit {
        "hourly" => "hours",
        "daily" => "days",
        "weekly" => "weeks",
        "monthly" => "months",
        "yearly" => "years",
        other => other,
    }
}

fn joined<'a>(values: impl Iterator<Item = &'a Value>) -> String {
    values.filter_map(brief).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schedule_shows_its_time_and_how_it_repeats() {
        let time = "2030-01-31T12:00:00";
        let recurring =
            |count: u32, paused: bool| json!({"cadence": {"type": "weekly", "count": count}, "paused": paused});
        for (schedule, when, repeats) in [
            (json!({"scheduled_time": time}), time, "never"),
            (json!({"local_scheduled_time": time}), "2030-01-31T12:00:00 local", "never"),
            (json!({"best_time": {"send_date": "2030-01-31"}}), "the best time of 2030-01-31", "never"),
            (json!({"scheduled_time": time, "recurring": recurring(1, false)}), time, "weekly"),
            (
                json!({"local_scheduled_time": time, "recurring": recurring(2, true)}),
                "2030-01-31T12:00:00 local",
                "every 2 weeks, paused",
            ),
            (json!({"recurring": {}}), "-", "recurring"),
            (json!({}), "-", "never"),
        ] {
            let item = json!({ "schedule": schedule });
            let shown = [Cell::When("/schedule"), Cell::Repeats("/schedule")].map(|cell| cell.of(&item));
            assert_eq!(shown, [when, repeats]);
        }
        assert_eq!(Cell::Repeats("/schedule").of(&json!({})), "-");
    }
}
