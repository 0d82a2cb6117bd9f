//! Making and changing a segment: its name and conditions that are clicked together, with the exact count beside them.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::ids::SegmentId;
use model::segment::SegmentBody;
use serde::Deserialize;
use serde_json::{Value, json};

use super::segments::{Created, Whole};
use crate::answer::Answer;
use crate::assets::build_script;
use crate::error::{Error, Result};
use crate::form::{Fields, query};
use crate::pages::compose::reach::Reach;
use crate::pages::login::kept;
use crate::parts::conditions::{Audience, Conditions, Kind, Known, datalists, places, rows};
use crate::parts::fields::{Field, problems};
use crate::parts::once::once;
use crate::parts::seen::Seen;
use crate::visit::Visit;

/// Schedules, experiments and other segments that are looked through for those that name a segment, or are called as it is.
const LOOKED_THROUGH: &str = "50";

/// What is on the page.
struct Form {
    /// None of one that is made.
    id: Option<SegmentId>,
    name: String,
    /// Who is in it, however that was said.
    conditions: Conditions,
    audience: Audience,
    seen: Seen,
}

/// Something that names a segment.
pub(super) struct Use {
    name: String,
    path: String,
}

#[derive(Deserialize)]
struct Schedules {
    schedules: Vec<Value>,
}

#[derive(Deserialize)]
struct Experiments {
    experiments: Vec<Value>,
}

#[derive(Deserialize)]
struct Segments {
    segments: Vec<Listed>,
}

#[derive(Deserialize)]
pub(super) struct Listed {
    id: SegmentId,
    display_name: String,
}

impl Form {
    fn read(fields: &Fields, id: Option<SegmentId>) -> Self {
        let criteria = fields.text("criteria").and_then(|criteria| Conditions::of_json(criteria).ok());
        let mut conditions = criteria.unwrap_or_else(|| Conditions::read(fields));
        // A segment is never everybody, and begins with something to fill in.
        conditions.is_everybody = false;
        if conditions.rows.is_empty() && fields.text("do").is_none() {
            conditions.change("add");
        }
        let name = fields.exact("display_name").unwrap_or_default().to_owned();
        let audience = Audience::read(conditions.clone(), fields);
        Self { id, name, conditions, audience, seen: Seen::in_form(fields) }
    }

    /// Does what a button of the fields says, and finds out who is meant.
    fn press(&mut self, action: &str) -> Result<()> {
        self.conditions = self.audience.press(action, action == "save")?;
        Ok(())
    }
}

/// An empty form, or one with criteria that the URL brings along.
pub(crate) async fn new(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, &Form::read(&visit.query, None), None).await
}

pub(crate) async fn edit(visit: Arc<Visit>) -> Result<Answer> {
    let id: SegmentId = visit.id("segment")?;
    let saved: Value = visit.get(&format!("/api/segments/{id}")).await?;
    let Whole { display_name, criteria } = Whole::deserialize(&saved).map_err(Error::internal)?;
    let conditions = Conditions::of(&criteria);
    let audience = Audience::of(conditions.clone());
    let form = Form { id: Some(id), name: display_name, conditions, audience, seen: Seen::of(&saved) };
    draw(&visit, &form, None).await
}

pub(crate) async fn create(visit: Arc<Visit>) -> Result<Answer> {
    take(&visit, None).await
}

pub(crate) async fn change(visit: Arc<Visit>) -> Result<Answer> {
    take(&visit, Some(visit.id("segment")?)).await
}

/// Changes the rows, or saves what they say.
async fn take(visit: &Visit, id: Option<SegmentId>) -> Result<Answer> {
    let mut form = Form::read(&visit.form, id);
    let action = visit.form.text("do").unwrap_or_default();
    let done = match form.press(action) {
        Ok(()) if action == "save" => save(visit, &mut form).await.map(Some),
        pressed => pressed.map(|()| None),
    };
    match done {
        Ok(Some(id)) => Answer::to(visit.to(&format!("/audience?segment={id}"))),
        Ok(None) => draw(visit, &form, None).await,
        Err(error) => Ok(draw(visit, &form, Some(&error)).await?.refused(&error)),
    }
}

async fn save(visit: &Visit, form: &mut Form) -> Result<SegmentId> {
    let body = json!({"display_name": form.name.trim(), "criteria": form.conditions.audience()?});
    if let Some(id) = form.id {
        let path = format!("/api/segments/{id}");
        let saved: Value = visit.get(&path).await?;
        if form.seen.lets_save("segment", &saved, &body, SegmentBody::parse)? {
            visit.change(Method::PUT, &path, Some(body)).await?;
        }
        return Ok(id);
    }
    let created: Created = visit.post_form("/api/segments", body).await?;
    Ok(created.segment_id)
}

