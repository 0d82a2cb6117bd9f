//! Accepting pushes: everything that can be wrong is said now, and what is accepted is durable.

use std::sync::Arc;
use std::time::Duration;

use model::app::AppKey;
use model::event::{self, PushResource, RecordKind};
use model::ids::{AppId, Id, OperationId, PushId};
use model::json::{self, OneOrMany};
use model::payload::Push;
use model::payload::expiry::Expiry;
use model::platform::{DeviceType, OpenPlatform};
use model::problem::{Problem, ProblemKind, Problems};
use model::selector::{Atomic, Audience, Selector};
use model::term::Term;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::apps::App;
use store::documents::{self, DocumentKind};
use store::pushes::{self, PushRow, PushState, Tally};
use store::{Tx, terms};

use crate::job::Job;
use crate::journal::Journal;
use crate::{Engine, Error, Once, Result, pages};

/// The answer to an accepted request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedPushes {
    pub operation_id: OperationId,
    pub push_ids: Vec<PushId>,
    /// One per push that has a Message Center message.
    pub message_ids: Vec<String>,
    /// Where the inline landing pages are served.
    pub content_urls: Vec<String>,
    /// One per push that has localizations.
    pub localized_ids: Vec<LocalizedId>,
}

pub enum LocalizedKind {}
pub type LocalizedId = Id<LocalizedKind>;

/// Where a push is and what became of it, per platform.
#[derive(Clone, Debug)]
pub struct PushStatus {
    pub id: PushId,
    pub created: UtcMillis,
    pub expires: Option<UtcMillis>,
    pub push_type: String,
    pub state: PushState,
    pub platforms: Vec<(String, Tally)>,
}

impl Engine {
    /// Accepts all of the pushes or none. After this returns, they survive anything but the loss of the database.
    pub async fn accept_pushes(
        &self,
        app: &Arc<App>,
        pushes: OneOrMany<Push>,
        once: Option<Once>,
    ) -> Result<AcceptedPushes> {
        refuse_unsupported(&pushes)?;
        let now = self.clock().now();
        let accepted = self.name_pushes(&app.key, pushes.as_slice(), now);
        let payloads = pushes.as_slice().iter().map(serde_json::to_string);
        let payloads: Vec<String> = payloads.collect::<Result<_, _>>().map_err(Error::internal)?;

        let (engine, app) = (self.clone(), app.id);
        let (n_pushes, operation) = (payloads.len() as u64, accepted.operation_id);
        let written = self.write_once(app, once, move |tx| {
            refuse_unknown_platforms(tx, app, &pushes)?;
            engine.insert_pushes(tx, app, now, &accepted, pushes.as_slice().iter().zip(&payloads))?;
            Ok(accepted.clone())
        });
        let accepted = written.await?;
        // The answer to an earlier request with the same idempotency key bears that request's operation.
        if accepted.operation_id == operation {
            self.metrics().pushes_accepted(n_pushes);
        }
        Ok(accepted)
    }

    /// The ids and addresses of pushes that are about to be accepted.
    fn name_pushes(&self, app: &AppKey, pushes: &[Push], now: UtcMillis) -> AcceptedPushes {
        let mut named = AcceptedPushes {
            operation_id: OperationId::at(now),
            push_ids: Vec::with_capacity(pushes.len()),
            message_ids: Vec::new(),
            content_urls: Vec::new(),
            localized_ids: Vec::new(),
        };
        for push in pushes {
            let id = PushId::at(now);
            named.push_ids.push(id);
            named.message_ids.extend(push.message.as_ref().map(|_| providers::message_id(id)));
            named.content_urls.extend(pages::urls(self.public_url(), app, id, push));
            named.localized_ids.extend(push.localizations.as_ref().map(|_| Id::random()));
        }
        named
    }

    /// Finds everything [`Engine::accept_pushes`] would object to, and records nothing.
    pub async fn validate_pushes(&self, app: &Arc<App>, pushes: OneOrMany<Push>) -> Result<()> {
        refuse_unsupported(&pushes)?;
        let app = app.id;
        self.0.store.read(move |tx| refuse_unknown_platforms(tx, app, &pushes)).await
    }

    pub async fn push_status(&self, app: AppId, push: PushId) -> Result<PushStatus> {
        self.0
            .store
            .read(move |tx| {
                let row = pushes::by_id(tx, app, push)?.ok_or(Error::NotFound("push"))?;
                Ok(PushStatus {
                    id: row.id,
                    created: row.created,
                    expires: row.expires,
                    push_type: row.push_type,
                    state: row.state,
                    platforms: tallies(tx, app, push, row.state)?,
                })
            })
            .await
    }

