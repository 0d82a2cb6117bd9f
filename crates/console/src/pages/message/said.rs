//! What a message says and to whom, as it was sent; and the way to write another one like it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};
use model::account::Role;
use model::app::Mode;
use model::ids::PushId;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::pages::compose::{self, Written, preview, reach::Reach};
use crate::parts::json::folded;
use crate::visit::Visit;

/// The push as it was accepted; nothing of one that was not to be kept.
pub(super) struct Said(Option<Map<String, Value>>);

#[derive(Deserialize)]
struct Body {
    push_body: String,
}

/// What Compose shows of a message like one that was sent.
pub(crate) async fn in_compose(visit: &Visit, id: &str) -> Result<Option<Vec<(String, String)>>> {
    let id: PushId = id.parse().map_err(|_| Error::NotFound("There is no message with this id.".to_owned()))?;
    let Said(push) = Said::of(visit, id).await?;
    Ok(push.as_ref().and_then(Written::fields_of))
}

impl Said {
    pub(super) async fn of(visit: &Visit, id: PushId) -> Result<Self> {
        let body: Option<Body> = visit.find(&format!("/api/reports/perpush/pushbody/{id}")).await?;
        let bytes = body.and_then(|body| STANDARD.decode(body.push_body).ok());
        Ok(Self(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok())))
    }

    /// Where the visitor can write another one like it, with whom that would reach beside it.
    pub(super) fn in_compose(&self, visit: &Visit, id: PushId) -> Option<String> {
        let can_show = self.0.as_ref().and_then(Written::fields_of).is_some();
        (can_show && visit.may(Role::Editor)).then(|| compose::link(visit, &[("message", id.to_string().as_str())]))
    }

    pub(super) async fn show(&self, visit: &Visit, id: PushId) -> Markup {
        let Some(push) = &self.0 else {
            return html! { p.quiet { "What this message said was not kept." } };
        };
        let whole = Value::from(push.clone());
        let reach = Reach::of_push(visit, &whole).await;
        let is_sandboxed = visit.app().is_ok_and(|app| app.mode == Mode::Development) && visit.may(Role::Support);
        html! {
            (preview::of_push(visit, "What it says", &whole, &reach).await)
            // Audiences can name people.
            @if visit.may(Role::Support) { (folded("To whom it goes, as JSON", push.get("audience").unwrap_or(&Value::Null))) }
            div.actions {
                @if let Some(compose) = self.in_compose(visit, id) { a.button href=(compose) { "Write another one like it" } }
                @if is_sandboxed { a.button href={ (visit.to("/sandbox?push_id=")) (id) } { "Its deliveries in the sandbox" } }
            }
        }
    }
}