async fn draw(visit: &Visit, form: &Form, error: Option<&Error>) -> Result<Answer> {
    let shown = &form.audience.rows;
    let known = Known::of(visit, shown).await;
    let reach = match Reach::refused(error) {
        Some(refused) => refused,
        None => Reach::of_conditions(visit, &form.conditions).await,
    };
    let name = form.name.trim();
    let latest = match form.id.is_some() || !name.is_empty() {
        true => latest(visit).await,
        false => Vec::new(),
    };
    let uses = match form.id {
        Some(id) => uses(visit, id, &latest).await,
        None => Vec::new(),
    };
    let namesake = namesake(&latest, form.id, name);
    let action = match form.id {
        Some(id) => visit.to(&format!("/audience/segments/{id}")),
        None => visit.to("/audience/segments/new"),
    };
    let body = html! {
        p.line { a href=(visit.to("/audience")) { "All segments" } }
        div.compose {
            (build_script())
            form #segment data-build method="post" action=(action) {
                (kept()) (once(visit))
                button.hidden name="do" value="check" formnovalidate tabindex="-1" { "Count" }
                input type="hidden" name="who" value="some";
                (problems(error, &["display_name"]))
                (form.seen.show(&action))
                (Field::text("display_name", "Name").value(&form.name).show(error))
                fieldset {
                    legend { "Who is in it" }
                    (rows(shown, &known, &Kind::ALL))
                    (datalists(&known))
                    (form.audience.as_json(error))
                }
                div.actions {
                    button.main name="do" value="save" { @if form.id.is_some() { "Save" } @else { "Make it" } }
                    a.button href=(visit.to("/audience")) { "Leave it" }
                }
            }
            aside #beside tabindex="0" aria-label="Who is in it now" {
                @if let Some(other) = namesake {
                    section {
                        p.warning {
                            "There is another segment with this name, "
                            a href=(visit.to(&format!("/audience?segment={other}"))) { (name) }
                            ". You may have several, but another name tells them apart."
                        }
                    }
                }
                (reach.show_members())
                (places::show(visit, shown, "segment").await)
                @if form.id.is_some() { section { h2 { "Used by" } (used_by(&uses)) } }
            }
        }
    };
    Answer::page(if form.id.is_some() { "Change a segment" } else { "Make a segment" }, body)
}

/// The latest segments, to look for what names a segment, and for what is called as it is. None if they cannot be asked for.
pub(super) async fn latest(visit: &Visit) -> Vec<Listed> {
    let limited = query([("limit", LOOKED_THROUGH), ("order", "desc")]);
    let found: Result<Segments> = visit.get(&format!("/api/segments{limited}")).await;
    found.map(|found| found.segments).unwrap_or_default()
}

/// Another segment with a name, among the latest. The API allows it.
pub(super) fn namesake(latest: &[Listed], id: Option<SegmentId>, name: &str) -> Option<SegmentId> {
    latest.iter().find(|other| Some(other.id) != id && other.display_name == name).map(|other| other.id)
}

pub(super) fn used_by(uses: &[Use]) -> Markup {
    html! {
        @if uses.is_empty() { p.quiet { "None of the latest schedules, experiments and segments." } } @else {
            ul.links { @for Use { name, path } in uses { li { a href=(path) { (name) } } } }
        }
    }
}

/// The latest schedules, experiments and other segments that name a segment. What cannot be asked for is not listed.
pub(super) async fn uses(visit: &Visit, id: SegmentId, latest: &[Listed]) -> Vec<Use> {
    let names_it = |value: &Value| value.to_string().contains(&id.to_string());
    let limited = query([("limit", LOOKED_THROUGH), ("order", "desc")]);
    let mut uses = Vec::new();
    let found: Result<Schedules> = visit.get(&format!("/api/schedules{limited}")).await;
    for schedule in found.map(|found| found.schedules).unwrap_or_default().iter().filter(|one| names_it(&one["push"])) {
        let (_, own) = schedule["url"].as_str().and_then(|url| url.rsplit_once('/')).unwrap_or_default();
        let name = schedule["name"].as_str().unwrap_or("a schedule").to_owned();
        uses.push(Use { name, path: visit.to(&format!("/schedules{}", query([("id", own)]))) });
    }
    let found: Result<Experiments> = visit.get(&format!("/api/experiments?limit={LOOKED_THROUGH}")).await;
    for experiment in found.map(|found| found.experiments).unwrap_or_default().iter().filter(|one| names_it(one)) {
        let own = experiment["id"].as_str().unwrap_or_default();
        let name = experiment["name"].as_str().unwrap_or("an experiment").to_owned();
        uses.push(Use { name, path: visit.to(&format!("/experiments/{own}")) });
    }
    for Listed { id: own, display_name } in latest.iter().filter(|other| other.id != id) {
        let whole: Result<Whole> = visit.get(&format!("/api/segments/{own}")).await;
        if whole.is_ok_and(|whole| names_it(&whole.criteria)) {
            uses.push(Use { name: display_name.clone(), path: visit.to(&format!("/audience?segment={own}")) });
        }
    }
    uses
}
