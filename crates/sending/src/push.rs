//! Accepting pushes: all problems are reported now, and an accepted push is durable.

mod check;
mod control;
mod expiry;
mod fit;
mod listing;
mod of_all_apps;
mod recipients;
mod search;
mod status;

use std::sync::Arc;

use base::{Error, Result};
use boxed::boxed;
use devices::{Journal, NewEvent};
use model::app::AppKey;
use model::event;
use model::ids::{AppId, Id, MessageId, OperationId, PushId};
use model::json::{self, OneOrMany};
use model::origin::{Origin, Provenance};
use model::payload::{Push, ShownTexts};
use model::selector::Purpose;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::apps::App;
use store::pushes::{self, PushRow, PushState, PushTexts};
use store::{Tx, origins};
use tenancy::IdempotencyKey;

use crate::resolve::Resolve;
use crate::{Sending, pages};

pub use check::RequestPath;
pub use check::refuse_unfit;
pub use check::refuse_unsupported;
pub use check::refuse_unsupported_in_group;
pub use control::PushControl;
pub(crate) use control::SendPermission;
pub use expiry::refuse_expiries_beyond_providers;
pub(crate) use expiry::{deadline, last_deadline_on};
pub use listing::{ListedPush, OriginFilter, PushFilter, StateFilter, pushes_between};
pub use of_all_apps::PushOfApp;
pub use recipients::Registry;
pub(crate) use status::NO_SUCH_PUSH;
pub use status::{PlatformProgress, PushStatus};

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

/// What belongs to the acceptance of pushes and is written with them.
pub type WithPushes = Arc<dyn Fn(&mut Tx<'_>, &AcceptedPushes) -> Result<()> + Send + Sync>;

/// A push that is about to be accepted, wherever it comes from.
pub struct NewPush<'a> {
    pub id: PushId,
    pub push: &'a Push,
    /// The push as JSON.
    pub payload: &'a str,
    pub provenance: &'a Provenance,
    /// The credential by which it was asked for earlier; of none, that of the request that is carried out counts.
    pub author: Option<&'a str>,
}

#[boxed]
impl Sending {
    /// Accepts all of the pushes or none. After this returns, they survive everything but the loss of the database.
    pub async fn accept_pushes(
        &self,
        app: &Arc<App>,
        pushes: OneOrMany<Push>,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<AcceptedPushes> {
        self.accept_pushes_with(app, pushes, idempotency_key, Arc::new(|_, _| Ok(()))).await
    }

    /// As [`Sending::accept_pushes`], unless what is written with them refuses it.
    pub async fn accept_pushes_with(
        &self,
        app: &Arc<App>,
        pushes: OneOrMany<Push>,
        idempotency_key: Option<IdempotencyKey>,
        with: WithPushes,
    ) -> Result<AcceptedPushes> {
        let request_path = RequestPath::of(&pushes, "");
        let mut pushes = pushes.into_vec();
        self.0.targeting.ready_atlas(&pushes).await?;
        self.fill_in_content_templates(app.id, request_path.of_each(&mut pushes)).await?;
        refuse_unsupported(&pushes, request_path)?;
        let now = self.0.clock.now();
        let accepted = self.name_pushes(&app.key, &pushes, now);
        let payloads = pushes.iter().map(serde_json::to_string);
        let payloads: Vec<String> = payloads.collect::<Result<_, _>>().map_err(Error::internal)?;

        let (sending, app) = (self.clone(), app.id);
        let registry = self.registry_for(app, &pushes).await?;
        let (n_pushes, operation) = (payloads.len() as u64, accepted.operation_id);
        let written = self.0.tenancy.write_once(app, idempotency_key, move |tx| {
            refuse_unfit(tx, app, &pushes, request_path)?;
            refuse_expiries_beyond_providers(&pushes, now, request_path)?;
            with(tx, &accepted)?;
            let provenance = Provenance::of(Origin::Api);
            let named = accepted.push_ids.iter().zip(pushes.iter().zip(&payloads));
            let new = named.map(|(id, (push, payload))| NewPush {
                id: *id,
                push,
                payload,
                provenance: &provenance,
                author: None,
            });
            registry.register_recipients(tx, &pushes)?;
            sending.insert_pushes(tx, app, now, accepted.operation_id, &new.collect::<Vec<_>>())?;
            Ok(accepted.clone())
        });
        let accepted = written.await?;
        // The answer to an earlier request with the same idempotency key bears that request's operation.
        if accepted.operation_id == operation {
            self.0.metrics.pushes_accepted(n_pushes);
        }
        Ok(accepted)
    }

    /// The ids and addresses of pushes that are about to be accepted.
    pub(crate) fn name_pushes(&self, app: &AppKey, pushes: &[Push], now: UtcMillis) -> AcceptedPushes {
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
            named.message_ids.extend(push.has_message().then(|| MessageId::from(id).to_string()));
            named.content_urls.extend(pages::urls(&self.0.public_url, app, id, push));
            named.localized_ids.extend(push.localizations.as_ref().map(|_| Id::random()));
        }
        named
    }

