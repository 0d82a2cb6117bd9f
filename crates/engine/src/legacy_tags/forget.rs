//! Removes the number of a deleted tag from all its holders, a slice at a time.

use audience::plan::Plan;
use model::ids::{Offset, Ordinal, TermId};
use store::Tx;
use store::channels;
use store::jobs::{self, ClaimedJob};

use crate::change_context::ChangeContext;
use crate::worker::Stop;
use crate::{Engine, Result};

/// Channels in one transaction: few enough that others do not wait long for their turn.
const SLICE: usize = 500;

impl Engine {
    /// Running it twice is harmless: channels that no longer hold the number are skipped. The number lost its meaning in the
    /// transaction that deleted the tag, so it does not matter when this is done. Each slice also writes the events about the
    /// tags that its channels lose.
    pub(crate) async fn forget_tag(
        &self,
        claimed: &ClaimedJob,
        number: TermId,
        retired_at: Offset,
        stop: &Stop,
    ) -> Result<()> {
        let app = claimed.app;
        let index = self.index_at(app, retired_at).await?;
        let holders: Vec<Ordinal> = index.resolve(&Plan::Term(number)).iter().map(Ordinal).collect();
        for slice in holders.chunks(SLICE) {
            if stop.is_requested() {
                let (claimed, now) = (claimed.clone(), self.clock().now());
                self.0.store.write(app, move |tx| jobs::postpone(tx, &claimed, now)).await?;
                return Ok(());
            }
            let (index, slice, now) = (index.clone(), slice.to_vec(), self.clock().now());
            self.0
                .store
                .write(app, move |tx| {
                    let mut context = ChangeContext::new(app, &index, now);
                    for ordinal in &slice {
                        forget(tx, &mut context, *ordinal, number)?;
                    }
                    context.journal.write(tx, app)
                })
                .await?;
        }
        self.settle(claimed).await
    }
}

fn forget(tx: &mut Tx<'_>, context: &mut ChangeContext<'_>, ordinal: Ordinal, number: TermId) -> Result<()> {
    let Some(row) = channels::by_ordinal(tx, context.app, ordinal)?.filter(|row| row.installed) else { return Ok(()) };
    if let Some(user) = row.named_user.clone() {
        // Writing a user drops the numbers of deleted tags.
        context.change_user(tx, &user, |_| Ok(()))?;
    }
    if row.terms.binary_search(&number).is_ok() {
        let opened = context.open(tx, row)?;
        let same = opened.state.clone();
        context.save(tx, opened, same)?;
    }
    Ok(())
}
