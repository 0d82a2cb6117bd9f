//! Taking the number of a deleted tag from all who still hold it, a slice at a time.

use audience::plan::Plan;
use model::ids::{Offset, Ordinal, TermId};
use store::Tx;
use store::channels;
use store::jobs::{self, ClaimedJob};

use crate::desk::Desk;
use crate::worker::Stop;
use crate::{Engine, Result};

/// Channels in one transaction: few enough that others do not wait long for their turn.
const SLICE: usize = 500;

impl Engine {
    /// Running it twice is harmless: whoever does not hold the number any more is passed over. The number means nothing since
    /// the transaction that deleted the tag, so that it does not matter when this gets done; each slice also tells of the
    /// tags that its channels lost.
    pub(crate) async fn forget_tag(
        &self,
        claimed: &ClaimedJob,
        number: TermId,
        told_at: Offset,
        stop: &Stop,
    ) -> Result<()> {
        let app = claimed.app;
        let index = self.index_at(app, told_at).await?;
        let holders: Vec<Ordinal> = index.resolve(&Plan::Term(number)).iter().map(Ordinal).collect();
        for slice in holders.chunks(SLICE) {
            if stop.is_requested() {
                let (claimed, now) = (claimed.clone(), self.clock().now());
                self.0.store.write(app, move |tx| jobs::postpone(tx, &claimed, now).map(drop)).await?;
                return Ok(());
            }
            let (index, slice, now) = (index.clone(), slice.to_vec(), self.clock().now());
            self.0
                .store
                .write(app, move |tx| {
                    let mut desk = Desk::new(app, &index, now);
                    for ordinal in &slice {
                        forget(tx, &mut desk, *ordinal, number)?;
                    }
                    desk.journal.write(tx, app)
                })
                .await?;
        }
        self.settle(claimed).await
    }
}

fn forget(tx: &mut Tx<'_>, desk: &mut Desk<'_>, ordinal: Ordinal, number: TermId) -> Result<()> {
    let Some(row) = channels::by_ordinal(tx, desk.app, ordinal)?.filter(|row| row.installed) else { return Ok(()) };
    if let Some(user) = row.named_user.clone() {
        // Writing a user drops what means nothing.
        desk.change_user(tx, &user, |_| {})?;
    }
    if row.terms.binary_search(&number).is_ok() {
        let opened = desk.open(tx, row)?;
        let same = opened.state.clone();
        desk.save(tx, opened, &same)?;
    }
    Ok(())
}
