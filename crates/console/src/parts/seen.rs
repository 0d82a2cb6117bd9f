//! What was saved when a form was opened. The form takes it along, so that nobody overwrites what they have not seen: the API has
//! versions of nothing but drafts, and its times are whole seconds. Two that are saved in the same moment are not told apart.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::StatusCode;
use maud::{Markup, html};
use model::json::{self, At};
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::form::Fields;

const FIELD: &str = "seen";

/// What was saved when the form was opened, or when it was last said that there is something newer.
pub(crate) struct Seen {
    /// Tells it from everything else that could be saved. None of what is not saved yet.
    mark: Option<String>,
    /// Whether there is something newer.
    is_outdated: bool,
}

impl Seen {
    /// Of a form that shows what is saved.
    pub(crate) fn of(saved: &Value) -> Self {
        Self { mark: Some(mark_of(saved)), is_outdated: false }
    }

    /// Of a form that comes back.
    pub(crate) fn in_form(fields: &Fields) -> Self {
        Self { mark: fields.text(FIELD).map(str::to_owned), is_outdated: false }
    }

    /// As a field, for the form that shows what is saved.
    pub(crate) fn field(&self) -> Option<(String, String)> {
        Some((FIELD.to_owned(), self.mark.clone()?))
    }

    /// Whether a request is to be made in the place of what is saved; not if the first of two clicks has made it. Refuses to
    /// replace what was saved since the form was opened. Who saves it again has been told.
    pub(crate) fn lets_save<T: Serialize>(
        &mut self,
        kind: &str,
        saved: &Value,
        request: &Value,
        parse: impl FnOnce(&At<'_>) -> Option<T>,
    ) -> Result<bool> {
        let now = mark_of(saved);
        let seen = self.mark.replace(now.clone());
        if seen.is_none_or(|seen| seen == now) {
            return Ok(true);
        }
        if as_kept(request, parse).as_ref() == Some(saved) {
            return Ok(false);
        }
        self.is_outdated = true;
        let sentence = format!(
            "This {kind} is no longer as you opened it, so this click has saved nothing: somebody else may have changed it, or an \
             earlier click of yours. What you have typed is still here: save it once more to put it in the place of what is \
             saved now."
        );
        Err(Error::Refused { status: StatusCode::CONFLICT, sentence })
    }

    /// The part of the form that takes it along, and after a refusal leads to the page that shows what is saved.
    pub(crate) fn show(&self, page: &str) -> Markup {
        html! {
            @if let Some(mark) = &self.mark { input type="hidden" name=(FIELD) value=(mark); }
            @if self.is_outdated { p { a href=(page) target="_blank" { "See what is saved" } } }
        }
    }
}

/// What an answer of the API says, without the keys that only the service sets.
pub(crate) fn said(answer: &Map<String, Value>, read_only: &[&str]) -> Value {
    let said = answer.iter().filter(|(key, _)| !read_only.contains(&key.as_str()));
    said.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// A short text that tells it from everything else that could be in its place.
pub(crate) fn mark_of(saved: &Value) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, saved.to_string().as_bytes()))
}

/// A request as the service keeps it, which it does in its own words. None of one that it would refuse.
fn as_kept<T: Serialize>(request: &Value, parse: impl FnOnce(&At<'_>) -> Option<T>) -> Option<Value> {
    let kept = json::parse(request.to_string().as_bytes(), parse).ok()?;
    serde_json::to_value(kept).ok()
}
