//! An audience as rows that people can click together. What rows cannot show stays JSON in a row of its own: nothing is lost on
//! the way there and back.

use serde_json::{Map, Number, Value, json};

use super::join_of;
use crate::form::Fields;

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) is_negated: bool,
    pub(crate) kind: Kind,
    pub(crate) value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tag,
    /// A tag of a group, as `group:tag`.
    GroupTag,
    /// A comparison of an attribute, as `name operator value`.
    Attribute,
    Segment,
    List,
    Subscription,
    /// Who was at a place lately, as `name (id) 30 days`; the name is for people.
    Place,
    NamedUser,
    Channel,
    /// Those whom an earlier push reached in some way, as `outcome:id`.
    PastPush,
    /// Any selector of the API.
    Json,
}

impl Kind {
    pub(crate) const ALL: [Self; 11] = [
        Kind::Tag,
        Kind::GroupTag,
        Kind::Attribute,
        Kind::Segment,
        Kind::List,
        Kind::Subscription,
        Kind::Place,
        Kind::NamedUser,
        Kind::Channel,
        Kind::PastPush,
        Kind::Json,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Tag => "tag",
            Kind::GroupTag => "group_tag",
            Kind::Attribute => "attribute",
            Kind::Segment => "segment",
            Kind::List => "static_list",
            Kind::Subscription => "subscription_list",
            Kind::Place => "location",
            Kind::NamedUser => "named_user",
            Kind::Channel => "channel",
            Kind::PastPush => "push",
            Kind::Json => "json",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Kind::Tag => "tagged",
            Kind::GroupTag => "tagged in a group",
            Kind::Attribute => "with the attribute",
            Kind::Segment => "in the segment",
            Kind::List => "on the list",
            Kind::Subscription => "subscribed to",
            Kind::Place => "lately at the place",
            Kind::NamedUser => "the user",
            Kind::Channel => "the device",
            Kind::PastPush => "by an earlier message",
            Kind::Json => "selected by JSON",
        }
    }

    pub(crate) fn example(self) -> &'static str {
        match self {
            Kind::Tag => "news",
            Kind::GroupTag => "loyalty:gold",
            Kind::Attribute => "plan equals gold",
            Kind::Segment => "the id of a segment",
            Kind::List => "name of a list",
            Kind::Subscription => "weekly",
            Kind::Place => "name of a place, to choose from",
            Kind::NamedUser => "kim-7",
            Kind::Channel => "id of a channel",
            Kind::PastPush => "not_opened:id of a push",
            Kind::Json => r#"{"tag": "news"}"#,
        }
    }

    fn from_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or(Kind::Tag)
    }
}

impl Join {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Join::And => "and",
            Join::Or => "or",
        }
    }
}

impl Conditions {
    /// What a form or a URL says.
    pub(crate) fn read(fields: &Fields) -> Self {
        let row = |n: usize| {
            let value = fields.exact(&format!("value{n}"))?;
            let word = |name: &str| fields.text(&format!("{name}{n}")).unwrap_or_default();
            Some(Row { is_negated: word("not") == "not", kind: Kind::from_word(word("kind")), value: value.to_owned() })
        };
        let rows = (0..MOST_ROWS).map_while(row).collect();
        let is_everybody = fields.text("who") != Some("some");
        Self { is_everybody, join: join_of(fields.text("join").unwrap_or_default()), rows }
    }

    /// The fields of a form that say the same.
    pub(crate) fn fields(&self) -> Vec<(String, String)> {
        let who = if self.is_everybody { "all" } else { "some" };
        let mut fields = vec![("who".to_owned(), who.to_owned()), ("join".to_owned(), self.join.word().to_owned())];
        for (n, row) in self.rows.iter().enumerate() {
            let not = if row.is_negated { "not" } else { "" };
            fields.push((format!("not{n}"), not.to_owned()));
            fields.push((format!("kind{n}"), row.kind.word().to_owned()));
            fields.push((format!("value{n}"), row.value.clone()));
        }
        fields
    }

    pub(crate) fn add(&mut self) {
        self.is_everybody = false;
        if self.rows.len() < MOST_ROWS {
            self.rows.push(Row { is_negated: false, kind: Kind::Tag, value: String::new() });
        }
    }

    /// Fills in the value of a row.
    pub(crate) fn fill(&mut self, n: usize, value: &str) {
        if let Some(row) = self.rows.get_mut(n) {
            value.clone_into(&mut row.value);
        }
    }

