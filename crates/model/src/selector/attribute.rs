//! Selection by attribute: `{"attribute": NAME, comparison}` or `{"attribute": "NAME#INSTANCE", "where": property}`, where
//! `property = {"property": PATH, comparison, "compare_as"?: text | number | date | boolean}`.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::comparison::{Comparison, Subject};
use crate::channel::name_text;
use crate::json::{At, Fields};
use crate::limits;

#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub attribute: String,
    pub test: AttributeTest,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AttributeTest {
    /// The attribute is text, a number or a date.
    Plain(Comparison),
    /// The attribute is a JSON object, of which one property is compared.
    Where(Property),
}

/// A property inside a JSON object, and what it is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    pub property: String,
    pub comparison: Comparison,
    pub compare_as: Option<CompareAs>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompareAs {
    Text,
    Number,
    Date,
    Boolean,
}

impl Attribute {
    pub(super) fn parse(at: &At<'_>, companions: &mut Fields<'_>) -> Option<Self> {
        let attribute = name_text(at, limits::SELECTOR_ATTRIBUTE_CHARS);
        let test = match companions.take("where") {
            Some(at) => Property::parse(&at).map(AttributeTest::Where),
            None => Comparison::parse(companions, Subject::Plain).map(AttributeTest::Plain),
        };
        Some(Self { attribute: attribute?, test: test? })
    }
}

impl Property {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let property = fields.required("property", |at| at.text(1..=limits::PROPERTY_PATH_CHARS));
        let comparison = Comparison::parse(&mut fields, Subject::Json);
        let compare_as = fields.optional("compare_as", |at| {
            at.choice(&[
                ("text", CompareAs::Text),
                ("number", CompareAs::Number),
                ("date", CompareAs::Date),
                ("boolean", CompareAs::Boolean),
            ])
        });
        fields.finish();
        Some(Self { property: property?, comparison: comparison?, compare_as })
    }
}

impl Serialize for Attribute {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("attribute", &self.attribute)?;
        match &self.test {
            AttributeTest::Plain(comparison) => comparison.print(&mut map)?,
            AttributeTest::Where(property) => map.serialize_entry("where", property)?,
        }
        map.end()
    }
}

impl Serialize for Property {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("property", &self.property)?;
        self.comparison.print(&mut map)?;
        if let Some(compare_as) = self.compare_as {
            map.serialize_entry("compare_as", &compare_as)?;
        }
        map.end()
    }
}
