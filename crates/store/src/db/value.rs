//! Parameters of statements.

use model::device_type::DeviceType;
use model::ids::{AppId, Id, MessageNumber, NamedUserId, Offset, Ordinal, TermId};
use model::time::UtcMillis;

/// One parameter. There is no boolean: both databases store 0 and 1, so that the SQL is the same.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Value::Int(i64::from(number))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Int(i64::from(number))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Int(i64::from(flag))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Real(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Value::Text(text.clone())
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Value::Bytes(bytes)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Value::Bytes(bytes.to_vec())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl<Kind> From<Id<Kind>> for Value {
    fn from(id: Id<Kind>) -> Self {
        Value::Bytes(id.as_bytes().to_vec())
    }
}

impl From<&NamedUserId> for Value {
    fn from(id: &NamedUserId) -> Self {
        Value::Text(id.as_str().to_owned())
    }
}

impl From<&DeviceType> for Value {
    fn from(device_type: &DeviceType) -> Self {
        Value::Text(device_type.to_string())
    }
}

impl From<AppId> for Value {
    fn from(app: AppId) -> Self {
        Value::Int(app.0)
    }
}

impl From<Ordinal> for Value {
    fn from(ordinal: Ordinal) -> Self {
        Value::from(ordinal.0)
    }
}

impl From<TermId> for Value {
    fn from(term: TermId) -> Self {
        Value::from(term.0)
    }
}

impl From<MessageNumber> for Value {
    fn from(number: MessageNumber) -> Self {
        Value::from(number.0)
    }
}

impl From<Offset> for Value {
    fn from(offset: Offset) -> Self {
        Value::Int(offset.0)
    }
}

impl From<UtcMillis> for Value {
    fn from(instant: UtcMillis) -> Self {
        Value::Int(instant.0)
    }
}