    /// Writes the pushes, their PUSH_BODY events and the jobs that resolve them.
    fn insert_pushes<'p>(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        now: UtcMillis,
        accepted: &AcceptedPushes,
        pushes: impl Iterator<Item = (&'p Push, &'p String)> + Clone,
    ) -> Result<()> {
        let mut journal = Journal::new(now);
        for (id, (push, payload)) in accepted.push_ids.iter().zip(pushes.clone()) {
            let payload = (!push.is_redacted()).then(|| payload.clone());
            let body = event::PushBody { push_id: *id, resource: PushResource::Push, payload };
            journal.event(RecordKind::PushBody, None, body)?;
        }
        let accepted_at = journal.write(tx, app)?;
        for (id, (push, payload)) in accepted.push_ids.iter().zip(pushes) {
            let row = PushRow {
                id: *id,
                operation: accepted.operation_id,
                created: now,
                expires: expires(push, now),
                push_type: push.push_type().name().to_owned(),
                state: PushState::Accepted,
                accepted_at,
                redact: push.is_redacted(),
                payload: Some(payload.clone()),
            };
            pushes::insert(tx, app, &row)?;
            self.enqueue(tx, app, now, &Job::Resolve { push: *id })?;
        }
        Ok(())
    }
}

/// The counts of a push. When all is over, a reason is of interest only where something failed.
fn tallies(tx: &mut Tx<'_>, app: AppId, push: PushId, state: PushState) -> Result<Vec<(String, Tally)>> {
    let mut tallies = pushes::tallies(tx, app, push)?;
    for (_, tally) in &mut tallies {
        tally.reason.take_if(|_| state == PushState::Done && tally.failed == 0);
    }
    Ok(tallies)
}

/// A push as it was stored, if it is not redacted. It was checked when it was accepted, so a problem now is ours.
pub(crate) fn stored_push(row: &PushRow) -> Result<Option<Push>> {
    let parse = |payload: &String| json::parse(payload.as_bytes(), Push::parse).map_err(Error::internal);
    row.payload.as_ref().map(parse).transpose()
}

/// When our own queue gives up. "Now or never" is meant for the provider; the queue gets a minute to be there now.
fn expires(push: &Push, now: UtcMillis) -> Option<UtcMillis> {
    match push.options.as_ref()?.expiry.as_ref()? {
        Expiry::Seconds(0) => Some(now.plus(Duration::from_secs(60))),
        expiry => Some(expiry.deadline(now)),
    }
}

/// Where the n-th push is in the body.
fn path(pushes: &OneOrMany<Push>, n: usize, below: &str) -> String {
    match pushes {
        OneOrMany::One(_) => below.to_owned(),
        OneOrMany::Many(_) => format!("[{n}].{below}"),
    }
}

fn fail_with(problems: Vec<Problem>) -> Result<()> {
    Problems::from_vec(problems).map_or(Ok(()), |problems| Err(Error::Invalid(problems)))
}

/// Refuses audiences that this version cannot evaluate. Taking them for nobody would make NOT mean everybody.
fn refuse_unsupported(pushes: &OneOrMany<Push>) -> Result<()> {
    let mut problems = Vec::new();
    for (n, push) in pushes.as_slice().iter().enumerate() {
        let Audience::Selector(selector) = &push.audience else { continue };
        problems.extend(unsupported(selector, path(pushes, n, "audience")));
    }
    fail_with(problems)
}

/// What is wrong with an audience that this version cannot evaluate.
pub(crate) fn unsupported(selector: &Selector, path: String) -> Option<Problem> {
    let name = selector.atoms().find_map(|atom| match atom {
        Atomic::Activity(_) => Some("activity"),
        Atomic::Location(_) => Some("location"),
        Atomic::Tag { .. }
        | Atomic::Segment(_)
        | Atomic::NamedUser(_)
        | Atomic::Alias(_)
        | Atomic::StaticList(_)
        | Atomic::SubscriptionList { .. }
        | Atomic::Channel(_)
        | Atomic::IosChannel(_)
        | Atomic::AndroidChannel(_)
        | Atomic::AmazonChannel(_)
        | Atomic::WebChannel(_)
        | Atomic::OpenChannel(_)
        | Atomic::DeviceToken(_)
        | Atomic::Apid(_)
        | Atomic::Wns(_)
        | Atomic::Mpns(_)
        | Atomic::DevicePin(_)
        | Atomic::SmsId(_)
        | Atomic::SmsSender(_)
        | Atomic::Attribute(_) => None,
    });
    name.map(|name| Problem {
        path,
        message: format!("Audiences by {name} are not supported by this version of the service."),
        kind: ProblemKind::Invalid,
    })
}

/// Refuses open platforms that nobody has configured and no channel has registered for: most likely a typing mistake.
fn refuse_unknown_platforms(tx: &mut Tx<'_>, app: AppId, pushes: &OneOrMany<Push>) -> Result<()> {
    let mut problems = Vec::new();
    for (n, push) in pushes.as_slice().iter().enumerate() {
        for platform in push.open_platforms() {
            if !is_known(tx, app, platform)? {
                problems.push(Problem {
                    path: path(pushes, n, "device_types"),
                    message: format!(
                        "The open platform '{0}' is not known: no channel has registered for open::{0} and it is not \
                         configured.",
                        platform.as_str()
                    ),
                    kind: ProblemKind::Invalid,
                });
            }
        }
    }
    fail_with(problems)
}

fn is_known(tx: &mut Tx<'_>, app: AppId, platform: &OpenPlatform) -> Result<bool> {
    let registered = terms::find(tx, app, &Term::DeviceType(DeviceType::Open(platform.clone())))?.is_some();
    Ok(registered || documents::get(tx, app, DocumentKind::Platform, platform.as_str())?.is_some())
}
