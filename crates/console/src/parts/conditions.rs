//! An audience as rows that people can click together: in Compose, in segments and in automations. What rows cannot show stays JSON
//! in a row of its own: nothing is lost on the way there and back.

mod draw;
mod known;
pub(crate) mod places;
mod row;
mod typed;
mod words;

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::form::Fields;

pub(crate) use draw::{datalists, rows, tag_fields, value_choice};
pub(crate) use known::{Known, List};
pub(crate) use row::{Kind, Row};
pub(crate) use typed::Audience;
pub(crate) use words::sentence;

/// Enough for people; longer ones come from programs.
const MOST_ROWS: usize = 50;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conditions {
    pub(crate) is_everybody: bool,
    pub(crate) join: Join,
    pub(crate) rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    And,
    Or,
}

impl Join {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Join::And => "and",
            Join::Or => "or",
        }
    }

    fn from_word(word: &str) -> Self {
        if word == "or" { Join::Or } else { Join::And }
    }
}

impl Conditions {
    /// What a form or a URL says.
    pub(crate) fn read(fields: &Fields) -> Self {
        let rows = (0..MOST_ROWS).map_while(|n| Row::read(fields, n)).collect();
        let is_everybody = fields.text("who") != Some("some");
        Self { is_everybody, join: Join::from_word(fields.text("join").unwrap_or_default()), rows }
    }

    /// The fields of a form that say the same.
    pub(crate) fn fields(&self) -> Vec<(String, String)> {
        let who = if self.is_everybody { "all" } else { "some" };
        let mut fields = vec![("who".to_owned(), who.to_owned()), ("join".to_owned(), self.join.word().to_owned())];
        fields.extend(self.rows.iter().enumerate().flat_map(|(n, row)| row.fields(n)));
        fields
    }

    /// Does what a button of the rows says: adds one, removes one, chooses a place. Other buttons do nothing here.
    pub(crate) fn change(&mut self, action: &str) {
        let number = |prefix: &str| action.strip_prefix(prefix)?.parse::<usize>().ok();
        if action == "add" {
            self.is_everybody = false;
            if self.rows.len() < MOST_ROWS {
                self.rows.push(Row::default());
            }
        } else if let Some((n, value)) = action.strip_prefix("place-").and_then(|chosen| chosen.split_once('-')) {
            if let Some(row) = n.parse::<usize>().ok().and_then(|n| self.rows.get_mut(n)) {
                value.clone_into(&mut row.value);
            }
        } else if let Some(n) = number("remove-").filter(|n| *n < self.rows.len()) {
            self.rows.remove(n);
        }
    }

    /// The rows that say what an audience of the API says.
    pub(crate) fn of(audience: &Value) -> Self {
        if audience == "all" {
            return Self { is_everybody: true, join: Join::And, rows: Vec::new() };
        }
        for join in [Join::And, Join::Or] {
            let parts = only_key(audience, join.word()).and_then(Value::as_array);
            // One part alone would be printed without the word around it.
            if let Some(parts) = parts.filter(|parts| (2..=MOST_ROWS).contains(&parts.len())) {
                return Self { is_everybody: false, join, rows: parts.iter().map(Row::of).collect() };
            }
        }
        Self { is_everybody: false, join: Join::And, rows: vec![Row::of(audience)] }
    }

    /// The audience that somebody has written as JSON.
    pub(crate) fn of_json(text: &str) -> Result<Self, Error> {
        let audience = serde_json::from_str::<Value>(text);
        let audience = audience.map_err(|error| Error::invalid("json", &format!("This is no JSON: {error}.")))?;
        Ok(Self::of(&audience))
    }

    /// The audience of the API, or what is missing.
    pub(crate) fn audience(&self) -> Result<Value, Error> {
        if self.is_everybody {
            return Ok(json!("all"));
        }
        let incomplete = |n: usize| {
            Error::invalid("who", &format!("Condition {} is not complete: fill it in, or remove it.", n + 1))
        };
        let selectors = self.rows.iter().enumerate().map(|(n, row)| row.selector().ok_or_else(|| incomplete(n)));
        let mut selectors = selectors.collect::<Result<Vec<Value>, Error>>()?;
        match selectors.len() {
            0 => Err(Error::invalid("who", "Add a condition, or choose everybody.")),
            1 => Ok(selectors.remove(0)),
            _ => Ok(Value::Object(Map::from_iter([(self.join.word().to_owned(), Value::Array(selectors))]))),
        }
    }

    /// All rows, with those of audiences that are nested in a row.
    fn leaves(&self) -> Vec<Row> {
        let nested = |row: &Row| match row.nested() {
            Some(inner) => inner.leaves(),
            None => vec![row.clone()],
        };
        self.rows.iter().flat_map(nested).collect()
    }
}

