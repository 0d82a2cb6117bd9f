//! Conditions of pipelines as rows: the same rows as those of audiences, of the kinds that pipelines know.

use serde_json::{Map, Value, json};

use super::words::many;
use crate::error::{Error, Result};
use crate::parts::conditions::{Conditions, Join, Kind, Row};

pub(super) const KINDS: [Kind; 3] = [Kind::Tag, Kind::Subscription, Kind::PastPush];

/// The condition of a pipeline that rows say; none without rows.
pub(super) fn of_rows(conditions: &Conditions) -> Result<Option<Value>> {
    if conditions.rows.is_empty() {
        return Ok(None);
    }
    let incomplete =
        |n: usize| Error::invalid("who", &format!("Condition {} is not complete: fill it in, or remove it.", n + 1));
    let facts = conditions.rows.iter().enumerate().map(|(n, row)| fact(row).ok_or_else(|| incomplete(n)));
    let facts = facts.collect::<Result<Vec<Value>>>()?;
    Ok(Some(Value::Object(Map::from_iter([(conditions.join.word().to_owned(), facts.into())]))))
}

/// The rows that say a condition, if rows can.
pub(super) fn to_rows(condition: &Value) -> Option<Conditions> {
    let [condition] = many(condition)[..] else { return None };
    let (word, facts) = condition.as_object().filter(|keys| keys.len() == 1)?.iter().next()?;
    let join = match word.to_ascii_lowercase().as_str() {
        "and" => Join::And,
        "or" => Join::Or,
        _ => return None,
    };
    let rows: Option<Vec<Row>> = facts.as_array()?.iter().map(row).collect();
    Some(Conditions { is_everybody: false, join, rows: rows? })
}

fn fact(row: &Row) -> Option<Value> {
    // Complete is what would be complete in an audience.
    row.selector()?;
    let (value, of) = (row.value.trim(), row.of.trim());
    let (key, mut fact) = match row.kind {
        Kind::Tag if of.is_empty() => ("tag", json!({"tag_name": value})),
        Kind::Tag => ("tag", json!({"tag_name": value, "group": of})),
        Kind::Subscription => ("subscription", json!({"list_name": value})),
        Kind::PastPush => ("push", json!({"id": value, "outcome": row.how.trim()})),
        _ => return None,
    };
    if row.is_negated {
        fact["negated"] = json!(true);
    }
    Some(json!({ key: fact }))
}

fn row(said: &Value) -> Option<Row> {
    let (key, inner) = said.as_object().filter(|keys| keys.len() == 1)?.iter().next()?;
    let text = |name: &str| inner[name].as_str().map(str::to_owned);
    let plain = inner.as_str().map(str::to_owned);
    let is_negated = inner["negated"] == json!(true);
    let found = match key.as_str() {
        "tag" => Row {
            kind: Kind::Tag,
            of: text("group").unwrap_or_default(),
            value: text("tag_name").or(plain)?,
            is_negated,
            ..Row::default()
        },
        "subscription" => {
            Row { kind: Kind::Subscription, value: text("list_name").or(plain)?, is_negated, ..Row::default() }
        }
        "push" => Row { kind: Kind::PastPush, how: text("outcome")?, value: text("id")?, is_negated, ..Row::default() },
        _ => return None,
    };
    let known = ["tag_name", "group", "list_name", "id", "outcome", "negated"];
    let is_all = inner.as_object().is_none_or(|keys| keys.keys().all(|key| known.contains(&key.as_str())));
    // Values with spaces around them would be changed.
    let is_exact = [&found.of, &found.value].into_iter().all(|text| text.trim() == text);
    Some(found).filter(|found| is_all && is_exact && fact(found).is_some())
}
