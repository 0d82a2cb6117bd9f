//! Approval: what somebody who uses the console may not send alone.

use std::sync::Arc;

use base::{Error, Result};
use boxed::boxed;
use model::draft::{DraftState, DraftVersion};
use model::ids::{AppId, DraftId};
use model::payload::Push;
use store::Tx;
use store::apps::App;

use super::stored::Stored;
use super::{DraftView, asked_by};
use crate::Campaigns;

#[boxed]
impl Campaigns {
    /// Asks for the approval of a draft, which has to be fit to be sent.
    pub async fn submit_draft(
        &self,
        app: &Arc<App>,
        id: DraftId,
        DraftVersion { version }: DraftVersion,
    ) -> Result<DraftView> {
        let document = self.document_of(app.id, id, version).await?;
        self.check_document(app, document).await?;
        let change = move |stored: Stored, tx: &mut Tx<'_>| {
            // It need not be approved twice.
            let state = if stored.state == DraftState::Approved { stored.state } else { DraftState::Awaiting };
            Ok(Stored { state, submitted_by: asked_by(tx), ..stored })
        };
        self.step_draft(app.id, id, version, change).await
    }

    /// Approves a version of a draft. A person cannot approve what they have written; servers are not bound by that.
    pub async fn approve_draft(
        &self,
        app: &Arc<App>,
        id: DraftId,
        DraftVersion { version }: DraftVersion,
        person: Option<Arc<str>>,
    ) -> Result<DraftView> {
        let change = move |stored: Stored, tx: &mut Tx<'_>| {
            if person.is_some() && person.as_deref() == stored.written_by.as_deref() {
                return Err(Error::Forbidden("Somebody else has to approve what you have written.".to_owned()));
            }
            match stored.state {
                DraftState::Awaiting => {}
                DraftState::Approved => return Ok(stored),
                DraftState::Draft | DraftState::Sent => {
                    return Err(Error::Conflict("Nobody has asked for the approval of this draft.".to_owned()));
                }
            }
            Ok(Stored { state: DraftState::Approved, approved_by: asked_by(tx), ..stored })
        };
        self.step_draft(app.id, id, version, change).await
    }

    /// Refuses pushes to more devices than a person may send to alone. All of the audience counts: inboxes and silent messages
    /// reach devices that show no notifications, too.
    pub async fn refuse_unapproved(&self, app: &Arc<App>, pushes: Vec<Push>) -> Result<()> {
        let Some(most) = app.approval_above else { return Ok(()) };
        for Push { audience, device_types, .. } in pushes {
            let explained = self.0.targeting.explain(app.id, audience, device_types).await?;
            let n_devices = explained.matched;
            if n_devices > u64::from(most) {
                return Err(Error::Forbidden(format!(
                    "The audience has {n_devices} devices. Above {most}, a second person has to approve: save it as a draft \
                     and ask for approval."
                )));
            }
        }
        Ok(())
    }
}

impl Campaigns {
    /// Changes how far a draft has got, if it is still in this version.
    async fn step_draft(
        &self,
        app: AppId,
        id: DraftId,
        version: u32,
        change: impl Fn(Stored, &mut Tx<'_>) -> Result<Stored> + Send + Sync + 'static,
    ) -> Result<DraftView> {
        let now = self.0.clock.now();
        let write = move |tx: &mut Tx<'_>| {
            let stored = Stored::unsent(tx, app, id, version)?;
            change(stored, tx)?.put(tx, app, id, now)
        };
        self.0.store.write(app, write).await?;
        self.draft(app, id).await
    }
}
