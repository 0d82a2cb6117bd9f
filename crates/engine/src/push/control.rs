//! Holding a push back, letting it go on, and calling it off.

use model::ids::{AppId, PushId};
use store::Tx;
use store::jobs;
use store::push_audience;
use store::pushes::{self, PushState};

use super::status::{PushStatus, status_in};
use crate::{Engine, Error, Result};

/// What can be done to a push that is on its way. Doing it twice is the same as doing it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushControl {
    Pause,
    Resume,
    Cancel,
}

/// What those who send a push have to know about it between two deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    GoOn,
    Paused,
    /// Canceled, done or deleted: nothing more is to be sent.
    Over,
}

impl Engine {
    /// Whoever is sending the push learns of it within a second, on every node; what is in flight then still arrives.
    pub async fn control_push(&self, app: AppId, push: PushId, control: PushControl) -> Result<PushStatus> {
        let now = self.clock().now();
        let write = move |tx: &mut Tx<'_>| {
            let standing = pushes::standing(tx, app, push)?;
            let (state, _) = standing.ok_or(Error::NotFound("push"))?;
            refuse(state, control)?;
            match control {
                PushControl::Pause => pushes::set_paused(tx, app, push, true)?,
                PushControl::Resume => {
                    pushes::set_paused(tx, app, push, false)?;
                    jobs::wake_push(tx, app, push, now)?;
                }
                PushControl::Cancel => {
                    pushes::set_state(tx, app, push, PushState::Canceled, now)?;
                    push_audience::delete(tx, app, push)?;
                    // So that nothing of the push is left waiting.
                    jobs::wake_push(tx, app, push, now)?;
                }
            }
            status_in(tx, app, push)
        };
        self.0.store.write(app, write).await
    }
}

impl Standing {
    pub(crate) fn of(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Self> {
        Ok(match pushes::standing(tx, app, push)? {
            Some((PushState::Accepted | PushState::Sending, false)) => Standing::GoOn,
            Some((PushState::Accepted | PushState::Sending, true)) => Standing::Paused,
            Some((PushState::Done | PushState::Canceled, _)) | None => Standing::Over,
        })
    }
}

/// Says why a push that is over cannot be controlled any more.
fn refuse(state: PushState, control: PushControl) -> Result<()> {
    let what = match control {
        PushControl::Pause => "paused",
        PushControl::Resume => "resumed",
        PushControl::Cancel => "canceled",
    };
    match (state, control) {
        (PushState::Accepted | PushState::Sending, _) | (PushState::Canceled, PushControl::Cancel) => Ok(()),
        (PushState::Done, _) => Err(Error::Conflict(format!("The push is done and can no longer be {what}."))),
        (PushState::Canceled, PushControl::Pause | PushControl::Resume) => {
            Err(Error::Conflict(format!("The push was canceled and can no longer be {what}.")))
        }
    }
}
