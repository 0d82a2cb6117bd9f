//! A choice among the public types of events.

use std::collections::BTreeSet;

use schemars::json_schema;
use serde::{Deserialize, Serialize};

use super::RecordKind;
use crate::json::At;
use crate::json::body::Read;

/// Types of events: at least one, each at most once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Read)]
#[body(schema = json_schema!({
    "type": "array",
    "minItems": 1,
    "uniqueItems": true,
    "items": {"type": "string", "enum": Self::all().names()},
}))]
#[serde(try_from = "Vec<String>", into = "Vec<&'static str>")]
pub struct EventTypes(BTreeSet<RecordKind>);

impl EventTypes {
    pub fn all() -> Self {
        let kinds = RecordKind::NUMBERED.into_iter().map(|(_, kind)| kind);
        Self(kinds.filter(|kind| kind.public_name().is_some()).collect())
    }

    /// A list of names, each at most once.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut chosen = BTreeSet::new();
        at.array(1..=Self::all().0.len(), |at| {
            let name = at.string()?;
            match RecordKind::from_public_name(name) {
                None => {
                    at.invalid(format!("'{name}' is no type of event; use some of {}.", Self::all().names().join(", ")))
                }
                Some(kind) if !chosen.insert(kind) => at.invalid(format!("'{name}' is given more than once.")),
                Some(_) => Some(()),
            }
        })?;
        Some(Self(chosen))
    }

    pub fn has(&self, kind: RecordKind) -> bool {
        self.0.contains(&kind)
    }

    pub fn kinds(&self) -> impl Iterator<Item = RecordKind> {
        self.0.iter().copied()
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().filter_map(|kind| kind.public_name()).collect()
    }
}

impl TryFrom<Vec<String>> for EventTypes {
    type Error = &'static str;

    fn try_from(names: Vec<String>) -> Result<Self, Self::Error> {
        let kinds: Option<BTreeSet<_>> = names.iter().map(|name| RecordKind::from_public_name(name)).collect();
        kinds.filter(|kinds| !kinds.is_empty()).map(Self).ok_or("there is no such type of event")
    }
}

impl From<EventTypes> for Vec<&'static str> {
    fn from(types: EventTypes) -> Self {
        types.names()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn types_are_chosen_by_their_public_names() {
        let read = |text: &str| parse(text.as_bytes(), EventTypes::parse);
        let some = read(r#"["SEND", "OPEN"]"#).unwrap();
        assert!(some.has(RecordKind::Open) && some.has(RecordKind::Send) && !some.has(RecordKind::Close));
        let text = serde_json::to_string(&some).unwrap();
        assert_eq!(serde_json::from_str::<EventTypes>(&text).unwrap(), some);
        assert_eq!(EventTypes::all().names().len(), 36);
        for wrong in ["[]", r#"["TERMS"]"#, r#"["OPEN", "OPEN"]"#, r#""OPEN""#, "[7]", r#"["open"]"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
