//! One condition: its kind, its fields, and the selector of the API that they say.

use serde_json::{Map, Number, Value, json};

use super::{Conditions, only_key};
use crate::form::Fields;

/// What people typed and chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) is_negated: bool,
    pub(crate) kind: Kind,
    /// The group of a tag, or the name of an attribute.
    pub(crate) of: String,
    /// How an attribute is compared, what became of a message, or within how many days somebody was at a place.
    pub(crate) how: String,
    /// Of a place: its name for people, and then its id in parentheses.
    pub(crate) value: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Tag,
    Attribute,
    Segment,
    List,
    Subscription,
    /// Somebody was at a place lately.
    Place,
    NamedUser,
    Channel,
    /// Those whom an earlier push reached in some way.
    PastPush,
    /// Any selector of the API.
    Json,
}

/// The fields of a row, before its number.
pub(super) const FIELDS: [&str; 6] = ["not", "kind", "was", "of", "how", "value"];

/// How long ago somebody was at a place, unless somebody changes it.
pub(super) const USUAL_DAYS: &str = "30";

impl Kind {
    pub(crate) const ALL: [Self; 10] = [
        Kind::Tag,
        Kind::Attribute,
        Kind::Segment,
        Kind::List,
        Kind::Subscription,
        Kind::PastPush,
        Kind::Place,
        Kind::NamedUser,
        Kind::Channel,
        Kind::Json,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Tag => "tag",
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

    pub(super) fn label(self) -> &'static str {
        match self {
            Kind::Tag => "tagged",
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

    fn from_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or_default()
    }
}

impl Row {
    /// The row with this number in a form, if there is one. A form says as which kind it has shown a row: fields of another kind
    /// are not those of the new one.
    pub(super) fn read(fields: &Fields, n: usize) -> Option<Self> {
        let exact = |name: &str| fields.exact(&format!("{name}{n}"));
        let kind = exact("kind").or(exact("value").map(|_| ""))?;
        let is_negated = exact("not") == Some("not");
        if exact("was").is_some_and(|was| was != kind) {
            return Some(Self { is_negated, kind: Kind::from_word(kind), ..Self::default() });
        }
        let text = |name: &str| exact(name).unwrap_or_default().to_owned();
        Some(Self { is_negated, kind: Kind::from_word(kind), of: text("of"), how: text("how"), value: text("value") })
    }

    pub(super) fn fields(&self, n: usize) -> Vec<(String, String)> {
        let not = if self.is_negated { "not" } else { "" };
        let all =
            [("not", not), ("kind", self.kind.word()), ("of", &*self.of), ("how", &*self.how), ("value", &*self.value)];
        let said = all.into_iter().filter(|(name, value)| *name == "kind" || !value.is_empty());
        said.map(|(name, value)| (format!("{name}{n}"), value.to_owned())).collect()
    }

    pub(super) fn of(selector: &Value) -> Self {
        match only_key(selector, "not") {
            Some(inner) => Self { is_negated: true, ..Self::of_plain(inner) },
            None => Self::of_plain(selector),
        }
    }

    fn of_plain(selector: &Value) -> Self {
        let found = Kind::ALL.into_iter().find_map(|kind| Self::of_kind(kind, selector));
        // A value that would be read otherwise, such as one with spaces around it, stays JSON.
        let found = found.filter(|row| row.selector().as_ref() == Some(selector));
        found.unwrap_or_else(|| Self { kind: Kind::Json, value: selector.to_string(), ..Self::default() })
    }

    /// The row of this kind that would show a selector.
    fn of_kind(kind: Kind, selector: &Value) -> Option<Self> {
        let row = Self { kind, ..Self::default() };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let fields = selector.as_object()?;
        match kind {
            Kind::Tag => {
                let of = fields.get("group").map_or(Some(String::new()), text)?;
                Some(Self { of, value: text(fields.get("tag")?)?, ..row })
            }
            Kind::Segment | Kind::List | Kind::Subscription | Kind::NamedUser | Kind::Channel => {
                Some(Self { value: text(only_key(selector, kind.word())?)?, ..row })
            }
            Kind::Attribute => {
                let value = match fields.get("value") {
                    None => String::new(),
                    Some(Value::String(text)) => text.clone(),
                    Some(Value::Number(number)) => number.to_string(),
                    Some(_) => return None,
                };
                Some(Self { of: text(fields.get("attribute")?)?, how: text(fields.get("operator")?)?, value, ..row })
            }
            Kind::Place => {
                let fields = only_key(selector, "location")?.as_object()?;
                let days = only_key(only_key(fields.get("date")?, "recent")?, "days")?.as_u64()?;
                Some(Self { how: days.to_string(), value: format!("({})", fields.get("id")?.as_str()?), ..row })
            }
            Kind::PastPush => {
                let fields = only_key(selector, "push")?.as_object()?;
                Some(Self { how: text(fields.get("outcome")?)?, value: text(fields.get("id")?)?, ..row })
            }
            Kind::Json => None,
        }
    }

