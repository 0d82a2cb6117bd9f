//! An audience in words: "people who are tagged beta in the group loyalty, and are not in the segment Quiet".

use super::draw::COMPARISONS;
use super::known::{Known, List};
use super::row::USUAL_DAYS;
use super::{Conditions, Kind, Row};

/// For whom something is; `None` if something is missing.
pub(crate) fn sentence(conditions: &Conditions, known: &Known) -> Option<String> {
    if conditions.is_everybody {
        return Some("everybody".to_owned());
    }
    conditions.audience().ok()?;
    Some(format!("people who {}", joined(conditions, known)))
}

fn joined(conditions: &Conditions, known: &Known) -> String {
    let between = format!(", {} ", conditions.join.word());
    conditions.rows.iter().map(|row| predicate(row, known)).collect::<Vec<_>>().join(&between)
}

fn predicate(row: &Row, known: &Known) -> String {
    let value = row.value.trim();
    let either = |yes: &str, no: &str, rest: String| format!("{} {rest}", if row.is_negated { no } else { yes });
    let are = |rest: String| either("are", "are not", rest);
    let name = |list| known.find(&list, value).map_or(value, |choice| choice.words.as_str()).to_owned();
    match row.kind {
        Kind::Tag if row.of.trim().is_empty() => are(format!("tagged {value}")),
        Kind::Tag => are(format!("tagged {value} in the group {}", row.of.trim())),
        Kind::Attribute => {
            let how = row.how.trim();
            let how = COMPARISONS.iter().find(|(word, _)| *word == how).map_or(how, |(_, words)| words);
            let value = if row.how.trim() == "is_empty" { String::new() } else { format!(" {value}") };
            either("have", "do not have", format!("an attribute {} that {how}{value}", row.of.trim()))
        }
        Kind::Segment => are(format!("in the segment {}", name(List::Segments))),
        Kind::List => are(format!("on the list {value}")),
        Kind::Subscription => are(format!("subscribed to {value}")),
        Kind::Place => {
            let place = value.rsplit_once('(').map_or(value, |(name, _)| name.trim());
            let place = if place.is_empty() { value } else { place };
            let days = if row.how.trim().is_empty() { USUAL_DAYS } else { row.how.trim() };
            let s = if days == "1" { "" } else { "s" };
            either("were", "were not", format!("at {place} within the last {days} day{s}"))
        }
        Kind::NamedUser => are(format!("the user {value}")),
        Kind::Channel => either("use", "do not use", format!("the device {value}")),
        Kind::PastPush => {
            let done = match row.how.trim() {
                "delivered" => "got",
                "not_delivered" => "should have got and did not get",
                "opened" => "opened",
                "not_opened" => "got and did not open",
                _ => "did not get, because it failed,",
            };
            let message = format!("{done} the message {}", name(List::Messages));
            if row.is_negated { format!("are not among those who {message}") } else { message }
        }
        Kind::Json => match row.nested() {
            Some(inner) if row.is_negated => format!("are not those who ({})", joined(&inner, known)),
            Some(inner) => format!("({})", joined(&inner, known)),
            None => either("fit", "do not fit", value.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn audiences_are_told_in_words() {
        let told = |audience| sentence(&Conditions::of(&audience), &Known::default()).unwrap();
        assert_eq!(told(json!("all")), "everybody");
        let audience = json!({"and": [
            {"tag": "beta", "group": "loyalty"}, {"not": {"tag": "quiet"}},
            {"attribute": "age", "operator": "greater", "value": 7},
            {"or": [{"static_list": "vip"}, {"not": {"subscription_list": "weekly"}}]},
        ]});
        assert_eq!(
            told(audience),
            "people who are tagged beta in the group loyalty, and are not tagged quiet, and have an attribute age that is more \
             than 7, and (are on the list vip, or are not subscribed to weekly)"
        );
        let push = json!({"not": {"push": {"id": "x", "outcome": "opened"}}});
        assert_eq!(told(push), "people who are not among those who opened the message x");
        assert_eq!(told(json!({"ios_channel": "x"})), "people who fit {\"ios_channel\":\"x\"}");
    }
}
