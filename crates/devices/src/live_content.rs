//! Content that lives on the screens of devices: what they tell of Live Activities and Live Updates.

use std::time::Duration;

use base::Result;
use boxed::boxed;
use model::channel::{LiveChange, LiveKind, LiveState};
use model::ids::{AppId, Ordinal};
use model::limits;
use store::{Tx, live_tokens};

use crate::Devices;
use crate::change_context::ChangeContext;

/// iOS ends a Live Activity after eight hours, and takes it from the lock screen after four more.
const ACTIVITY_LASTS: Duration = Duration::from_secs(12 * 60 * 60);
/// Libraries tell a token for starting again after two days, and nothing stays on a screen for months.
const KEPT_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);
const PORTION: u32 = 1000;

#[boxed]
impl Devices {
    /// Deletes what is surely not on a screen any more.
    pub async fn forget_old_live_content(&self, app: AppId) -> Result<()> {
        let now = self.0.clock.now();
        for (kind, kept) in
            [(LiveKind::Activity, ACTIVITY_LASTS), (LiveKind::Start, KEPT_FOR), (LiveKind::Update, KEPT_FOR)]
        {
            let oldest = now.minus(kept);
            let forget = move |tx: &mut Tx<'_>| live_tokens::forget_before(tx, app, kind, oldest, PORTION);
            while self.0.store.write(app, forget).await? == u64::from(PORTION) {}
        }
        Ok(())
    }
}

impl ChangeContext<'_> {
    /// A change that arrives late does not undo a later one. Those of a channel that has too many take the place of the oldest.
    pub(crate) fn change_live_content(&self, tx: &mut Tx<'_>, channel: Ordinal, changes: &[LiveChange]) -> Result<()> {
        for change in changes {
            let is_effective = match live_tokens::get(tx, self.app, &change.key, channel)? {
                Some(known) if known.changed > change.at => false,
                // An activity that ends may be an earlier one of the same name.
                Some(known) => change.state != LiveState::Off || known.activity == change.activity,
                None => {
                    live_tokens::make_room(tx, self.app, channel, limits::LIVE_PER_CHANNEL)?;
                    true
                }
            };
            if is_effective {
                live_tokens::put(tx, self.app, channel, change, self.journal.now())?;
            }
        }
        Ok(())
    }
}
