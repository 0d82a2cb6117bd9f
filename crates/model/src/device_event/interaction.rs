//! Uploaded events about in-app messages beyond their being shown, and about feature flags: their keys, as customers see them.

use serde_json::{Map, Value, json};

use super::in_app::UploadedInApp;
use super::loose::{self, Loose};
use crate::event::{FlagInteraction, InAppEvent};
use crate::limits;

/// The words that customers know. Whatever a device says beyond them would be no event that they can read.
const FORM_TYPES: [&str; 2] = ["form", "nps"];
const RESPONSE_TYPES: [&str; 2] = ["nps", "user_feedback"];
/// Codes of languages and countries are shorter.
const LOCALE_CHARS: usize = 16;

/// What somebody did with an in-app message, or what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct UploadedInteraction {
    pub kind: InAppEvent,
    pub about: UploadedInApp,
    pub details: Map<String, Value>,
}

impl UploadedInteraction {
    /// `None` for another type of event, and for one without the message that it is about.
    pub(super) fn read(kind: &str, data: &Loose<'_>) -> Option<Self> {
        let copied = |keys: &[(&str, &str)]| copied(|key| data.get(key), keys);
        let same = |keys: &[&'static str]| copied(&keys.iter().map(|key| (*key, *key)).collect::<Vec<_>>());
        let (kind, mut details) = match kind {
            "in_app_button_tap" => (InAppEvent::ButtonTap, copied(&[("button_identifier", "button_id")])),
            "in_app_page_view" => {
                let keys =
                    ["pager_identifier", "page_identifier", "page_index", "page_count", "viewed_count", "completed"];
                (InAppEvent::PageView, same(&keys))
            }
            "in_app_page_swipe" => {
                let keys = [
                    ("pager_identifier", "pager_identifier"),
                    ("from_page_index", "from_page_index"),
                    // Customers know it by this name.
                    ("from_page_identifier", "from_pager_identifier"),
                    ("to_page_index", "to_page_index"),
                    ("to_page_identifier", "to_page_identifier"),
                ];
                (InAppEvent::PageSwipe, copied(&keys))
            }
            "in_app_pager_completed" => {
                (InAppEvent::PagerCompleted, same(&["pager_identifier", "page_identifier", "page_index", "page_count"]))
            }
            "in_app_pager_summary" => {
                (InAppEvent::PagerSummary, summary(data, same(&["pager_identifier", "page_count", "completed"])))
            }
            "in_app_form_display" => {
                let form = json!({"form_id": data.text("form_identifier")?});
                (InAppEvent::FormDisplay, Map::from_iter([typed("DISPLAY"), ("forms".to_owned(), form)]))
            }
            "in_app_form_result" => {
                let (id, form) = data.object("forms")?.into_iter().next()?;
                let forms = ("forms".to_owned(), result(&id, &form));
                (InAppEvent::FormResult, Map::from_iter([typed("RESULT"), forms]))
            }
            "in_app_resolution" => match data.within("resolution")?.text("type")?.as_str() {
                "control" => (InAppEvent::Control, Map::from_iter([typed("CONTROL")])),
                "audience_check_excluded" => {
                    (InAppEvent::Exclusion, Map::from_iter([typed("AUDIENCE_CHECK_EXCLUDED")]))
                }
                _ => return None,
            },
            _ => return None,
        };
        if !matches!(kind, InAppEvent::Control | InAppEvent::Exclusion) {
            details.extend(locale(data).map(|locale| ("locale".to_owned(), locale.into())));
        }
        let mut about = UploadedInApp::read(data)?;
        about.context = about.context.as_ref().and_then(context);
        Some(Self { kind, about, details })
    }
}

/// `None` without the id of the flag: nothing could be said about it.
pub(super) fn flag(data: &Loose<'_>) -> Option<FlagInteraction> {
    let metadata = data.within("reporting_metadata")?;
    Some(FlagInteraction {
        flag_id: metadata.name("flag_id", limits::REMOTE_DATA_NAME_CHARS)?,
        flag_name: data.name("flag_name", limits::REMOTE_DATA_NAME_CHARS)?,
        eligible: data.flag("eligible")?,
        variant_id: metadata.name("variant_id", limits::REMOTE_DATA_NAME_CHARS),
    })
}

/// The language of the texts that were shown, with the country if they were for one: `nb` or `nb-NO`.
fn locale(data: &Loose<'_>) -> Option<String> {
    let rendered = data.within("rendered_locale")?;
    let parts = ["language", "country"].iter().filter_map(|key| rendered.name(key, LOCALE_CHARS));
    Some(parts.collect::<Vec<_>>().join("-")).filter(|locale| !locale.is_empty())
}

fn typed(word: &str) -> (String, Value) {
    ("type".to_owned(), word.into())
}

/// Keys of an event under the names that customers know.
fn copied(get: impl Fn(&str) -> Option<Value>, keys: &[(&str, &str)]) -> Map<String, Value> {
    let found = keys.iter().filter_map(|(key, name)| Some(((*name).to_owned(), get(key)?)));
    found.filter(|(_, value)| !value.is_null()).collect()
}

/// The pages that were looked at, and for how long.
fn summary(data: &Loose<'_>, mut details: Map<String, Value>) -> Map<String, Value> {
    let page = |page: Loose<'_>| {
        let keys = [("page_identifier", "page_identifier"), ("page_index", "page_index")];
        let mut shown = copied(|key| page.get(key), &keys);
        shown.insert("display_time_ms".to_owned(), page.millis("display_time").unwrap_or(0).into());
        Value::Object(shown)
    };
    let pages: Vec<Value> = data.each_within("viewed_pages").into_iter().map(page).collect();
    let last = pages.last().and_then(|page| page.get("page_identifier")).cloned();
    details.extend(last.map(|last| ("page_identifier".to_owned(), last)));
    details.insert("viewed_pages".to_owned(), pages.into());
    details
}