/// The value of an object that has this key and no other.
fn only_key<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.as_object().filter(|fields| fields.len() == 1)?.get(key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::form::encoded;

    #[test]
    fn what_people_click_is_what_the_api_gets() {
        let audience = json!({"and": [{"tag": "news"}, {"not": {"tag": "gold", "group": "loyalty"}},
                                      {"push": {"id": "x", "outcome": "opened"}},
                                      {"attribute": "plan", "operator": "equals", "value": "very gold"},
                                      {"attribute": "age", "operator": "greater", "value": 7},
                                      {"attribute": "zip", "operator": "equals", "value": "0815"},
                                      {"attribute": "mail", "operator": "is_empty"},
                                      {"attribute": "born", "operator": "before", "value": "2001-01-01T00:00:00"},
                                      {"location": {"id": "4oFkxX7RcUdirjtaenEQIV", "date": {"recent": {"days": 4}}}}]});
        let conditions = Conditions::of(&audience);
        assert!(conditions.rows.iter().all(|row| row.kind != Kind::Json), "{conditions:?}");
        let shown: Vec<_> = conditions.rows.iter().map(|row| [&*row.of, &*row.how, &*row.value]).collect();
        assert_eq!(shown[1..4], [["loyalty", "", "gold"], ["", "opened", "x"], ["plan", "equals", "very gold"]]);
        assert_eq!(shown[8], ["", "4", "(4oFkxX7RcUdirjtaenEQIV)"]);
        assert_eq!(conditions.audience().unwrap(), audience);
        let empty = Conditions { is_everybody: false, join: Join::Or, rows: vec![Row::default()] };
        assert!(empty.audience().is_err());
    }

    #[test]
    fn another_kind_begins_with_empty_fields() {
        let read = |form: &str| Conditions::read(&Fields::parse(form)).rows;
        let form = "who=some&kind0=segment&value0=news&of0=loyalty";
        assert_eq!(read(form)[0].value, "news");
        assert_eq!(read(&format!("{form}&was0=tag"))[0], Row { kind: Kind::Segment, ..Row::default() });
        assert_eq!(read(&format!("{form}&was0=segment"))[0].value, "news");
    }

    /// Selectors as the API takes them, and things that look like them.
    fn selector() -> impl Strategy<Value = Value> {
        let text = "[a-z: \\\\\"<]{0,8}";
        let operator = prop_oneof![
            Just("equals".to_owned()),
            Just("contains".to_owned()),
            Just("is_empty".to_owned()),
            Just("before".to_owned()),
            Just("after".to_owned()),
            Just("range".to_owned()),
            text.prop_map(|text| text)
        ];
        let operand = prop_oneof![
            "[a-z0-9 .-]{0,6}".prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            "20[0-9]{2}-0[1-9]-[0-2]1(T0[0-9]:00(:00)?)?".prop_map(Value::from),
            Just(json!("now")),
            Just(Value::Null),
        ];
        let leaf = prop_oneof![
            text.prop_map(|tag| json!({"tag": tag})),
            (text, text).prop_map(|(group, tag)| json!({"tag": tag, "group": group})),
            (text, text).prop_map(|(class, tag)| json!({"tag": tag, "tag_class": class})),
            text.prop_map(|id| json!({"segment": id})),
            text.prop_map(|name| json!({"static_list": name})),
            text.prop_map(|user| json!({"named_user": user})),
            text.prop_map(|id| json!({"ios_channel": id})),
            text.prop_map(|list| json!({"subscription_list": list})),
            (text, text).prop_map(|(id, outcome)| json!({"push": {"id": id, "outcome": outcome}})),
            proptest::collection::vec(text, 0..3).prop_map(|tags| json!({"tag": tags})),
            text.prop_map(|name| json!({"attribute": name, "operator": "is_empty"})),
            (text, operator.clone(), operand.clone()).prop_map(|(name, operator, value)| {
                json!({"attribute": name, "operator": operator, "value": value})
            }),
            (text, operator, operand).prop_map(|(name, operator, value)| {
                json!({"attribute": name, "operator": operator, "value": value, "precision": "days", "relative_to": "past"})
            }),
            ("[a-z()]{0,4}", any::<u64>())
                .prop_map(|(id, days)| json!({"location": {"id": id, "date": {"recent": {"days": days}}}})),
            ("[a-z]{0,4}", any::<u64>())
                .prop_map(|(id, months)| json!({"location": {"id": id, "date": {"recent": {"months": months}}}})),
        ];
        let joined = |word: [&'static str; 2]| prop_oneof![Just(word[0]), Just(word[1])];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                (joined(["and", "AND"]), proptest::collection::vec(inner.clone(), 0..4))
                    .prop_map(|(word, all)| json!({word: all})),
                (joined(["or", "Or"]), proptest::collection::vec(inner.clone(), 0..4))
                    .prop_map(|(word, any)| json!({word: any})),
                (joined(["not", "NOT"]), inner.clone()).prop_map(|(word, not)| json!({word: not})),
                inner.prop_map(|not| json!({"not": [not]})),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_audience_is_lost_on_the_way_there_and_back(audience in selector()) {
            let conditions = Conditions::of(&audience);
            prop_assert_eq!(conditions.audience().ok(), Some(audience));
            let fields = conditions.fields();
            let form = encoded(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            prop_assert_eq!(Conditions::read(&Fields::parse(&form)), conditions);
        }
    }
}
