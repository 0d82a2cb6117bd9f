//! Drafts of Compose: what is written so far, kept by the API under an id and a version.

use http::{Method, StatusCode};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::written::{Document, Written};
use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::{Fields, encode, encoded, query};
use crate::parts::states::badge;
use crate::visit::Visit;

/// How long a message can be taken back, in seconds.
const UNDO: u32 = 10;
/// Of the text, if a draft has no name.
const NAME_CHARS: usize = 60;

#[derive(Deserialize)]
struct One {
    draft: Saved,
}

/// A draft as the API shows it; listings leave out what it says.
#[derive(Deserialize)]
pub(crate) struct Saved {
    pub(crate) draft_id: String,
    pub(crate) name: Option<String>,
    pub(crate) kind: String,
    pub(crate) version: u32,
    pub(crate) state: String,
    pub(crate) written_by: Option<String>,
    pub(crate) submitted_by: Option<String>,
    pub(crate) approved_by: Option<String>,
    pub(crate) sent_by: Option<String>,
    push_id: Option<String>,
    schedule_id: Option<String>,
    experiment_id: Option<String>,
    pub(crate) modified: String,
    #[serde(default)]
    pub(crate) document: Value,
    editor: Option<String>,
}

/// The draft that a form shows.
pub(crate) struct Identity {
    id: String,
    version: u32,
    state: Option<(String, String)>,
}

impl Identity {
    pub(super) fn in_form(fields: &Fields) -> Option<Self> {
        let version = fields.text("version")?.parse().ok()?;
        Some(Self { id: fields.text("draft")?.to_owned(), version, state: None })
    }
}

/// The part of the form that says which draft it is, and why it could not be saved. The script asks for it while somebody writes.
pub(super) fn show(visit: &Visit, draft: Option<&Identity>, refused: Option<&Error>) -> Markup {
    let page = draft.map(|draft| format!("{}{}", visit.to("/compose"), query([("draft", draft.id.as_str())])));
    let is_conflict = refused.is_some_and(|error| error.status() == StatusCode::CONFLICT);
    html! {
        div #saved data-page=[page.as_ref()] data-stopped[is_conflict] {
            @if let Some(draft) = draft {
                input type="hidden" name="draft" value=(draft.id);
                input type="hidden" name="version" value=(draft.version);
            }
            p.line role="status" {
                @if let Some(draft) = draft {
                    a href=(visit.to(&format!("/drafts/{}", draft.id))) { "Draft, version " (draft.version) }
                    @if let Some((state, modified)) = &draft.state { " " (badge(state)) " saved " (time(modified)) }
                    @if draft.state.as_ref().is_some_and(|(state, _)| state != "draft") { " · saving it again voids the approval" }
                }
                @if let Some(error) = refused { @for sentence in error.sentences() { " Not saved: " (sentence) } }
            }
            @if let Some(page) = page.filter(|_| is_conflict) {
                p.actions {
                    a.button href=(page) { "See what is saved" }
                    button name="do" value="save-as-new" formnovalidate { "Save yours as another draft" }
                }
            }
        }
    }
}

/// Whether what the visitor has asked for saves another version of a draft.
pub(super) fn is_saved_by(visit: &Visit) -> bool {
    let steps = ["save", "submit", "send"];
    Identity::in_form(&visit.form).is_some() && visit.form.text("do").is_some_and(|step| steps.contains(&step))
}

impl Saved {
    pub(super) fn identity(&self) -> Identity {
        let state = Some((self.state.clone(), self.modified.clone()));
        Identity { id: self.draft_id.clone(), version: self.version, state }
    }

    /// The fields that show it in Compose, if they can: those it was written with, unless a program has changed it since.
    pub(crate) fn fields(&self) -> Option<Fields> {
        let written = self.editor.as_deref().map(Fields::parse).filter(|fields| {
            let Document { kind, body } = Written::read(fields).unfinished();
            kind == self.kind && body == self.document
        });
        written.or_else(|| {
            let fields = Written::fields_of(self.document.as_object().filter(|_| self.kind == "push")?)?;
            Some(Fields::parse(&encoded(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))))
        })
    }

    /// The page of what it was sent as.
    pub(crate) fn outcome(&self, visit: &Visit) -> Option<String> {
        let push = self.push_id.as_ref().map(|id| format!("/messages/{id}"));
        let experiment = self.experiment_id.as_ref().map(|id| format!("/experiments/{id}"));
        let schedule = self.schedule_id.as_ref().map(|id| match self.kind.as_str() {
            "push" => format!("/compose/sending/{id}"),
            _ => "/schedules".to_owned(),
        });
        push.or(experiment).or(schedule).map(|below| visit.to(&below))
    }
}

pub(crate) async fn look_up(visit: &Visit, id: &str) -> Result<Saved> {
    let One { draft } = visit.get(&format!("/api/drafts/{}", encode(id))).await?;
    Ok(draft)
}

/// Keeps what the form says, as another version of the draft that it shows or as a new one.
pub(super) async fn save(visit: &Visit, written: &Written, draft: Option<&Identity>) -> Result<Saved> {
    let Document { kind, body } = written.unfinished();
    let text = written.content.text.as_deref().or(written.content.inbox_title.as_deref());
    let name = written.name.clone().or_else(|| Some(text?.chars().take(NAME_CHARS).collect()));
    let mut body = json!({"kind": kind, "document": body, "editor": written.fields(&visit.form)});
    if let Some(name) = name {
        body["name"] = json!(name);
    }
    let One { draft } = match draft {
        Some(known) => {
            body["version"] = json!(known.version);
            visit.put(&format!("/api/drafts/{}", encode(&known.id)), body).await?
        }
        None => visit.post_form("/api/drafts", body).await?,
    };
    Ok(draft)
}

pub(crate) async fn step(visit: &Visit, id: &str, action: &str, body: Value) -> Result<Saved> {
    let One { draft } = visit.post(&format!("/api/drafts/{}/{action}", encode(id)), body).await?;
    Ok(draft)
}

/// Saves what the form says as the next version of its draft, and sends that. A second click leads to the same page.
pub(super) async fn send_changed(visit: &Visit, written: &Written, known: &Identity) -> Result<Answer> {
    let sent = match save(visit, written, Some(known)).await {
        Ok(saved) => send(visit, &saved, saved.version).await,
        Err(error) => Err(error),
    };
    match sent {
        Err(Error::Refused { status: StatusCode::CONFLICT, sentence }) => {
            let now = look_up(visit, &known.id).await?;
            let conflict = Error::Refused { status: StatusCode::CONFLICT, sentence };
            now.outcome(visit).map_or(Err(conflict), Answer::to)
        }
        other => other,
    }
}

/// Sends a draft as it was in a version.
pub(crate) async fn send(visit: &Visit, saved: &Saved, version: u32) -> Result<Answer> {
    let sent = match saved.kind.as_str() {
        "push" => json!({"version": version, "undo_seconds": UNDO}),
        _ => json!({"version": version}),
    };
    let sent = step(visit, &saved.draft_id, "send", sent).await?;
    Answer::to(sent.outcome(visit).unwrap_or_else(|| visit.to("/drafts")))
}

pub(crate) async fn delete(visit: &Visit, id: &str) -> Result<()> {
    visit.change(Method::DELETE, &format!("/api/drafts/{}", encode(id)), None).await
}
