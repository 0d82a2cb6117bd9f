//! The questions that selectors by activity can ask: when the app was opened, or whether it was opened from a push.

use super::activity::{Activity, Metric, Window};
use super::attribute::Property;
use super::comparison::{Comparison, Scalar};
use super::openings::{APP_OPEN, Asked, NO_COUNT, OTHER_ACTIVITY, Openings};
use super::past_push::{PastOutcome, PastPush};

/// The properties of an opening that name the push whose notification was tapped, or the group of it.
const CAUSES: [&str; 2] = ["/_triggering_push/push_id", "/_triggering_push/group_id"];

const FILTERED: &str = "Of an opening only the push that caused it is known: 'where' takes the property /_triggering_push/push_id or \
                        /_triggering_push/group_id, the operator equals and the id as value.";
const NO_METRIC: &str = "Of openings from a push only a count can be asked for.";
const NO_WINDOW: &str = "It is not known when the app was opened from a push; leave out the time.";

/// A question that can be answered.
#[derive(Clone, Debug, PartialEq)]
pub enum ActivityQuestion<'a> {
    Openings(Openings<'a>),
    /// Whether the app was opened from a push.
    OpenedFrom(PastPush),
    /// Whether it was not, also by devices that never got it.
    NotOpenedFrom(PastPush),
}

impl Activity {
    /// The question, or why it cannot be answered.
    pub fn question(&self) -> Result<ActivityQuestion<'_>, &'static str> {
        let Some(filter) = &self.filter else { return self.openings().map(ActivityQuestion::Openings) };
        if self.activity != APP_OPEN {
            return Err(OTHER_ACTIVITY);
        }
        let past = opened_push(filter).ok_or(FILTERED)?;
        if self.window != Window::default() {
            return Err(NO_WINDOW);
        }
        match &self.metric {
            Metric::Count(threshold) => match threshold.asked() {
                Some(Asked::Some) => Ok(ActivityQuestion::OpenedFrom(past)),
                Some(Asked::None) => Ok(ActivityQuestion::NotOpenedFrom(past)),
                Some(Asked::First | Asked::Last | Asked::Always(_)) | None => Err(NO_COUNT),
            },
            Metric::TotalValue(_) | Metric::First | Metric::Last => Err(NO_METRIC),
        }
    }

    /// The push that it asks about.
    pub fn push(&self) -> Option<PastPush> {
        opened_push(self.filter.as_ref()?)
    }
}

fn opened_push(filter: &Property) -> Option<PastPush> {
    let Comparison::Equals(Scalar::Text(id)) = &filter.comparison else { return None };
    let id = CAUSES.contains(&filter.property.as_str()).then(|| id.parse().ok())??;
    Some(PastPush { id, outcome: PastOutcome::Opened })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;
    use crate::selector::{Atomic, Selector};

    const PUSH: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

    fn question(change: impl FnOnce(&mut Value)) -> Result<String, &'static str> {
        let filter = json!({"property": CAUSES[0], "operator": "equals", "compare_as": "text", "value": PUSH});
        let mut asked =
            json!({"activity": "app_open", "metric": "count", "operator": "greater", "value": 0, "where": filter});
        change(&mut asked);
        let read = parse(asked.to_string().as_bytes(), Selector::parse).unwrap();
        let Selector::Atomic(Atomic::Activity(activity)) = read else { panic!("{read:?}") };
        match activity.question()? {
            ActivityQuestion::Openings(_) => Ok("openings".to_owned()),
            ActivityQuestion::OpenedFrom(past) => Ok(format!("from {}", past.id)),
            ActivityQuestion::NotOpenedFrom(past) => Ok(format!("not from {}", past.id)),
        }
    }

    #[test]
    fn openings_are_known_by_the_push_that_caused_them() {
        assert_eq!(question(|_| {}), Ok(format!("from {PUSH}")));
        assert_eq!(question(|asked| asked["where"]["property"] = json!(CAUSES[1])), Ok(format!("from {PUSH}")));
        assert_eq!(question(|asked| asked["operator"] = json!("less_eq")), Ok(format!("not from {PUSH}")));
        for (wanted, key, value) in [
            (OTHER_ACTIVITY, "/activity", json!("bought")),
            (FILTERED, "/where/property", json!("/_triggering_push/campaigns/categories")),
            (FILTERED, "/where/operator", json!("contains")),
            (FILTERED, "/where/value", json!("neowise")),
            (NO_COUNT, "/value", json!(2)),
        ] {
            assert_eq!(question(|asked| *asked.pointer_mut(key).unwrap() = value), Err(wanted), "{key}");
        }
        assert_eq!(question(|asked| asked["on"] = json!("now")), Err(NO_WINDOW));
        let last = |asked: &mut Value| {
            asked["metric"] = json!("last");
            let fields = asked.as_object_mut().unwrap();
            fields.retain(|key, _| !["operator", "value"].contains(&key.as_str()));
        };
        assert_eq!(question(last), Err(NO_METRIC));
    }
}