    /// Finds everything [`Sending::accept_pushes`] would object to, and records nothing.
    pub async fn validate_pushes(&self, app: &Arc<App>, pushes: OneOrMany<Push>) -> Result<()> {
        let request_path = RequestPath::of(&pushes, "");
        let (app, mut pushes) = (app.id, pushes.into_vec());
        self.0.targeting.ready_atlas(&pushes).await?;
        self.fill_in_content_templates(app, request_path.of_each(&mut pushes)).await?;
        refuse_unsupported(&pushes, request_path)?;
        refuse_expiries_beyond_providers(&pushes, self.0.clock.now(), request_path)?;
        self.0.store.read(move |tx| refuse_unfit(tx, app, &pushes, request_path)).await
    }

    /// Writes the pushes, their origins, their PUSH_BODY events and the jobs that resolve them.
    pub fn insert_pushes(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        now: UtcMillis,
        operation: OperationId,
        pushes: &[NewPush<'_>],
    ) -> Result<()> {
        let mut journal = Journal::new(now);
        for NewPush { id, push, payload, provenance, .. } in pushes {
            let origin = provenance.origin;
            let payload = (!push.is_redacted()).then(|| (*payload).to_owned());
            let body = event::PushBody {
                push_id: *id,
                group_id: origin.group(),
                campaigns: provenance.shared_push(*id, push).campaigns(),
                resource: origin.resource(),
                payload,
            };
            journal.event(None, NewEvent::PushBody(body))?;
        }
        let accepted_at = journal.write(tx, app)?;
        // A clock that is ahead does not keep the push from nodes whose clocks are right.
        let due = now.min(self.0.shared_clock.now());
        for NewPush { id, push, payload, provenance, author } in pushes {
            let row = PushRow {
                id: *id,
                operation,
                created: now,
                expires: expiry::last_deadline(push, now),
                push_type: provenance.push_type(push),
                state: PushState::Accepted,
                paused: false,
                accepted_at,
                redact: push.is_redacted(),
                payload: Some((*payload).to_owned()),
            };
            let ShownTexts { title, alert } = push.shown_texts();
            let texts = PushTexts { name: push.name.clone(), title, alert };
            pushes::insert_by(tx, app, &row, &texts, *author)?;
            origins::insert(tx, app, *id, provenance)?;
            jobs::enqueue(tx, app, due, &Resolve { push: *id })?;
        }
        Ok(())
    }
}

/// A stored push, if it is not redacted. It was checked when it was accepted, so a problem now is our fault.
pub fn stored_push(row: &PushRow) -> Result<Option<Push>> {
    let parse = |payload: &String| {
        json::parse(payload.as_bytes(), |at| Push::parse_with(at, Purpose::Stored)).map_err(Error::internal)
    };
    row.payload.as_ref().map(parse).transpose()
}