    pub(crate) fn remove(&mut self, n: usize) {
        if n < self.rows.len() {
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

    /// The audience of the API; the number of the row that is no selector, if one is not.
    pub(crate) fn audience(&self) -> Result<Value, usize> {
        if self.is_everybody {
            return Ok(json!("all"));
        }
        let selectors = self.rows.iter().enumerate().map(|(n, row)| row.selector().ok_or(n));
        let mut selectors = selectors.collect::<Result<Vec<Value>, usize>>()?;
        match selectors.len() {
            0 => Err(0),
            1 => Ok(selectors.remove(0)),
            _ => Ok(Value::Object(Map::from_iter([(self.join.word().to_owned(), Value::Array(selectors))]))),
        }
    }
}

impl Row {
    fn of(selector: &Value) -> Self {
        if let Some(inner) = only_key(selector, "not") {
            let row = Self::of_plain(inner);
            return Self { is_negated: true, ..row };
        }
        Self::of_plain(selector)
    }

    fn of_plain(selector: &Value) -> Self {
        let found = Kind::ALL.into_iter().find_map(|kind| Some((kind, value_of(kind, selector)?)));
        let (kind, value) = found.unwrap_or_else(|| (Kind::Json, selector.to_string()));
        let row = Self { is_negated: false, kind, value };
        // A value that would be read otherwise, such as one with spaces around it, stays JSON.
        if row.selector().as_ref() == Some(selector) {
            return row;
        }
        Self { is_negated: false, kind: Kind::Json, value: selector.to_string() }
    }

    fn selector(&self) -> Option<Value> {
        let value = self.value.trim();
        if value.is_empty() {
            return None;
        }
        let plain = match self.kind {
            Kind::Tag | Kind::Segment | Kind::List | Kind::Subscription | Kind::NamedUser | Kind::Channel => {
                Value::Object(Map::from_iter([(self.kind.word().to_owned(), json!(value))]))
            }
            Kind::Attribute => {
                let mut parts = value.splitn(3, ' ');
                let (name, operator, value) = (parts.next()?, parts.next()?, parts.next()?);
                // What looks like a number is one.
                let value = value.parse::<Number>().map_or_else(|_| json!(value), Value::Number);
                json!({"attribute": name, "operator": operator, "value": value})
            }
            Kind::GroupTag => {
                let (group, tag) = value.split_once(':')?;
                json!({"tag": tag, "group": group})
            }
            Kind::Place => {
                let (id, days) = place_of(value)?;
                json!({"location": {"id": id, "date": {"recent": {"days": days}}}})
            }
            Kind::PastPush => {
                let (outcome, id) = value.split_once(':')?;
                json!({"push": {"id": id, "outcome": outcome}})
            }
            Kind::Json => serde_json::from_str(value).ok()?,
        };
        Some(if self.is_negated { json!({"not": plain}) } else { plain })
    }
}

/// The value by which a row of this kind would show a selector.
fn value_of(kind: Kind, selector: &Value) -> Option<String> {
    match kind {
        Kind::Tag | Kind::Segment | Kind::List | Kind::Subscription | Kind::NamedUser | Kind::Channel => {
            only_key(selector, kind.word())?.as_str().map(str::to_owned)
        }
        Kind::GroupTag => {
            let fields = selector.as_object().filter(|fields| fields.len() == 2)?;
            Some(format!("{}:{}", fields.get("group")?.as_str()?, fields.get("tag")?.as_str()?))
        }
        Kind::Attribute => {
            let fields = selector.as_object().filter(|fields| fields.len() == 3)?;
            let value = match fields.get("value")? {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => return None,
            };
            Some(format!("{} {} {value}", fields.get("attribute")?.as_str()?, fields.get("operator")?.as_str()?))
        }
        Kind::Place => {
            let fields = only_key(selector, "location")?.as_object().filter(|fields| fields.len() == 2)?;
            let days = only_key(only_key(fields.get("date")?, "recent")?, "days")?.as_u64()?;
            Some(format!("({}) {days} days", fields.get("id")?.as_str()?))
        }
        Kind::PastPush => {
            let fields = only_key(selector, "push")?.as_object().filter(|fields| fields.len() == 2)?;
            Some(format!("{}:{}", fields.get("outcome")?.as_str()?, fields.get("id")?.as_str()?))
        }
        Kind::Json => None,
    }
}

/// The id and the days of a condition about a place: what follows the name.
pub(super) fn place_of(value: &str) -> Option<(&str, u64)> {
    let (id, days) = value.rsplit_once('(')?.1.split_once(')')?;
    let is_id = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric());
    let id = Some(id).filter(|_| is_id)?;
    Some((id, days.trim().strip_suffix("days")?.trim().parse().ok()?))
}

/// The value of an object that has this key and no other.
fn only_key<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.as_object().filter(|fields| fields.len() == 1)?.get(key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(is_negated: bool, kind: Kind, value: &str) -> Row {
        Row { is_negated, kind, value: value.to_owned() }
    }

    #[test]
    fn what_people_click_is_what_the_api_gets() {
        let audience = json!({"and": [{"tag": "news"}, {"not": {"tag": "gold", "group": "loyalty"}}, {"push": {"id": "x", "outcome": "opened"}}]});
        let conditions = Conditions::of(&audience);
        let rows = [
            row(false, Kind::Tag, "news"),
            row(true, Kind::GroupTag, "loyalty:gold"),
            row(false, Kind::PastPush, "opened:x"),
        ];
        assert_eq!((conditions.join, conditions.rows.as_slice()), (Join::And, rows.as_slice()));
        assert_eq!(conditions.audience(), Ok(audience));
        let compared = json!({"and": [{"attribute": "plan", "operator": "equals", "value": "very gold"},
                                      {"attribute": "age", "operator": "greater", "value": 7},
                                      {"attribute": "zip", "operator": "equals", "value": "0815"}]});
        let rows = Conditions::of(&compared).rows;
        let shown: Vec<_> = rows.iter().map(|row| (row.kind, row.value.as_str())).collect();
        assert_eq!(shown[..2], [(Kind::Attribute, "plan equals very gold"), (Kind::Attribute, "age greater 7")]);
        assert_eq!(Conditions::of(&compared).audience(), Ok(compared));
        let place = json!({"location": {"id": "4oFkxX7RcUdirjtaenEQIV", "date": {"recent": {"days": 4}}}});
        assert_eq!(Conditions::of(&place).rows, [row(false, Kind::Place, "(4oFkxX7RcUdirjtaenEQIV) 4 days")]);
        let named = row(true, Kind::Place, "Oregon (4oFkxX7RcUdirjtaenEQIV) 4 days");
        assert_eq!(named.selector(), Some(json!({"not": place})));
        let odd = json!({"location": {"id": "4oFkxX7RcUdirjtaenEQIV", "date": {"recent": {"months": 4}}}});
        assert_eq!(Conditions::of(&odd).rows, [row(false, Kind::Json, &odd.to_string())]);
        let empty = Conditions { is_everybody: false, join: Join::Or, rows: vec![row(false, Kind::Tag, " ")] };
        assert_eq!(empty.audience(), Err(0));
    }

    /// Selectors as the API takes them, and things that look like them.
    fn selector() -> impl Strategy<Value = Value> {
        let text = "[a-z: \\\\\"<]{0,8}";
        let leaf = prop_oneof![
            text.prop_map(|tag| json!({"tag": tag})),
            (text, text).prop_map(|(group, tag)| json!({"tag": tag, "group": group})),
            text.prop_map(|id| json!({"segment": id})),
            text.prop_map(|name| json!({"static_list": name})),
            text.prop_map(|user| json!({"named_user": user})),
            (text, text).prop_map(|(id, outcome)| json!({"push": {"id": id, "outcome": outcome}})),
            proptest::collection::vec(text, 0..3).prop_map(|tags| json!({"tag": tags})),
            any::<i64>().prop_map(|n| json!({"attribute": "x", "operator": "equals", "value": n})),
            any::<f64>().prop_map(|n| json!({"attribute": "x", "operator": "less", "value": n})),
            (text, text, "[a-z0-9 .-]{0,6}").prop_map(|(name, operator, value)| {
                json!({"attribute": name, "operator": operator, "value": value})
            }),
            text.prop_map(|list| json!({"subscription_list": list})),
            ("[a-z()]{0,4}", any::<u64>())
                .prop_map(|(id, days)| { json!({"location": {"id": id, "date": {"recent": {"days": days}}}}) }),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(|all| json!({"and": all})),
                proptest::collection::vec(inner.clone(), 0..4).prop_map(|any| json!({"or": any})),
                inner.prop_map(|not| json!({"not": not})),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_audience_is_lost_on_the_way_there_and_back(audience in selector()) {
            let conditions = Conditions::of(&audience);
            prop_assert_eq!(conditions.audience(), Ok(audience));
            let encoded = conditions.fields().iter()
                .map(|(name, value)| format!("{name}={}", crate::form::encode(value)))
                .collect::<Vec<_>>().join("&");
            prop_assert_eq!(Conditions::read(&Fields::parse(&encoded)), conditions);
        }
    }
}
