//! The overrides of open platforms, each under a key of its own: `open::<platform name>`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;

use crate::device_type::OpenPlatform;
use crate::json::Fields;
use crate::json::body::Print;
use crate::payload::open::OpenOverride;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenOverrides(BTreeMap<OpenPlatform, OpenOverride>);

impl OpenOverrides {
    /// Takes every key that is left, since any other name is unknown.
    pub(super) fn read_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let mut overrides = BTreeMap::new();
        for (key, at) in fields.rest() {
            match key.strip_prefix("open::").map(OpenPlatform::new) {
                Some(Ok(platform)) => {
                    if let Some(open) = OpenOverride::parse(&at) {
                        overrides.insert(platform, open);
                    }
                }
                Some(Err(message)) => drop(at.invalid::<()>(message)),
                None => drop(at.invalid::<()>(format!("The key '{key}' is not allowed in this context."))),
            }
        }
        Some(Self(overrides))
    }
}

impl Deref for OpenOverrides {
    type Target = BTreeMap<OpenPlatform, OpenOverride>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for OpenOverrides {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'a> IntoIterator for &'a OpenOverrides {
    type Item = (&'a OpenPlatform, &'a OpenOverride);
    type IntoIter = std::collections::btree_map::Iter<'a, OpenPlatform, OpenOverride>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Print for OpenOverrides {
    fn print_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let mut entries = self.0.iter();
        entries.try_for_each(|(platform, open)| map.serialize_entry(&format!("open::{}", platform.as_str()), open))
    }
}

impl JsonSchema for OpenOverrides {
    fn schema_name() -> Cow<'static, str> {
        "OpenOverrides".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        json_schema!({"patternProperties": {"^open::": schemas.subschema_for::<OpenOverride>()}})
    }
}