    /// The selector of the API; `None` if something is missing.
    pub(crate) fn selector(&self) -> Option<Value> {
        let (of, how, value) = (self.of.trim(), self.how.trim(), self.value.trim());
        let is_empty = self.kind == Kind::Attribute && how == "is_empty";
        if value.is_empty() && !is_empty {
            return None;
        }
        let plain = match self.kind {
            Kind::Segment | Kind::List | Kind::Subscription | Kind::NamedUser | Kind::Channel => {
                Value::Object(Map::from_iter([(self.kind.word().to_owned(), json!(value))]))
            }
            Kind::Tag if of.is_empty() => json!({"tag": value}),
            Kind::Tag => json!({"tag": value, "group": of}),
            Kind::Attribute if of.is_empty() || how.is_empty() => return None,
            Kind::Attribute if is_empty => json!({"attribute": of, "operator": how}),
            Kind::Attribute => json!({"attribute": of, "operator": how, "value": operand(how, value)}),
            Kind::Place => {
                let days: u64 = if how.is_empty() { USUAL_DAYS } else { how }.parse().ok()?;
                json!({"location": {"id": place_id(value)?, "date": {"recent": {"days": days}}}})
            }
            Kind::PastPush if how.is_empty() => return None,
            Kind::PastPush => json!({"push": {"id": value, "outcome": how}}),
            Kind::Json => serde_json::from_str(value).ok()?,
        };
        Some(if self.is_negated { json!({"not": plain}) } else { plain })
    }

    /// Whether nothing was filled in yet. How something is compared is always chosen.
    pub(super) fn is_blank(&self) -> bool {
        self.of.trim().is_empty() && self.value.trim().is_empty()
    }

    /// The conditions inside a row of JSON that joins several.
    pub(super) fn nested(&self) -> Option<Conditions> {
        let selector: Value = serde_json::from_str(&self.value).ok().filter(|_| self.kind == Kind::Json)?;
        let inner = Conditions::of(&selector);
        (inner.rows.len() > 1 || inner.rows.iter().any(|row| row.kind != Kind::Json)).then_some(inner)
    }

    /// Whether an attribute is compared with a time.
    pub(super) fn is_about_time(&self) -> bool {
        ["before", "after"].contains(&self.how.trim())
    }
}

/// What an attribute is compared with: what looks like a number is one, and times have seconds, which browsers leave out.
fn operand(how: &str, value: &str) -> Value {
    if ["before", "after"].contains(&how) {
        return if is_minute(value) { json!(format!("{value}:00")) } else { json!(value) };
    }
    value.parse::<Number>().map_or_else(|_| json!(value), Value::Number)
}

/// Whether this is a time such as `2030-01-31T12:00`.
fn is_minute(value: &str) -> bool {
    let pattern = b"dddd-dd-ddTdd:dd";
    let fits = |(byte, wanted): (u8, &u8)| if *wanted == b'd' { byte.is_ascii_digit() } else { byte == *wanted };
    value.len() == pattern.len() && value.bytes().zip(pattern).all(fits)
}

/// Whether browsers take this as a time.
pub(super) fn is_time(value: &str) -> bool {
    is_minute(value) || value.strip_suffix(":00").is_some_and(is_minute)
}

/// The id in the condition about a place, which follows the name.
pub(super) fn place_id(value: &str) -> Option<&str> {
    let id = value.trim().strip_suffix(')')?.rsplit_once('(')?.1;
    let is_id = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric());
    Some(id).filter(|_| is_id)
}
