//! `device_types` of a push: everything, or a list of platforms.

use schemars::json_schema;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::device_type::DeviceType;
use crate::json::body::Read;
use crate::json::{At, Json};
use crate::selector::Spelling;

/// The platforms that a push goes to: "all", or a list of them.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = { let device_type = schemas.subschema_for::<DeviceType>(); json_schema!({ "anyOf": [ {"type": "string", "pattern": "^[aA][lL][lL]$"}, {"type": "array", "minItems": 1, "items": device_type}, {"type": "array", "minItems": 1, "maxItems": 1, "items": {"type": "string", "pattern": "^[aA][lL][lL]$"}}, ], }) })]
pub enum DeviceTypes {
    /// `"all"`, which one client library writes as `["all"]`.
    All { spelling: Spelling, in_array: bool },
    /// Never empty; naming a platform twice changes nothing.
    List(Vec<DeviceType>),
}

impl DeviceTypes {
    pub fn all() -> Self {
        DeviceTypes::All { spelling: Spelling::of("all"), in_array: false }
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        match at.json() {
            Json::String(word) if is_all(at) => {
                Some(DeviceTypes::All { spelling: Spelling::of(word), in_array: false })
            }
            Json::String(word) => at.invalid(format!(
                "'{word}' must be \"all\" or an array of device types such as [\"ios\", \"android\"]."
            )),
            Json::Array(_) => Self::parse_items(&at.items(1..=usize::MAX)?),
            other => at.invalid(format!("This must be \"all\" or an array of device types, not {}.", other.kind())),
        }
    }

    fn parse_items(items: &[At<'_>]) -> Option<Self> {
        if let [only] = items
            && let Json::String(word) = only.json()
            && is_all(only)
        {
            return Some(DeviceTypes::All { spelling: Spelling::of(word), in_array: true });
        }
        let read: Vec<_> = items
            .iter()
            .map(|item| match is_all(item) {
                true => item.invalid("'all' stands alone; leave out the other device types."),
                false => DeviceType::parse(item),
            })
            .collect();
        read.into_iter().collect::<Option<_>>().map(DeviceTypes::List)
    }

    /// Whether a push may go to this platform.
    pub fn includes(&self, device_type: &DeviceType) -> bool {
        match self {
            DeviceTypes::All { .. } => true,
            DeviceTypes::List(list) => list.contains(device_type),
        }
    }

    /// Whether one of the platforms is named that report where devices have been.
    pub fn know_places(&self) -> bool {
        self.listed().iter().any(|named| matches!(named, DeviceType::Ios | DeviceType::Android))
    }

    /// The platforms named one by one; none for "all".
    pub fn listed(&self) -> &[DeviceType] {
        match self {
            DeviceTypes::All { .. } => &[],
            DeviceTypes::List(list) => list,
        }
    }
}

fn is_all(at: &At<'_>) -> bool {
    matches!(at.json(), Json::String(word) if word.eq_ignore_ascii_case("all"))
}

impl Serialize for DeviceTypes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            DeviceTypes::All { spelling, in_array: false } => spelling.serialize(serializer),
            DeviceTypes::All { spelling, in_array: true } => {
                let mut array = serializer.serialize_seq(Some(1))?;
                array.serialize_element(spelling)?;
                array.end()
            }
            DeviceTypes::List(list) => list.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn everything_or_a_list() {
        for body in [r#""all""#, r#""ALL""#, r#"["all"]"#, r#"["All"]"#, r#"["ios","ios","open::kiosk"]"#] {
            let device_types = parse(body.as_bytes(), DeviceTypes::parse).unwrap();
            assert_eq!(serde_json::to_string(&device_types).unwrap(), body);
        }
        for (body, path) in [
            (r#""ios""#, ""),
            ("[]", ""),
            ("null", ""),
            (r#"["ios","all"]"#, "[1]"),
            (r#"["ios","symbian"]"#, "[1]"),
            (r#"["IOS"]"#, "[0]"),
            (r#"["open::"]"#, "[0]"),
            ("[1]", "[0]"),
        ] {
            let problems = parse(body.as_bytes(), DeviceTypes::parse).unwrap_err();
            assert_eq!(problems.first().path, path, "{body}");
        }
    }
}
