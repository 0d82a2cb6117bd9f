//! An automation as the fields of a form, and the way back from the pipeline that it is. Parts that the form has no fields for stay
//! JSON: nothing is lost.

use serde_json::{Map, Value, json};

use super::facts;
use super::trigger::{Said, Trigger};
use super::words::many;
use crate::error::{Error, Result};
use crate::form::{Fields, encoded};
use crate::pages::compose::content::Content;
use crate::pages::compose::{more, recovered};
use crate::parts::conditions::Conditions;

/// Units of the delay: seconds, and the word for people.
pub(super) const UNITS: [(&str, &str); 4] = [("60", "minutes"), ("3600", "hours"), ("86400", "days"), ("1", "seconds")];

/// Keys of answers that are not part of what was sent.
pub(super) const READ_ONLY: [&str; 5] = ["uid", "url", "status", "creation_time", "last_modified_time"];

pub(super) struct Automation {
    pub(super) name: Option<String>,
    pub(super) is_enabled: bool,
    pub(super) triggers: Vec<Trigger>,
    delay: Option<String>,
    unit: String,
    pub(super) conditions: Conditions,
    pub(super) content: Content,
    /// Further parts of the push.
    more: String,
    /// Further parts of the pipeline.
    rest: String,
}

impl Automation {
    pub(super) fn read(fields: &Fields) -> Self {
        let text = |name: &str| fields.text(name).map(str::to_owned);
        let mut conditions = Conditions::read(fields);
        conditions.is_everybody = false;
        Self {
            name: text("name"),
            is_enabled: fields.is_checked("enabled"),
            triggers: Trigger::read_all(fields),
            delay: text("delay"),
            unit: text("unit").unwrap_or_else(|| UNITS[0].0.to_owned()),
            conditions,
            content: Content::read(fields),
            more: fields.exact("more").unwrap_or_default().to_owned(),
            rest: fields.exact("rest").unwrap_or_default().to_owned(),
        }
    }

    /// Does what a button of the form says.
    pub(super) fn change(&mut self, action: &str) {
        let removed = action.strip_prefix("remove-trigger-").and_then(|n| n.parse::<usize>().ok());
        if action == "add-trigger" {
            self.triggers.push(Trigger::new());
        } else if let Some(n) = removed.filter(|n| *n < self.triggers.len()) {
            self.triggers.remove(n);
        }
        self.content.change(action);
        self.conditions.change(action);
    }

    /// The push as far as it is written.
    pub(super) fn sketch(&self) -> Map<String, Value> {
        let mut push =
            Map::from_iter([("audience".to_owned(), json!("triggered")), ("device_types".to_owned(), json!("all"))]);
        push.extend(self.content.parts());
        more::lay_over(&mut push, more::read(&self.more).unwrap_or_default());
        push
    }

    /// The pipeline, as `POST /api/pipelines` takes it.
    pub(super) fn body(&self) -> Result<Value> {
        let rest = more::read(&self.rest)?;
        more::read(&self.more)?;
        let mut body = Map::from_iter([("enabled".to_owned(), json!(self.is_enabled))]);
        body.extend(self.name.as_ref().map(|name| ("name".to_owned(), json!(name))));
        let (mut immediate, mut historical) = (Vec::new(), Vec::new());
        for (n, trigger) in self.triggers.iter().enumerate() {
            let words =
                || Error::invalid("trigger", &format!("Trigger {} is not complete: fill it in, or remove it.", n + 1));
            match trigger.say().ok_or_else(words)? {
                Said::Immediate(said) => immediate.push(said),
                Said::Historical(said) => historical.push(said),
            }
        }
        body.extend(one_or_many(immediate).map(|said| ("immediate_trigger".to_owned(), said)));
        body.extend(one_or_many(historical).map(|said| ("historical_trigger".to_owned(), said)));
        body.extend(self.seconds()?.map(|seconds| ("timing".to_owned(), json!({"delay": {"seconds": seconds}}))));
        body.extend(facts::of_rows(&self.conditions)?.map(|condition| ("condition".to_owned(), condition)));
        if !rest.contains_key("outcome") {
            if !self.sketch().contains_key("notification") {
                self.content.check()?;
            }
            body.insert("outcome".to_owned(), json!({"push": self.sketch()}));
        }
        for (key, value) in rest {
            match (body.get_mut(&key), value) {
                // The delay has a field, and the rest of the timing has none.
                (Some(Value::Object(own)), Value::Object(more)) if key == "timing" => own.extend(more),
                (_, value) => {
                    body.insert(key, value);
                }
            }
        }
        Ok(body.into())
    }

