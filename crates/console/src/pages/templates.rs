//! Templates: messages that are kept with variables in their texts, to be sent again and again by servers, or used in Compose.

pub(crate) mod edit;
mod filled;
mod undeclared;

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::compose::{self, Written};
use crate::answer::Answer;
use crate::dates::{time, time_or};
use crate::error::{Error, Result};
use crate::form::{encode, query};
use crate::parts::message_text::message_text;
use crate::parts::offsets::offsets;
use crate::visit::Visit;

const PAGE: u64 = 25;

#[derive(Deserialize)]
struct Templates {
    templates: Vec<Template>,
    total_count: u64,
}

#[derive(Deserialize)]
pub(crate) struct Template {
    id: String,
    name: String,
    description: Option<String>,
    #[serde(default)]
    variables: Vec<Map<String, Value>>,
    push: Map<String, Value>,
    modified_at: String,
    last_used: Option<String>,
}

#[derive(Deserialize)]
struct One {
    template: Map<String, Value>,
}

impl Template {
    fn read(saved: &Map<String, Value>) -> Result<Self> {
        Self::deserialize(Value::from(saved.clone())).map_err(Error::internal)
    }
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    let offset = visit.query.text("offset").and_then(|text| text.parse().ok()).unwrap_or(0_u64);
    let (page, size) = ((offset / PAGE + 1).to_string(), PAGE.to_string());
    let filter = query([("page", &*page), ("page_size", &*size), ("sort", "modified_at"), ("order", "desc")]);
    let Templates { templates, total_count } = visit.get(&format!("/api/templates{filter}")).await?;
    let body = html! {
        p { a.button.main href=(visit.to("/templates/new")) { "Make a template" } }
        @if templates.is_empty() {
            div.empty {
                p { "No template yet. A template is a message that is written once, with variables such as {{name}}, and sent again and \
                     again: by servers, which fill them in, or from Compose." }
            }
        } @else {
            div.scroll tabindex="0" {
                table {
                    caption.hidden { "Templates, the latest change first" }
                    thead { tr { th scope="col" { "Template" } th scope="col" { "Changed" } th scope="col" { "Last used" } th scope="col" { span.hidden { "Use" } } } }
                    tbody { @for template in &templates { (row(&visit, template)) } }
                }
            }
        }
        (offsets(&visit, offset, PAGE, total_count))
    };
    Answer::page("Templates", body)
}

fn row(visit: &Visit, template: &Template) -> Markup {
    html! {
        tr {
            td.wide {
                a href=(visit.to(&format!("/templates/{}", encode(&template.id)))) { (template.name) }
                p.quiet.clip { (message_text(&Value::from(template.push.clone()))) }
            }
            td { (time(&template.modified_at)) }
            td { (time_or(template.last_used.as_deref(), "not yet")) }
            td { (use_it(visit, template)) }
        }
    }
}

/// The way to Compose, with the message and the usual values of its variables.
fn use_it(visit: &Visit, template: &Template) -> Markup {
    html! {
        @if fields_in_compose(template).is_some() {
            a href=(compose::link(visit, &[("template", template.id.as_str())])) { "Use in Compose" span.hidden { ": " (template.name) } }
        }
    }
}

/// What Compose shows of a template that is used there.
pub(crate) async fn in_compose(visit: &Visit, id: &str) -> Result<Option<Vec<(String, String)>>> {
    let One { template } = visit.get(&format!("/api/templates/{}", encode(id))).await?;
    Ok(fields_in_compose(&Template::read(&template)?))
}

fn fields_in_compose(template: &Template) -> Option<Vec<(String, String)>> {
    let mut push = filled::push(&template.push, &template.variables);
    push.insert("audience".to_owned(), "all".into());
    push.insert("device_types".to_owned(), "all".into());
    Written::fields_of(&push)
}

pub(crate) async fn delete(visit: Arc<Visit>) -> Result<Answer> {
    visit.change(Method::DELETE, &format!("/api/templates/{}", encode(visit.var("template"))), None).await?;
    Answer::to(visit.to("/templates"))
}
