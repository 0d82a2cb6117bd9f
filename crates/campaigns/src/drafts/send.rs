//! Sending a draft: its document becomes a push, a schedule or an experiment in the transaction that marks it as sent, so that it
//! is sent once.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::draft::{DraftSending, DraftState, DraftType};
use model::experiment::Experiment;
use model::ids::{AppId, DraftId};
use model::json::{self, At, OneOrMany};
use model::payload::Push;
use model::problem::{Problem, Problems};
use model::schedule::{FirstTime, Schedule, ScheduledPush, WallTime};
use model::time::UtcMillis;
use sending::{AcceptedPushes, RequestPath, refuse_unfit};
use store::Tx;
use store::apps::App;

use super::stored::Stored;
use super::{DraftView, SentDraft, asked_by};
use crate::Campaigns;
use crate::schedules::{CreatedSchedules, passed, refuse_unsendable};

/// The document of a draft, once it is complete.
pub(super) enum Complete {
    Push(Box<Push>),
    Schedule(Box<ScheduledPush>),
    Experiment(Box<Experiment>),
}

/// The version of a draft that is being sent.
#[derive(Clone, Copy)]
struct Occasion {
    app: AppId,
    id: DraftId,
    version: u32,
    now: UtcMillis,
}

#[boxed]
impl Campaigns {
    /// Sends a version of a draft. If a person asks for it, what reaches more devices than a person may send to alone has to be
    /// approved.
    pub async fn send_draft(
        &self,
        app: &Arc<App>,
        id: DraftId,
        DraftSending { version, undo_seconds }: DraftSending,
        person: Option<Arc<str>>,
    ) -> Result<DraftView> {
        let app_id = app.id;
        let stored = self.0.store.read(move |tx| Stored::unsent(tx, app_id, id, version)).await?;
        let document = read(&stored)?;
        if person.is_some() && stored.state != DraftState::Approved {
            self.refuse_unapproved(app, document.pushes()).await?;
        }
        let occasion = Occasion { app: app_id, id, version, now: self.0.clock.now() };
        let document = match (document, undo_seconds) {
            (document, None) => document,
            (Complete::Push(push), Some(seconds)) => Complete::Schedule(Box::new(occasion.later(*push, seconds)?)),
            (Complete::Schedule(_) | Complete::Experiment(_), Some(_)) => {
                let text = "Only a push can be taken back after it is sent; delete what else was made.";
                return Err(Error::invalid("undo_seconds", text));
            }
        };
        let sent = match document {
            Complete::Push(push) => {
                let with = move |tx: &mut Tx<'_>, accepted: &AcceptedPushes| {
                    occasion.mark(tx, accepted.push_ids.first().copied().map(SentDraft::PushId))
                };
                self.0.sending.accept_pushes_with(app, OneOrMany::One(*push), None, Arc::new(with)).await.map(drop)
            }
            Complete::Schedule(scheduled) => {
                let with = move |tx: &mut Tx<'_>, created: &CreatedSchedules| {
                    occasion.mark(tx, created.schedules.first().map(|named| SentDraft::ScheduleId(named.id)))
                };
                self.create_schedules_with(app_id, OneOrMany::One(*scheduled), None, with).await.map(drop)
            }
            Complete::Experiment(experiment) => {
                let with = move |tx: &mut Tx<'_>, id| occasion.mark(tx, Some(SentDraft::ExperimentId(id)));
                self.create_experiment_with(app_id, *experiment, None, with).await.map(drop)
            }
        };
        sent.map_err(inside_document)?;
        self.draft(app_id, id).await
    }
}

impl Campaigns {
    /// The complete document of a draft that is still in this version.
    pub(super) async fn document_of(&self, app: AppId, id: DraftId, version: u32) -> Result<Complete> {
        read(&self.0.store.read(move |tx| Stored::unsent(tx, app, id, version)).await?)
    }

