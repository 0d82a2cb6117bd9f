//! Pushes that have been over for long are forgotten, unless something still shows them or waits for them.

use std::time::Duration;

use model::ids::AppId;
use model::origin::Origin;
use model::time::UtcMillis;
use store::documents::{self, DocumentKind};
use store::pushes::{self, Aged};
use store::{Tx, origins};

use super::{DAY, PORTIONS_PER_RUN};
use crate::{Engine, Result};

/// What is looked at and deleted by one transaction, during which nothing else of the app is written.
const PUSHES_AT_ONCE: u32 = 500;
const ROWS_AT_ONCE: u64 = 5_000;

impl Engine {
    /// Deletes pushes that are too old, and answers whether there are more. What is deleted is not found a second time, and what is still
    /// needed is not looked at again before a day has passed.
    pub(crate) async fn forget_old_pushes(&self, app: AppId) -> Result<bool> {
        let (now, age) = (self.0.clock.now(), self.0.retention.pushes);
        for _ in 0..PORTIONS_PER_RUN {
            if self.0.store.read(move |tx| pushes::aged(tx, app, now.minus(age), 1)).await?.is_empty() {
                return Ok(false);
            }
            self.0.store.write(app, move |tx| forget_some(tx, app, now, age)).await?;
        }
        Ok(true)
    }
}

fn forget_some(tx: &mut Tx<'_>, app: AppId, now: UtcMillis, age: Duration) -> Result<()> {
    let mut n_rows = 0;
    for push in pushes::aged(tx, app, now.minus(age), PUSHES_AT_ONCE)? {
        match needed_until(tx, app, &push, now, age)? {
            Some(until) => pushes::put_off(tx, app, push.id, until.minus(age))?,
            None => n_rows += pushes::forget(tx, app, push.id)?,
        }
        if n_rows >= ROWS_AT_ONCE {
            break;
        }
    }
    Ok(())
}

/// When to look at a push again, if it cannot be forgotten now.
fn needed_until(tx: &mut Tx<'_>, app: AppId, push: &Aged, now: UtcMillis, age: Duration) -> Result<Option<UtcMillis>> {
    let tomorrow = now.plus(DAY);
    // A node of an older version does not say when a push began to age.
    let old_enough = push.created.plus(age);
    if old_enough > now {
        return Ok(Some(old_enough));
    }
    // Who held a message that has ended is known for another day.
    if let Some(ends) = push.message_ends {
        return Ok(Some(ends.plus(DAY).max(tomorrow)));
    }
    let is_needed = !push.state.is_final() || push.lends_payload || is_needed_by_origin(tx, app, push)?;
    Ok(is_needed.then_some(tomorrow))
}

/// The results of an experiment are those of all its pushes. Of every group the first push outlives the others, because it says since when they
/// are counted, and stays as long as there can be more of them.
fn is_needed_by_origin(tx: &mut Tx<'_>, app: AppId, push: &Aged) -> Result<bool> {
    let Some(origin) = push.origin else { return Ok(false) };
    let (kind, id) = match origin {
        Origin::Api | Origin::Template(_) => return Ok(false),
        Origin::Schedule(id) => (DocumentKind::Schedule, id.to_string()),
        Origin::Pipeline(id) => (DocumentKind::Pipeline, id.to_string()),
        Origin::Experiment(id) => (DocumentKind::Experiment, id.to_string()),
    };
    let first = origins::first_pushes(tx, app, origin, 2)?;
    let is_first = first.first() == Some(&push.id);
    if is_first && first.len() > 1 {
        return Ok(true);
    }
    Ok((is_first || kind == DocumentKind::Experiment) && documents::exists(tx, app, kind, &id)?)
}
