//! Removes the number of a deleted tag from all its holders, a slice at a time.

use audience::plan::Plan;
use base::Result;
use jobs::{ClaimedJob, Job, Stop};
use model::ids::{Offset, Ordinal, TermId};
use serde::{Deserialize, Serialize};
use store::Tx;
use store::channels;

use crate::Devices;
use crate::change_context::ChangeContext;

/// Channels in one transaction: few enough that others do not wait long for their turn.
const SLICE: usize = 500;

/// Removes the number of a deleted tag from its holders.
#[derive(Serialize, Deserialize)]
pub(crate) struct ForgetTag {
    pub(super) number: TermId,
    pub(super) retired_at: Offset,
}

impl Job for ForgetTag {
    type Room = Devices;
    const NAME: &'static str = "forget_tag";

    /// Running it twice is harmless: channels that no longer hold the number are skipped. The number lost its meaning in the
    /// transaction that deleted the tag, so it does not matter when this is done. Each slice also writes the events about the
    /// tags that its channels lose.
    async fn run(self, devices: &Devices, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        let (app, store, number) = (claimed.app, &devices.0.store, self.number);
        let index = devices.0.index.at(app, self.retired_at).await?;
        let holders: Vec<Ordinal> = index.resolve(&Plan::Term(number)).iter().map(Ordinal).collect();
        for slice in holders.chunks(SLICE) {
            let now = devices.0.clock.now();
            if stop.is_requested() {
                let claimed = claimed.clone();
                store.write(app, move |tx| jobs::postpone(tx, &claimed, now)).await?;
                return Ok(());
            }
            let (index, slice) = (index.clone(), slice.to_vec());
            let write = move |tx: &mut Tx<'_>| {
                let mut context = ChangeContext::new(app, &index, now);
                for ordinal in &slice {
                    forget(tx, &mut context, *ordinal, number)?;
                }
                context.journal.write(tx, app)
            };
            store.write(app, write).await?;
        }
        jobs::settle_alone(store, claimed).await
    }
}

fn forget(tx: &mut Tx<'_>, context: &mut ChangeContext<'_>, ordinal: Ordinal, number: TermId) -> Result<()> {
    let Some(row) = channels::by_ordinal(tx, context.app, ordinal)?.filter(|row| row.installed) else { return Ok(()) };
    if let Some(user) = row.named_user.clone() {
        // Writing a user drops the numbers of deleted tags.
        context.change_user(tx, &user, |_| {})?;
    }
    if row.terms.binary_search(&number).is_ok() {
        let opened = context.open(tx, row)?;
        let same = opened.state.clone();
        context.save(tx, opened, same)?;
    }
    Ok(())
}
