//! The data of an event, read together with the event that it stands in, so that its JSON is gone through once less.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::loose::Loose;

pub(super) enum Data<'a> {
    Fields(Loose<'a>),
    /// Anything that is no object. Only events of types that we do not know have it.
    Other(Value),
}

/// A text, which is not copied if it has no escapes.
#[derive(serde::Deserialize)]
pub(super) struct Text<'t>(#[serde(borrow)] pub(super) Cow<'t, str>);

/// Most events have fewer fields.
const FIELDS: usize = 8;

impl<'de: 'a, 'a> Deserialize<'de> for Data<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyData)
    }
}

struct AnyData;

impl<'de> Visitor<'de> for AnyData {
    type Value = Data<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(FIELDS);
        while let Some((Text(key), value)) = map.next_entry()? {
            fields.push((key, value));
        }
        Ok(Data::Fields(Loose::new(fields)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(items)).map(Data::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Data::Other(text.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Data::Other(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Data::Other(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Data::Other(number.into()))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Data::Other(flag.into()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Data::Other(Value::Null))
    }
}