/// The answers in a form. Of a form that asks how likely somebody recommends the app, the score is told apart.
fn result(id: &str, form: &Value) -> Value {
    let kind = word(form.get("type"), &FORM_TYPES).unwrap_or(FORM_TYPES[0]);
    let mut shown = Map::from_iter([("form_id".to_owned(), Value::from(id)), ("type".to_owned(), kind.into())]);
    let response_type = word(form.get("response_type"), &RESPONSE_TYPES);
    shown.extend(response_type.map(|word| ("response_type".to_owned(), word.into())));
    let children = form.get("children").and_then(Value::as_object);
    let score_id = form.get("score_id").and_then(Value::as_str);
    let score = score_id.zip(children).and_then(|(id, children)| loose::number(children.get(id)?.get("value")?));
    if let Some((id, score)) = score_id.zip(score) {
        let category = match score {
            score if score >= 9.0 => "PROMOTER",
            score if score >= 7.0 => "PASSIVE",
            _ => "DETRACTOR",
        };
        let nps = json!({"question_id": id, "score": score, "audience_category": category});
        shown.insert("nps".to_owned(), nps);
    }
    let responses = children.into_iter().flatten().filter(|(id, _)| Some(id.as_str()) != score_id);
    let responses = responses.filter_map(|(id, child)| {
        let kind = question_type(child.get("type")?.as_str()?)?;
        Some(json!({"question_id": id, "type": kind, "value": child["value"]}))
    });
    shown.insert("responses".to_owned(), responses.collect());
    shown.into()
}

/// The type of a question for customers, who know four. Devices have others that are answered alike.
fn question_type(of_device: &str) -> Option<&'static str> {
    match of_device {
        "single_choice" | "toggle" | "score" => Some("single_choice"),
        "multiple_choice" => Some("multiple_choice"),
        "text_input" | "sms_input" => Some("text_input"),
        "email_input" => Some("email_input"),
        _ => None,
    }
}

fn word(told: Option<&Value>, words: &[&'static str]) -> Option<&'static str> {
    let told = told?.as_str()?;
    words.iter().copied().find(|word| *word == told)
}

/// What customers see of where in a scene something happened.
fn context(context: &Value) -> Option<Value> {
    let part = |key: &str, keys: &[(&str, &str)]| {
        let part = context.get(key)?.as_object()?;
        Some((key.to_owned(), Value::Object(copied(|key| part.get(key).cloned(), keys))))
    };
    let mut form = part("form", &[("identifier", "form_identifier"), ("submitted", "submitted")]);
    if let Some((_, Value::Object(shown))) = &mut form {
        for (key, words) in [("type", FORM_TYPES), ("response_type", RESPONSE_TYPES)] {
            let word = word(context["form"].get(key), &words);
            shown.extend(word.map(|word| (key.to_owned(), word.into())));
        }
    }
    let pager = part(
        "pager",
        &[
            ("identifier", "identifier"),
            ("page_identifier", "page_identifier"),
            ("page_index", "page_index"),
            ("count", "page_count"),
            ("completed", "completed"),
        ],
    );
    let state: Map<String, Value> = form.into_iter().chain(pager).collect();
    let mut shown = Map::new();
    let reporting = context.get("reporting_context").filter(|value| !value.is_null());
    shown.extend(reporting.map(|value| ("reporting_context".to_owned(), value.clone())));
    shown.extend((!state.is_empty()).then(|| ("state".to_owned(), Value::Object(state))));
    (!shown.is_empty()).then_some(Value::Object(shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_in_forms_are_told_in_the_words_that_customers_know() {
        let form = json!({"type": "poll", "response_type": {"a": 1}, "children": {
            "a": {"type": "toggle", "value": true}, "b": {"type": "sms_input", "value": "4791234567"},
            "c": {"type": "score", "value": 3}, "d": {"type": "multiple_choice", "value": ["x", "y"]},
            "e": {"type": "hologram", "value": 1}, "f": {"value": 1}, "g": 7,
        }});
        let answer = |id: &str, kind: &str, value: Value| json!({"question_id": id, "type": kind, "value": value});
        let responses = [
            answer("a", "single_choice", json!(true)),
            answer("b", "text_input", json!("4791234567")),
            answer("c", "single_choice", json!(3)),
            answer("d", "multiple_choice", json!(["x", "y"])),
        ];
        assert_eq!(result("f", &form), json!({"form_id": "f", "type": "form", "responses": responses}));
        let shown =
            context(&json!({"form": {"identifier": "f", "submitted": true, "type": "nps", "response_type": "poll"}}));
        let state = json!({"form": {"form_identifier": "f", "submitted": true, "type": "nps"}});
        assert_eq!(shown, Some(json!({ "state": state })));
    }
}
