//! Selection by the activity of users.
//!
//! ```text
//! activity = "activity": NAME,
//!            "metric": count | total_value, "operator": less | less_eq | equals | greater | greater_eq, "value": NUMBER
//!          | "metric": first | last
//! window   = "after"?: moment, "before"?: moment, "precision"?: unit, "on"?: moment, "on_precision"?: unit
//! filter   = "where"?: property, as in a JSON attribute; /_triggering_push/push_id is the push from which the app was opened
//! moment   = INTEGER (that many units ago; needs the unit) | "now" | date-time
//! unit     = days | weeks | months | years
//! ```

use serde::Serialize;
use serde_json::Number;

use super::attribute::Property;
use super::comparison::Moment;
use crate::json::{At, Fields, Json};
use crate::limits;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Activity {
    pub activity: String,
    #[serde(flatten)]
    pub metric: Metric,
    #[serde(flatten)]
    pub window: Window,
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<Property>,
}

/// The measure over the window.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "metric", rename_all = "snake_case")]
pub enum Metric {
    Count(Threshold),
    TotalValue(Threshold),
    /// The first time it was done is in the window.
    First,
    /// The last time it was done is in the window.
    Last,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Threshold {
    pub operator: ThresholdOperator,
    pub value: Number,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdOperator {
    Less,
    LessEq,
    Equals,
    Greater,
    GreaterEq,
}

/// When it was done. A missing part does not limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Window {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<WindowUnit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_precision: Option<WindowUnit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowUnit {
    Days,
    Weeks,
    Months,
    Years,
}

impl Activity {
    pub(super) fn parse(at: &At<'_>, companions: &mut Fields<'_>) -> Option<Self> {
        let activity = at.text(1..=limits::ACTIVITY_CHARS);
        let metric = Metric::parse(companions);
        let window = Window::parse(companions);
        let filter = companions.optional("where", Property::parse);
        Some(Self { activity: activity?, metric: metric?, window: window?, filter })
    }
}

impl Metric {
    fn parse(fields: &mut Fields<'_>) -> Option<Self> {
        #[derive(Clone, Copy)]
        enum Word {
            Count,
            TotalValue,
            First,
            Last,
        }
        let words =
            [("count", Word::Count), ("total_value", Word::TotalValue), ("first", Word::First), ("last", Word::Last)];
        match fields.required("metric", |at| at.choice(&words))? {
            Word::Count => Threshold::parse(fields).map(Metric::Count),
            Word::TotalValue => Threshold::parse(fields).map(Metric::TotalValue),
            Word::First => Some(Metric::First),
            Word::Last => Some(Metric::Last),
        }
    }
}

impl Threshold {
    fn parse(fields: &mut Fields<'_>) -> Option<Self> {
        let operator = fields.required("operator", |at| {
            at.choice(&[
                ("less", ThresholdOperator::Less),
                ("less_eq", ThresholdOperator::LessEq),
                ("equals", ThresholdOperator::Equals),
                ("greater", ThresholdOperator::Greater),
                ("greater_eq", ThresholdOperator::GreaterEq),
            ])
        });
        let value = fields.required("value", |at| match at.json() {
            Json::Number(number) => Some(number.clone()),
            other => at.invalid(format!("This must be a number, not {}.", other.kind())),
        });
        Some(Self { operator: operator?, value: value? })
    }
}

impl Window {
    fn parse(fields: &mut Fields<'_>) -> Option<Self> {
        let units = [
            ("days", WindowUnit::Days),
            ("weeks", WindowUnit::Weeks),
            ("months", WindowUnit::Months),
            ("years", WindowUnit::Years),
        ];
        let after = fields.optional("after", Moment::parse);
        let before = fields.optional("before", Moment::parse);
        let precision = fields.optional("precision", |at| at.choice(&units));
        let on = fields.optional("on", Moment::parse);
        let on_precision = fields.optional("on_precision", |at| at.choice(&units));
        let is_away = |moment: &Option<Moment>| matches!(moment, Some(Moment::Away { .. }));
        if (is_away(&after) || is_away(&before)) && !fields.has("precision") {
            return fields.at().missing("precision");
        }
        if is_away(&on) && !fields.has("on_precision") {
            return fields.at().missing("on_precision");
        }
        Some(Self { after, before, precision, on, on_precision })
    }
}
