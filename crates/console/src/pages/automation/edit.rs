//! Making and changing an automation by clicking: what sets it off, how long it waits, on what condition, and what it sends.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::ids::PipelineId;
use model::pipeline::Pipeline;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::written::{Automation, READ_ONLY, UNITS};
use super::{facts, trigger};
use crate::answer::Answer;
use crate::assets::build_script;
use crate::error::{Error, Result};
use crate::form::Fields;
use crate::pages::compose::reach::Reach;
use crate::pages::compose::{fields, preview};
use crate::pages::login::kept;
use crate::parts::conditions::{Known, datalists, rows};
use crate::parts::fields::{Field, choice, problems};
use crate::parts::once::once;
use crate::parts::seen::{Seen, said};
use crate::visit::Visit;

#[derive(Deserialize)]
struct One {
    pipeline: Map<String, Value>,
}

#[derive(Deserialize)]
struct Made {
    pipeline_ids: Vec<PipelineId>,
}

/// What is on the page.
struct Form {
    /// None of one that is made.
    id: Option<PipelineId>,
    typed: Fields,
    automation: Automation,
    seen: Seen,
}

impl Form {
    fn new(id: Option<PipelineId>, typed: Fields) -> Self {
        Self { id, automation: Automation::read(&typed), seen: Seen::in_form(&typed), typed }
    }
}

pub(crate) async fn new(visit: Arc<Visit>) -> Result<Answer> {
    // A new one is looked at before it sends: it begins switched off, and its page switches it on.
    let typed =
        visit.query.with(&[("trigger0", visit.query.text("trigger0").unwrap_or("first_open")), ("enabled", "")]);
    draw(&visit, &Form::new(None, Fields::parse(typed.trim_start_matches('?'))), None).await
}

pub(crate) async fn edit(visit: Arc<Visit>) -> Result<Answer> {
    let id: PipelineId = visit.id("pipeline")?;
    let One { pipeline } = visit.get(&format!("/api/pipelines/{id}")).await?;
    let form = Form::new(Some(id), Automation::fields_of(&pipeline));
    draw(&visit, &Form { seen: Seen::of(&said(&pipeline, &READ_ONLY)), ..form }, None).await
}

pub(crate) async fn create(visit: Arc<Visit>) -> Result<Answer> {
    take(&visit, None).await
}

pub(crate) async fn change(visit: Arc<Visit>) -> Result<Answer> {
    take(&visit, Some(visit.id("pipeline")?)).await
}

async fn take(visit: &Visit, id: Option<PipelineId>) -> Result<Answer> {
    let mut form = Form::new(id, visit.form.clone());
    let action = visit.form.text("do").unwrap_or_default();
    if action != "save" {
        form.automation.change(action);
        return draw(visit, &form, None).await;
    }
    match save(visit, &mut form).await {
        Ok(id) => Answer::to(visit.to(&format!("/automation?id={id}"))),
        Err(error) => Ok(draw(visit, &form, Some(&error)).await?.refused(&error)),
    }
}

async fn save(visit: &Visit, form: &mut Form) -> Result<PipelineId> {
    let body = form.automation.body()?;
    if let Some(id) = form.id {
        let path = format!("/api/pipelines/{id}");
        let One { pipeline } = visit.get(&path).await?;
        if form.seen.lets_save("automation", &said(&pipeline, &READ_ONLY), &body, Pipeline::parse)? {
            visit.change(Method::PUT, &path, Some(body)).await?;
        }
        return Ok(id);
    }
    let made: Made = visit.post_form("/api/pipelines", body).await?;
    made.pipeline_ids.first().copied().ok_or_else(|| Error::internal("a pipeline without an id"))
}

async fn draw(visit: &Visit, form: &Form, error: Option<&Error>) -> Result<Answer> {
    let Form { id, typed, automation, seen } = form;
    let mut known = Known::of(visit, &automation.conditions).await;
    for list in automation.triggers.iter().flat_map(trigger::Trigger::lists) {
        known.learn(visit, list).await;
    }
    let value = |name: &str| typed.exact(name).unwrap_or_default().to_owned();
    let action = match id {
        Some(id) => visit.to(&format!("/automation/{id}/edit")),
        None => visit.to("/automation/new"),
    };
    let body = html! {
        p.line { a href=(visit.to("/automation")) { "All automations" } }
        div.compose {
            (build_script())
            form #automation data-build method="post" action=(action) {
                (kept()) (once(visit))
                button.hidden name="do" value="check" formnovalidate tabindex="-1" { "Show what it does" }
                input type="hidden" name="who" value="some";
                (problems(error, &[]))
                (seen.show(&action))
                (Field::text("name", "Name").value(&value("name")).optional().show(None))
                label.check { input type="checkbox" name="enabled" value="yes" checked[automation.is_enabled]; "Switched on" }
                @if id.is_none() {
                    p.hint { "Nothing is sent until it is switched on. Its page, which comes next, says once more what it does and switches it on." }
                }
                fieldset { legend { "1 When" } (trigger::rows(&automation.triggers, &known)) }
                (waiting(&value("delay"), &value("unit")))
                fieldset {
                    legend { "3 If, at that moment, the device" }
                    (rows(&automation.conditions, &known, &facts::KINDS))
                    (datalists(&known))
                }
                fieldset { legend { "4 Send" } (fields::content(&automation.content, typed)) }
                details open[!value("rest").is_empty()] {
                    summary { "Everything else: rates, times of the day, cancellation" }
                    (fields::area("rest", "Further parts of the pipeline, as JSON", &value("rest"), 6))
                    p.hint { "What stands here takes the place of what the fields above say about the same." }
                }
                div.actions {
                    button.main name="do" value="save" { @if id.is_some() { "Save" } @else { "Make it" } }
                    a.button href=(visit.to("/automation")) { "Leave it" }
                }
            }
            aside #beside tabindex="0" aria-label="Reach and preview" { (beside(visit, automation).await) }
        }
    };
    Answer::page(if id.is_some() { "Change an automation" } else { "Make an automation" }, body)
}

fn waiting(delay: &str, unit: &str) -> Markup {
    html! {
        fieldset {
            legend { "2 Wait" }
            div.filter {
                (Field { kind: "number", ..Field::text("delay", "How long").value(delay).optional() }.show(None))
                (choice("unit", "Of these", &UNITS, unit))
            }
        }
    }
}

/// How many would pass the conditions now, and what they would see.
async fn beside(visit: &Visit, automation: &Automation) -> Markup {
    let mut everybody = automation.conditions.clone();
    everybody.is_everybody = everybody.rows.is_empty();
    let reach = Reach::of_conditions(visit, &everybody).await;
    let mut push = automation.sketch();
    push.insert("audience".to_owned(), json!("all"));
    let is_written = ["notification", "message"].iter().any(|key| push.contains_key(*key));
    html! {
        (reach.show_passing())
        @if is_written { (preview::of_push(visit, "Preview", &push.into(), &reach).await) }
    }
}
