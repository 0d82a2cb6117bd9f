//! Texts of an override that come from a template: a stored one, named by id, or one written inline.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::ids::Id;
use crate::json::body::Body;
use crate::json::{At, Fields};
use crate::limits;

pub enum TemplateKind {}
/// One stored template.
pub type TemplateId = Id<TemplateKind>;

/// Texts that come from a template: a stored one, named by its id, or one written inline.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(given(text_fields: &[&str]))]
pub struct TemplateReference {
    #[body(flatten, take = |fields| TemplateSource::read_fields(fields, text_fields))]
    pub source: TemplateSource,
    /// Values for recipients of whom a variable is not known.
    #[body(length = 0..=limits::TEMPLATE_VARIABLES)]
    pub variable_defaults: Option<Vec<VariableDefault>>,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(
    given(text_fields: &[&str]),
    one_of = "A template is exactly one of 'template_id', 'external_id' and 'fields'."
)]
pub enum TemplateSource {
    /// The id of a stored template.
    TemplateId(TemplateId),
    /// The id that the customer gave a stored template.
    #[body(length = 1..=limits::EXTERNAL_ID_CHARS)]
    ExternalId(String),
    /// The texts themselves, by the name of the field they fill.
    #[body(read = |at| parse_fields(at, text_fields))]
    Fields(BTreeMap<String, String>),
}

/// The value of a variable of an inline template for a recipient without one.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct VariableDefault {
    /// The name of the variable.
    #[body(length = 1..=limits::TEMPLATE_VARIABLE_CHARS)]
    pub key: String,
    pub default_value: Value,
}

impl TemplateReference {
    /// Reads the `template` of an override. `text_fields` are the keys a template fills, which the override must then leave
    /// out.
    pub fn take(fields: &mut Fields<'_>, text_fields: &[&str]) -> Option<Self> {
        let template = fields.take("template")?;
        for key in text_fields.iter().filter(|key| fields.has(key)) {
            fields.at().invalid_key::<()>(key, format!("'{key}' comes from the template; leave one of the two out."));
        }
        Self::parse(&template, text_fields)
    }

    /// Whether it names texts that are kept elsewhere.
    pub fn is_stored(&self) -> bool {
        match self.source {
            TemplateSource::TemplateId(_) | TemplateSource::ExternalId(_) => true,
            TemplateSource::Fields(_) => false,
        }
    }

    /// The text an inline template gives for a field, as it is written.
    pub fn field(&self, key: &str) -> Option<&str> {
        match &self.source {
            TemplateSource::Fields(fields) => fields.get(key).map(String::as_str),
            TemplateSource::TemplateId(_) | TemplateSource::ExternalId(_) => None,
        }
    }
}

/// Refuses an override that has neither a template nor these texts, which a template would give.
pub(super) fn require_without(fields: &Fields<'_>, texts: &[&str]) {
    for key in texts.iter().filter(|key| !fields.has("template") && !fields.has(key)) {
        fields.at().missing::<()>(key);
    }
}

fn parse_fields(at: &At<'_>, text_fields: &[&str]) -> Option<BTreeMap<String, String>> {
    let mut fields = at.object()?;
    let texts: Vec<_> = text_fields
        .iter()
        .filter_map(|key| fields.optional(key, At::any_text).map(|text| ((*key).to_owned(), text)))
        .collect();
    let n_known = text_fields.iter().filter(|key| fields.has(key)).count();
    fields.finish();
    if n_known == 0 {
        return at.invalid(format!("At least one of these fields must be given: {}.", text_fields.join(", ")));
    }
    Some(texts.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn read(body: &str) -> Result<TemplateReference, String> {
        let result = parse(body.as_bytes(), |at| {
            let mut fields = at.object()?;
            let template = TemplateReference::take(&mut fields, &["alert", "title"]);
            fields.optional("alert", At::any_text);
            fields.finish();
            template
        });
        result.map_err(|problems| problems.first().path.clone())
    }

    #[test]
    fn sources() {
        for template in [
            r#"{"template_id":"7f7b2c3e-0d1f-4f0e-9a51-5b8f3b9d0c11"}"#,
            r#"{"external_id":"welcome"}"#,
            r#"{"fields":{"alert":"Hi {{name}}"},"variable_defaults":[{"key":"name","default_value":"you"}]}"#,
        ] {
            let parsed = read(&format!(r#"{{"template":{template}}}"#)).unwrap();
            assert_eq!(serde_json::to_string(&parsed).unwrap(), template);
        }
        let inline = read(r#"{"template":{"fields":{"title":"T"}}}"#).unwrap();
        assert_eq!((inline.field("title"), inline.field("alert")), (Some("T"), None));
    }

    #[test]
    fn mistakes() {
        for (body, path) in [
            (r#"{"template":{}}"#, "template"),
            (r#"{"template":"x"}"#, "template"),
            (r#"{"template":{"template_id":"x"}}"#, "template.template_id"),
            (r#"{"template":{"external_id":""}}"#, "template.external_id"),
            (r#"{"template":{"external_id":"a","fields":{"alert":"b"}}}"#, "template"),
            (r#"{"template":{"fields":{}}}"#, "template.fields"),
            (r#"{"template":{"fields":{"alert":1}}}"#, "template.fields.alert"),
            (r#"{"template":{"fields":{"alert":"a","color":"b"}}}"#, "template.fields.color"),
            (
                r#"{"template":{"external_id":"a","variable_defaults":[{"key":"k"}]}}"#,
                "template.variable_defaults[0].default_value",
            ),
            (r#"{"alert":"a","template":{"external_id":"a"}}"#, "alert"),
        ] {
            assert_eq!(read(body).unwrap_err(), path, "{body}");
        }
    }
}
