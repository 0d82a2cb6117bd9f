//! Old pushes are forgotten, unless something still shows them or waits for them.

use std::time::Duration;

use base::Result;
use model::ids::AppId;
use model::origin::Origin;
use model::time::UtcMillis;
use store::documents::{self, DocumentKind};
use store::pushes::{self, Aged};
use store::{Tx, counters, origins};
use uuid::Uuid;

use super::{DAY, PORTIONS_PER_RUN};
use crate::Rooms;
use crate::sweep::Left;

/// The pushes checked and deleted by one transaction, during which nothing else of the app is written.
const PUSHES_AT_ONCE: u32 = 50;
const ROWS_AT_ONCE: u64 = 5_000;

impl Rooms {
    /// Deletes pushes that are too old. A deleted push is not found a second time, and one that is still needed is not checked
    /// again before a day has passed.
    pub(crate) async fn forget_old_pushes(&self, app: AppId) -> Result<Left> {
        let (now, age) = (self.clock.now(), self.retention.pushes);
        for _ in 0..PORTIONS_PER_RUN {
            if self.store.read(move |tx| pushes::aged(tx, app, now.minus(age), 1)).await?.is_empty() {
                return Ok(Left::Nothing);
            }
            self.store.write(app, move |tx| forget_some(tx, app, now, age)).await?;
        }
        Ok(Left::More)
    }
}

/// The decision about a push that has reached its age.
enum Fate {
    /// Something may still need it; it is checked again then.
    KeptUntil(UtcMillis),
    Forgotten,
    /// It is the last of its group, whose counts go first: as long as some are left, the push marks that they have to go.
    ForgottenWith(Uuid),
}

fn forget_some(tx: &mut Tx<'_>, app: AppId, now: UtcMillis, age: Duration) -> Result<()> {
    let mut n_rows = 0;
    for push in pushes::aged(tx, app, now.minus(age), PUSHES_AT_ONCE)? {
        match fate(tx, app, &push, now)? {
            Fate::KeptUntil(instant) => pushes::age_from(tx, app, push.id, instant.minus(age))?,
            Fate::Forgotten => n_rows += pushes::forget(tx, app, push.id)?,
            Fate::ForgottenWith(group) => {
                n_rows += counters::forget_group(tx, app, group, ROWS_AT_ONCE.saturating_sub(n_rows))?;
                if n_rows < ROWS_AT_ONCE {
                    n_rows += pushes::forget(tx, app, push.id)?;
                }
            }
        }
        if n_rows >= ROWS_AT_ONCE {
            break;
        }
    }
    Ok(())
}

fn fate(tx: &mut Tx<'_>, app: AppId, push: &Aged, now: UtcMillis) -> Result<Fate> {
    let tomorrow = Fate::KeptUntil(now.plus(DAY));
    // The holders of a message that has ended are kept for another day.
    if let Some(ends) = push.message_ends {
        return Ok(Fate::KeptUntil(ends.plus(DAY).max(now.plus(DAY))));
    }
    if !push.state.is_final() || push.lends_payload {
        return Ok(tomorrow);
    }
    let Some((origin, group)) = push.origin.and_then(|origin| Some((origin, origin.group()?))) else {
        return Ok(Fate::Forgotten);
    };
    // The results of an experiment are those of all its pushes. Of other groups the first push outlives the others, because it
    // says since when they are counted, and stays as long as there can be more of them.
    let first = origins::first_pushes(tx, app, origin, 2)?;
    let is_first = first.first() == Some(&push.id);
    let is_experiment = matches!(origin, Origin::Experiment(_));
    if (is_first && first.len() > 1) || ((is_first || is_experiment) && still_exists(tx, app, origin)?) {
        return Ok(tomorrow);
    }
    Ok(if is_first { Fate::ForgottenWith(group) } else { Fate::Forgotten })
}

/// Whether the origin of the pushes still exists.
fn still_exists(tx: &mut Tx<'_>, app: AppId, origin: Origin) -> Result<bool> {
    let (kind, id) = match origin {
        Origin::Api | Origin::Template(_) => return Ok(false),
        Origin::Schedule(id) => (DocumentKind::Schedule, id.to_string()),
        Origin::Pipeline(id) => (DocumentKind::Pipeline, id.to_string()),
        Origin::Experiment(id) => (DocumentKind::Experiment, id.to_string()),
    };
    Ok(documents::exists(tx, app, kind, &id)?)
}