    /// Finds everything for which the document would be refused, and records nothing.
    pub(super) async fn check_document(&self, app: &Arc<App>, document: Complete) -> Result<()> {
        let checked = match document {
            Complete::Push(push) => self.0.sending.validate_pushes(app, OneOrMany::One(*push)).await,
            Complete::Schedule(scheduled) => self.check_schedule(app.id, *scheduled).await,
            Complete::Experiment(experiment) => self.validate_experiment(app.id, *experiment).await,
        };
        checked.map_err(inside_document)
    }

    async fn check_schedule(&self, app: AppId, mut scheduled: ScheduledPush) -> Result<()> {
        let request_path = RequestPath::of(&OneOrMany::One(()), "push.");
        self.0.targeting.ready_atlas([&scheduled.push]).await?;
        self.0.sending.fill_in_content_templates(app, request_path.of_each([&mut scheduled.push])).await?;
        refuse_unsendable(std::slice::from_ref(&scheduled), request_path)?;
        Error::refuse(passed(scheduled.schedule.first, self.0.clock.now()).into_iter().collect())?;
        self.0.store.read(move |tx| refuse_unfit(tx, app, [&scheduled.push], request_path)).await
    }
}

impl Complete {
    /// The pushes that it would send, one for each audience.
    fn pushes(&self) -> Vec<Push> {
        match self {
            Complete::Push(push) => vec![(**push).clone()],
            Complete::Schedule(scheduled) => vec![scheduled.push.clone()],
            // Its variants share one audience.
            Complete::Experiment(experiment) => experiment.pushes().take(1).cloned().collect(),
        }
    }
}

impl Occasion {
    /// A schedule that sends a push when it can no longer be taken back.
    fn later(self, push: Push, seconds: u32) -> Result<ScheduledPush> {
        let at = self.now.plus(Duration::from_secs(seconds.into())).plus(Duration::from_millis(999)).whole_second();
        let first = WallTime::from_api(&at.to_api()).map(FirstTime::Utc);
        let first = first.ok_or_else(|| Error::internal("a time that cannot be written"))?;
        Ok(ScheduledPush { name: push.name.clone(), schedule: Schedule { first, recurring: None }, push })
    }

    /// Marks the draft as sent, unless it was changed or sent meanwhile.
    fn mark(self, tx: &mut Tx<'_>, sent: Option<SentDraft>) -> Result<()> {
        let Self { app, id, version, now } = self;
        let stored = Stored::unsent(tx, app, id, version)?;
        Stored { state: DraftState::Sent, sent, sent_by: asked_by(tx), ..stored }.put(tx, app, id, now)
    }
}

fn read(stored: &Stored) -> Result<Complete> {
    let text = stored.document.get();
    let complete = match stored.kind {
        DraftType::Push => parsed(text, Push::parse).map(|push| Complete::Push(Box::new(push))),
        DraftType::Schedule => parsed(text, one_schedule).map(|scheduled| Complete::Schedule(Box::new(scheduled))),
        DraftType::Experiment => {
            parsed(text, Experiment::parse).map(|experiment| Complete::Experiment(Box::new(experiment)))
        }
    };
    complete.map_err(inside_document)
}

fn parsed<T>(text: &str, read: fn(&At<'_>) -> Option<T>) -> Result<T> {
    json::parse(text.as_bytes(), read).map_err(Error::Invalid)
}

/// The document is an object, and so one schedule.
fn one_schedule(at: &At<'_>) -> Option<ScheduledPush> {
    ScheduledPush::parse_one_or_many(at)?.into_vec().pop()
}

/// Problems of a document, where they are in the draft.
fn inside_document(error: Error) -> Error {
    let Error::Invalid(problems) = error else { return error };
    let inside = |problem: &Problem| {
        let path = match problem.path.as_str() {
            "" => "document".to_owned(),
            path if path.starts_with('[') => format!("document{path}"),
            path => format!("document.{path}"),
        };
        Problem { path, ..problem.clone() }
    };
    match Problems::from_vec(problems.iter().map(inside).collect()) {
        Some(problems) => Error::Invalid(problems),
        None => Error::Invalid(problems),
    }
}
