//! What Compose opens with: a draft, a schedule, a message or a template by its id, so that no address has to carry what one says;
//! or the little that an address fills in.

use super::{Form, saving};
use crate::error::Result;
use crate::form::{Fields, encode};
use crate::pages::message::said;
use crate::pages::schedules::editing;
use crate::pages::templates;
use crate::visit::Visit;

pub(super) enum Opened {
    Form(Box<Form>),
    /// The page of what Compose has no fields for.
    Elsewhere(String),
}

pub(super) async fn open(visit: &Visit) -> Result<Opened> {
    let named = |name: &str| visit.query.text(name);
    if let Some(id) = named("draft").filter(|_| named("version").is_none()) {
        return draft(visit, id).await;
    }
    let (fields, page) = if let Some(id) = named("schedule") {
        (editing::in_compose(visit, id).await?, format!("/schedules/{}", encode(id)))
    } else if let Some(id) = named("message") {
        (said::in_compose(visit, id).await?, format!("/messages/{}", encode(id)))
    } else if let Some(id) = named("template") {
        (templates::in_compose(visit, id).await?, format!("/templates/{}", encode(id)))
    } else {
        return Ok(Opened::Form(Box::new(Form::new(&visit.query))));
    };
    Ok(match fields {
        Some(fields) => Opened::Form(Box::new(Form::new(&Fields::of(fields)))),
        None => Opened::Elsewhere(visit.to(&page)),
    })
}

async fn draft(visit: &Visit, id: &str) -> Result<Opened> {
    let saved = saving::look_up(visit, id).await?;
    let Some(typed) = saved.fields() else {
        return Ok(Opened::Elsewhere(visit.to(&format!("/drafts/{}", saved.draft_id))));
    };
    // What was sent stays as it is; here it becomes another message.
    let draft = (saved.state != "sent").then(|| saved.identity());
    Ok(Opened::Form(Box::new(Form { draft, ..Form::new(&typed) })))
}
