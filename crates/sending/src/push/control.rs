//! Pausing, resuming and canceling a push.

use base::{Error, Result};
use boxed::boxed;
use model::ids::{AppId, PushId};
use store::Tx;
use store::push_audience;
use store::pushes::{self, PushState};

use super::status::{NO_SUCH_PUSH, PushStatus, status_in};
use crate::Sending;

/// What can be done to a push that is being sent. Doing it twice is the same as doing it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushControl {
    Pause,
    Resume,
    Cancel,
}

/// Whether a push may be sent, asked by its senders between two deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendPermission {
    Allowed,
    Paused,
    /// Canceled, done or deleted: nothing more is to be sent.
    Ended,
}

#[boxed]
impl Sending {
    /// Senders notice within a second, on every node; messages in flight still arrive.
    pub async fn control_push(&self, app: AppId, push: PushId, control: PushControl) -> Result<PushStatus> {
        let (now, due) = (self.0.clock.now(), self.0.shared_clock.now());
        let write = move |tx: &mut Tx<'_>| {
            let found = pushes::sending_state(tx, app, push)?.ok_or(NO_SUCH_PUSH)?;
            refuse_ended(found.state, control)?;
            match control {
                PushControl::Pause => pushes::set_paused(tx, app, push, true)?,
                PushControl::Resume => {
                    pushes::set_paused(tx, app, push, false)?;
                    jobs::wake_push(tx, app, push, due)?;
                }
                PushControl::Cancel => {
                    pushes::set_state(tx, app, push, PushState::Canceled, now)?;
                    push_audience::delete(tx, app, push)?;
                    // So that nothing of the push is left waiting.
                    jobs::wake_push(tx, app, push, due)?;
                }
            }
            status_in(tx, app, push)
        };
        self.0.store.write(app, write).await
    }
}

impl SendPermission {
    pub(crate) fn of(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<Self> {
        let found = pushes::sending_state(tx, app, push)?;
        Ok(found.map_or(SendPermission::Ended, |found| Self::from_state(found.state, found.is_paused)))
    }

    pub(crate) const fn from_state(state: PushState, is_paused: bool) -> Self {
        match state {
            PushState::Accepted | PushState::Sending if is_paused => SendPermission::Paused,
            PushState::Accepted | PushState::Sending => SendPermission::Allowed,
            PushState::Done | PushState::Canceled => SendPermission::Ended,
        }
    }
}

/// Canceling a canceled push changes nothing; apart from that, a push that has ended can no longer be controlled.
fn refuse_ended(state: PushState, control: PushControl) -> Result<()> {
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
