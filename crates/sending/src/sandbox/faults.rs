//! Faults of the sandbox: answers that developers have asked for, to see what follows from them.

use base::{Error, Result};
use boxed::boxed;
use model::app::Mode;
use model::device_type::DeviceType;
use model::ids::AppId;
use model::json;
use model::sandbox::{SandboxAnswer, SandboxFaults};
use model::time::UtcMillis;
use providers::outcome::{Contact, Outcome};
use store::apps::App;
use store::documents::{self, DocumentKind};
use store::{Store, Tx};

use crate::Sending;

/// The only document of its kind.
const DOCUMENT: &str = "faults";

#[boxed]
impl Sending {
    /// The answers that are left.
    pub async fn sandbox_faults(&self, app: AppId) -> Result<SandboxFaults> {
        self.0.store.read(move |tx| read(tx, app)).await
    }

    /// Replaces the answers that are left.
    pub async fn set_sandbox_faults(&self, app: &App, faults: SandboxFaults) -> Result<()> {
        if app.mode == Mode::Production {
            return Err(Error::Conflict("An app in production mode has no sandbox.".to_owned()));
        }
        let (app, now) = (app.id, self.0.clock.now());
        self.0.store.write(app, move |tx| write(tx, app, &faults, now)).await
    }
}

/// The outcome of a message that is answered so.
pub(crate) fn outcome(answer: SandboxAnswer) -> Outcome {
    let told = |what: &str| format!("The sandbox was told to {what}.");
    match answer {
        SandboxAnswer::Gone => Outcome::Gone { since: None },
        SandboxAnswer::Busy => {
            Outcome::Retry { after: None, reason: told("be busy"), everybody: false, contact: Contact::Made }
        }
        SandboxAnswer::Refused => Outcome::Rejected { reason: told("refuse this message") },
    }
}

/// Takes the answers for up to `n_messages` to devices of a type. Those that a run takes and does not use, because it stops, are
/// lost.
pub(crate) async fn take_faults(
    store: &Store,
    app: AppId,
    device_type: DeviceType,
    n_messages: usize,
    now: UtcMillis,
) -> Result<Vec<SandboxAnswer>> {
    // Mostly there are none, and nothing has to be written.
    if store.read(move |tx| read(tx, app)).await?.faults.is_empty() {
        return Ok(Vec::new());
    }
    let take = move |tx: &mut Tx<'_>| {
        let mut left = read(tx, app)?;
        let taken = left.take(&device_type, n_messages);
        write(tx, app, &left, now)?;
        Ok(taken)
    };
    store.write(app, take).await
}

fn read(tx: &mut Tx<'_>, app: AppId) -> Result<SandboxFaults> {
    let document = documents::get(tx, app, DocumentKind::SandboxFaults, DOCUMENT)?;
    let parse = |body: String| json::parse(body.as_bytes(), SandboxFaults::parse).map_err(Error::internal);
    Ok(document.map(|document| parse(document.body)).transpose()?.unwrap_or_default())
}

fn write(tx: &mut Tx<'_>, app: AppId, faults: &SandboxFaults, now: UtcMillis) -> Result<()> {
    if faults.faults.is_empty() {
        documents::delete(tx, app, DocumentKind::SandboxFaults, DOCUMENT)?;
        return Ok(());
    }
    let body = serde_json::to_string(faults).map_err(Error::internal)?;
    Ok(documents::put(tx, app, DocumentKind::SandboxFaults, DOCUMENT, &body, now)?)
}
