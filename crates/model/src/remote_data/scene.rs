//! Scenes: layouts of views. What a library needs to read a scene at all is checked; everything else is passed on as it was given.

use schemars::json_schema;
use serde::Serialize;
use serde_json::Value;

use crate::json::At;
use crate::json::body::Read;
use crate::limits;

/// A scene: a version, how it is presented, and a view that is made of views.
// Kept as it was given: devices read it.
#[derive(Clone, Debug, PartialEq, Serialize, Read)]
#[serde(transparent)]
#[body(schema = json_schema!({"type": "object", "required": ["version", "presentation", "view"], "properties": {
    "version": {"type": "integer", "minimum": 1, "maximum": 2},
    "presentation": {"type": "object"},
    "view": {"type": "object"},
}}))]
pub struct Layout(Value);

/// A type of view, the keys that it needs, and those that each of its items needs.
type ViewType = (&'static str, &'static [&'static str], &'static [&'static str]);

/// A library that meets another type, or one of these without its keys, does not read the message.
const VIEWS: [ViewType; 34] = [
    ("container", &["items"], &["position", "size", "view"]),
    ("linear_layout", &["direction", "items"], &["size", "view"]),
    ("scroll_layout", &["direction", "view"], &[]),
    ("empty_view", &[], &[]),
    ("label", &["text", "text_appearance"], &[]),
    ("label_button", &["identifier", "label"], &[]),
    ("image_button", &["identifier", "image"], &[]),
    ("stack_image_button", &["identifier"], &[]),
    ("button_layout", &["identifier", "view"], &[]),
    ("media", &["url", "media_type", "media_fit"], &[]),
    ("web_view", &["url"], &[]),
    ("pager_controller", &["identifier", "view"], &[]),
    ("pager", &["items"], &["identifier", "view"]),
    ("pager_indicator", &["bindings"], &[]),
    ("story_indicator", &["source", "style"], &[]),
    ("form_controller", &["identifier", "view"], &[]),
    ("nps_form_controller", &["identifier", "nps_identifier", "view"], &[]),
    ("checkbox_controller", &["identifier", "view"], &[]),
    ("radio_input_controller", &["identifier", "view"], &[]),
    ("score_controller", &["identifier", "view"], &[]),
    ("checkbox", &["reporting_value", "style"], &[]),
    ("radio_input", &["reporting_value", "style"], &[]),
    ("toggle", &["identifier", "style"], &[]),
    ("text_input", &["identifier", "input_type", "text_appearance"], &[]),
    ("score", &["identifier", "style"], &[]),
    ("state_controller", &["view"], &[]),
    ("custom_view", &["name"], &[]),
    ("icon_view", &[], &[]),
    ("basic_toggle_layout", &["view"], &[]),
    ("checkbox_toggle_layout", &["view"], &[]),
    ("radio_input_toggle_layout", &["view"], &[]),
    ("score_toggle_layout", &["view"], &[]),
    ("video_controller", &["view"], &[]),
    ("async_view_controller", &[], &[]),
];

impl Layout {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let version = fields.required("version", |at| at.integer(1..=2));
        let presentation = fields.required("presentation", presentation);
        let view = fields.required("view", view);
        fields.pass_over_rest::<()>();
        version.and(presentation).and(view)?;
        Some(Self(at.json().to_value()))
    }
}

fn presentation(at: &At<'_>) -> Option<()> {
    let kinds = ["modal", "banner", "embedded"].map(|word| (word, word));
    let mut fields = at.object()?;
    if fields.required("type", |at| at.choice(&kinds)) == Some("embedded") {
        fields.required("embedded_id", |at| at.text(1..=limits::REMOTE_DATA_NAME_CHARS));
    }
    fields.required("default_placement", |at| {
        let mut fields = at.object()?;
        fields.required("size", size)?;
        fields.pass_over_rest::<()>().or(Some(()))
    });
    fields.pass_over_rest::<()>().or(Some(()))
}

fn size(at: &At<'_>) -> Option<()> {
    let mut fields = at.object()?;
    fields.required("width", |_| Some(()))?;
    fields.required("height", |_| Some(()))?;
    fields.pass_over_rest::<()>().or(Some(()))
}

fn view(at: &At<'_>) -> Option<()> {
    let known = VIEWS.map(|row| (row.0, row));
    let mut fields = at.object()?;
    let Some((_, needed, in_items)) = fields.required("type", |at| at.choice(&known)) else {
        return fields.pass_over_rest();
    };
    for key in needed.iter().filter(|key| !fields.has(key)) {
        at.missing::<()>(key);
    }
    fields.optional("view", view);
    fields.optional("text_appearance", text_appearance);
    if needed.contains(&"label") {
        fields.optional("label", view);
    }
    if needed.contains(&"items") {
        fields.optional("items", |at| at.array(0..=limits::SCENE_ITEMS, |at| item(at, in_items)));
    }
    fields.pass_over_rest::<()>().or(Some(()))
}

fn item(at: &At<'_>, needed: &[&str]) -> Option<()> {
    let mut fields = at.object()?;
    for key in needed.iter().filter(|key| !fields.has(key)) {
        at.missing::<()>(key);
    }
    fields.optional("size", size);
    fields.optional("view", view);
    fields.pass_over_rest::<()>().or(Some(()))
}

fn text_appearance(at: &At<'_>) -> Option<()> {
    let mut fields = at.object()?;
    fields.required("color", |at| {
        let mut fields = at.object()?;
        fields.required("default", |_| Some(()))?;
        fields.pass_over_rest::<()>().or(Some(()))
    })?;
    fields.required("font_size", |at| at.number(1.0..=1000.0))?;
    fields.pass_over_rest::<()>().or(Some(()))
}