    fn seconds(&self) -> Result<Option<u64>> {
        let Some(delay) = &self.delay else { return Ok(None) };
        let unit: u64 = self.unit.parse().unwrap_or(60);
        let unreadable = || Error::invalid("delay", "Say as a number how long to wait.");
        let seconds = delay.parse::<u64>().ok().and_then(|delay| delay.checked_mul(unit)).ok_or_else(unreadable)?;
        Ok(Some(seconds).filter(|seconds| *seconds > 0))
    }

    /// The fields that show a pipeline.
    pub(super) fn fields_of(body: &Map<String, Value>) -> Fields {
        let mut rest = body.clone();
        rest.retain(|key, _| !READ_ONLY.contains(&key.as_str()));
        let mut fields: Vec<(String, String)> = Vec::new();
        if rest.remove("enabled") == Some(json!(true)) {
            fields.push(("enabled".to_owned(), "yes".to_owned()));
        }
        if let Some(name) = rest.get("name").and_then(Value::as_str) {
            fields.push(("name".to_owned(), name.to_owned()));
            rest.remove("name");
        }
        for (n, trigger) in take_triggers(&mut rest).iter().enumerate() {
            fields.extend(trigger.fields(n));
        }
        let conditions = rest.get("condition").and_then(facts::to_rows);
        if let Some(conditions) = conditions {
            fields.extend(conditions.fields());
            rest.remove("condition");
        }
        let of_push = take_push(&mut rest);
        if let Some(seconds) = take_delay(&mut rest) {
            let unit = ["86400", "3600", "60"]
                .into_iter()
                .find(|unit| unit.parse().is_ok_and(|unit| seconds.is_multiple_of(unit)));
            let unit = unit.unwrap_or("1");
            fields.push(("delay".to_owned(), (seconds / unit.parse::<u64>().unwrap_or(1)).to_string()));
            fields.push(("unit".to_owned(), unit.to_owned()));
        }
        fields.extend(of_push);
        if !rest.is_empty() {
            fields.push(("rest".to_owned(), serde_json::to_string_pretty(&rest).unwrap_or_default()));
        }
        Fields::parse(&encoded(fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
    }
}

fn one_or_many(mut said: Vec<Value>) -> Option<Value> {
    match said.len() {
        0 => None,
        1 => said.pop(),
        _ => Some(said.into()),
    }
}

fn take_triggers(rest: &mut Map<String, Value>) -> Vec<Trigger> {
    let immediate = rest.remove("immediate_trigger").unwrap_or_default();
    let mut triggers: Vec<Trigger> = many(&immediate).into_iter().map(Trigger::of_immediate).collect();
    let historical = rest.get("historical_trigger").cloned().unwrap_or_default();
    let shown: Option<Vec<Trigger>> = many(&historical).into_iter().map(Trigger::of_historical).collect();
    if let Some(shown) = shown {
        triggers.extend(shown);
        rest.remove("historical_trigger");
    }
    triggers
}

/// The fields of the message, if there is one and not several.
fn take_push(rest: &mut Map<String, Value>) -> Vec<(String, String)> {
    let outcomes = rest.get("outcome").cloned().unwrap_or_default();
    let [outcome] = many(&outcomes)[..] else { return Vec::new() };
    let Some(push) = outcome["push"].as_object() else { return Vec::new() };
    let is_usual = push.get("audience") == Some(&json!("triggered")) && push.contains_key("device_types");
    let is_more =
        outcome.as_object().is_some_and(|keys| keys.keys().any(|key| !["push", "delay"].contains(&key.as_str())));
    if !is_usual || is_more {
        return Vec::new();
    }
    let mut fields = recovered::fields_of(push);
    let form = encoded(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let base = Automation::read(&Fields::parse(&form)).sketch();
    let Some(more) = more::difference(push, &base) else { return Vec::new() };
    if !more.is_empty() {
        fields.push(("more".to_owned(), serde_json::to_string_pretty(&more).unwrap_or_default()));
    }
    // All outcomes wait equally long, so that the delay of this one is that of the pipeline.
    if let Some(seconds) = outcome["delay"].as_u64() {
        rest.insert("timing".to_owned(), with_delay(rest.get("timing"), seconds));
    }
    rest.remove("outcome");
    fields
}

fn with_delay(timing: Option<&Value>, seconds: u64) -> Value {
    let mut timing = timing.and_then(Value::as_object).cloned().unwrap_or_default();
    timing.insert("delay".to_owned(), json!({"seconds": seconds}));
    timing.into()
}

fn take_delay(rest: &mut Map<String, Value>) -> Option<u64> {
    let timing = rest.get_mut("timing")?.as_object_mut()?;
    let delay = timing.get("delay")?.as_object().filter(|delay| delay.len() == 1)?;
    let seconds = delay.get("seconds")?.as_u64()?;
    timing.remove("delay");
    if timing.is_empty() {
        rest.remove("timing");
    }
    Some(seconds)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there_and_back(body: &Value) -> Value {
        Automation::read(&Automation::fields_of(body.as_object().unwrap())).body().unwrap()
    }

    fn push(alert: &str) -> Value {
        json!({"audience": "triggered", "device_types": "all", "notification": {"alert": alert}})
    }

    #[test]
    fn a_usual_pipeline_has_fields_for_everything() {
        let body = json!({
            "name": "Welcome", "enabled": true,
            "immediate_trigger": ["first_open", {"tag_added": {"tag": "cart", "group": "shop"}}, {"tag_removed": "x"},
                {"subscription_added": "weekly"}, {"custom_event": {"key": "name", "value": {"equals": "bought"}}}],
            "historical_trigger": {"event": "open", "equals": 0, "days": 30},
            "condition": {"and": [{"tag": {"tag_name": "quiet", "negated": true}}, {"tag": {"tag_name": "a", "group": "g"}},
                {"subscription": {"list_name": "l"}}, {"push": {"id": "i", "outcome": "opened", "negated": true}}]},
            "timing": {"delay": {"seconds": 7200}},
            "outcome": {"push": push("Hello")},
        });
        let fields = Automation::fields_of(body.as_object().unwrap());
        assert_eq!((fields.text("rest"), fields.text("more")), (None, None));
        assert_eq!(
            (fields.text("delay"), fields.text("unit"), fields.text("text")),
            (Some("2"), Some("3600"), Some("Hello"))
        );
        assert_eq!(there_and_back(&body), body);
    }

    #[test]
    fn what_has_no_fields_is_kept() {
        for body in [
            json!({"enabled": false, "immediate_trigger": {"tag_added": "a", "id": "x", "activation_time": "2030-01-01T00:00:00"},
                "outcome": [{"push": push("a")}, {"push": push("b")}], "constraint": [{"rate": {"pushes": 1, "days": 7}}]}),
            json!({"enabled": true, "immediate_trigger": {"custom_event": {"key": "value", "value": {"at_least": 5}}},
                "cancellation_trigger": "open", "condition": [{"or": [{"tag": "a"}]}, {"and": [{"tag": "b"}]}],
                "timing": {"delay": {"seconds": 90}, "schedule": {"dayparts": []}},
                "outcome": {"push": {"audience": "triggered", "device_types": ["ios"], "notification": {"alert": "x", "ios": {"badge": 1}}}}}),
        ] {
            assert_eq!(there_and_back(&body), body);
        }
        // Both say the same.
        let inner =
            json!({"enabled": true, "immediate_trigger": ["open"], "outcome": [{"push": push("a"), "delay": 60}]});
        let outer = json!({"enabled": true, "immediate_trigger": "open", "timing": {"delay": {"seconds": 60}}, "outcome": {"push": push("a")}});
        assert_eq!(there_and_back(&inner), outer);
    }

    proptest! {
        #[test]
        fn keys_of_the_future_are_kept(key in "[a-d]{1,3}", value in any::<i64>(), text in "[ -~]{1,12}") {
            let mut body = json!({"enabled": true, "immediate_trigger": "open", "outcome": {"push": push(&text)}});
            body[&key] = json!(value);
            body["outcome"]["push"][&key] = json!({"x": value});
            prop_assert_eq!(there_and_back(&body), body);
        }
    }
}
