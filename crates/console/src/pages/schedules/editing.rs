//! A schedule as fields of Compose, where those can show all of it: what they would lose is edited as JSON instead.

use http::Method;
use model::schedule::{ScheduledPush, WallTime};
use model::time::UtcMillis;
use serde_json::{Value, json};

use crate::error::Result;
use crate::form::{Fields, encode, encoded};
use crate::pages::compose::Written;
use crate::parts::seen::Seen;
use crate::visit::Visit;

/// The repetitions that Compose offers.
const REPEATS: [&str; 4] = ["daily", "weekly", "monthly", "yearly"];

/// What Compose shows of a schedule that it changes.
pub(crate) async fn in_compose(visit: &Visit, id: &str) -> Result<Option<Vec<(String, String)>>> {
    let document: Value = visit.get(&format!("/api/schedules/{}", encode(id))).await?;
    let mut fields = compose_fields(&document, visit.zone());
    if let Some(fields) = &mut fields {
        fields.push(("schedule".to_owned(), id.to_owned()));
        fields.extend(Seen::of(&document).field());
    }
    Ok(fields)
}

/// Puts a document in the place of a schedule, unless that was changed since its form was opened.
pub(crate) async fn replace(visit: &Visit, id: &str, document: Value, seen: &mut Seen) -> Result<()> {
    let path = format!("/api/schedules/{id}");
    let saved: Value = visit.get(&path).await?;
    if seen.lets_save("schedule", &saved, &document, ScheduledPush::parse_replacement)? {
        visit.change(Method::PUT, &path, Some(document)).await?;
    }
    Ok(())
}

/// The fields, with times in a zone. `None` if Compose would make another schedule of them.
pub(super) fn compose_fields(document: &Value, zone: &str) -> Option<Vec<(String, String)>> {
    let asked = asked_for(document);
    let mut fields = Written::fields_of(asked["push"].as_object()?)?;
    let mut add = |name: &str, value: String| fields.push((name.to_owned(), value));
    let schedule = document["schedule"].as_object()?;
    let text = |name: &str| schedule.get(name).and_then(Value::as_str);
    let in_zone = |text: &str| WallTime::at_named(UtcMillis::parse_api(text)?, zone).map(|wall| wall.to_string());
    add("zone", zone.to_owned());
    let is_local = match (text("scheduled_time"), text("local_scheduled_time")) {
        (Some(at), _) => {
            add("when", "at".to_owned());
            add("at", in_zone(at)?);
            false
        }
        (None, Some(at)) => {
            add("when", "local".to_owned());
            add("at", at.to_owned());
            true
        }
        (None, None) => {
            add("when", "best".to_owned());
            add("at", format!("{}T00:00:00", schedule.get("best_time")?["send_date"].as_str()?));
            true
        }
    };
    if let Some(recurring) = schedule.get("recurring") {
        let cadence = &recurring["cadence"];
        add("repeat", cadence["type"].as_str().filter(|unit| REPEATS.contains(unit))?.to_owned());
        add("every", cadence.get("count").map_or_else(|| "1".to_owned(), Value::to_string));
        for day in cadence["days_of_week"].as_array().into_iter().flatten() {
            add("day", day.as_str()?.to_owned());
        }
        if let Some(end) = recurring["end_time"].as_str() {
            add("until", if is_local { end.to_owned() } else { in_zone(end)? });
        }
    }
    let form = encoded(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let made = Written::read(&Fields::parse(&form)).document(true).ok()?.body;
    (made == asked).then_some(fields)
}

/// The document with what goes without saying, which is how often and that a message is called what its schedule is, and without
/// that it is not paused.
fn asked_for(document: &Value) -> Value {
    let mut asked = document.clone();
    if let (Some(name), Some(push)) = (document.get("name"), asked["push"].as_object_mut()) {
        push.entry("name").or_insert_with(|| name.clone());
    }
    if let Some(recurring) = asked.pointer_mut("/schedule/recurring").and_then(Value::as_object_mut) {
        if recurring.get("paused") == Some(&json!(false)) {
            recurring.remove("paused");
        }
        if let Some(cadence) = recurring.get_mut("cadence").and_then(Value::as_object_mut) {
            cadence.entry("count").or_insert(json!(1));
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(schedule: &Value) -> Value {
        json!({"schedule": schedule, "push": {"audience": {"tag": "a"}, "device_types": "all", "notification": {"alert": "x"}}})
    }

    #[test]
    fn what_compose_can_show_it_shows() {
        for schedule in [
            json!({"scheduled_time": "2030-06-01T09:00:00"}),
            json!({"local_scheduled_time": "2030-06-01T09:00:00"}),
            json!({"best_time": {"send_date": "2030-06-01"}}),
            json!({"scheduled_time": "2030-06-01T09:00:00", "recurring": {
                "cadence": {"type": "weekly", "count": 2, "days_of_week": ["monday", "friday"]},
                "end_time": "2030-12-01T09:00:00", "paused": false}}),
        ] {
            let fields = compose_fields(&document(&schedule), "Europe/Berlin");
            assert!(fields.is_some(), "{schedule}");
        }
        let mut named = document(&json!({"scheduled_time": "2030-06-01T09:00:00"}));
        named["name"] = json!("Soon");
        assert!(compose_fields(&named, "UTC").unwrap().contains(&("name".to_owned(), "Soon".to_owned())));
        let fields =
            compose_fields(&document(&json!({"scheduled_time": "2030-06-01T09:00:00"})), "Europe/Berlin").unwrap();
        assert!(fields.contains(&("at".to_owned(), "2030-06-01T11:00:00".to_owned())), "{fields:?}");
    }

    #[test]
    fn what_would_be_lost_is_not_shown() {
        let hourly =
            json!({"scheduled_time": "2030-06-01T09:00:00", "recurring": {"cadence": {"type": "hourly", "count": 2}}});
        let paused = json!({"scheduled_time": "2030-06-01T09:00:00",
                            "recurring": {"cadence": {"type": "daily", "count": 1}, "paused": true}});
        for schedule in [hourly, paused] {
            assert_eq!(compose_fields(&document(&schedule), "UTC"), None, "{schedule}");
        }
        assert_eq!(compose_fields(&json!({"schedule": {}, "push": {"merge_data": {}}}), "UTC"), None);
    }
}
