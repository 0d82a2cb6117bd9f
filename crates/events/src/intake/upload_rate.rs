//! How often a channel may upload events. Channels are counted in a table of fixed size: there are too many of them for an
//! entry each.
//!
//! A channel has one cell in each of a few rows, shared with other channels, and has uploaded at most as often as its smallest
//! cell says. So no channel exceeds the limit, and a channel is held up by others only if it shares all of its cells with busy
//! ones.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use base::Growing;
use model::ids::{AppId, ChannelId};
use model::time::UtcMillis;
use parking_lot::Mutex;

use crate::Events;

/// Libraries are told to upload once a minute; urgent events come at once.
const MOST_PER_MINUTE: u8 = 60;
const MINUTE_MILLIS: i64 = 60_000;
const ROWS: usize = 4;
/// One megabyte in all.
const CELLS_PER_ROW: usize = 1 << 18;

pub(crate) struct UploadRate {
    minute: Mutex<Minute>,
    /// Random, so that nobody outside can know which channels share cells.
    hashes: RandomState,
}

struct Minute {
    number: i64,
    cells: Vec<u8>,
}

impl Events {
    /// Whether a channel may upload now; if not, when it may again. Every node counts for itself.
    pub fn admit_upload(&self, app: AppId, channel: ChannelId) -> Result<(), Duration> {
        self.0.upload_rate.admit(app, channel, self.0.clock.now())
    }

    /// Whether the devices of an app may upload some more events now.
    pub fn admit_events(&self, app: AppId, n_events: usize) -> base::Result<()> {
        let now = self.0.clock.now();
        self.0.growth.send(app, Growing::Uploads, 1, now)?;
        self.0.growth.send(app, Growing::Events, n_events as u64, now)
    }
}

impl Default for UploadRate {
    fn default() -> Self {
        let minute = Minute { number: 0, cells: vec![0; ROWS * CELLS_PER_ROW] };
        Self { minute: Mutex::new(minute), hashes: RandomState::new() }
    }
}

impl UploadRate {
    fn admit(&self, app: AppId, channel: ChannelId, now: UtcMillis) -> Result<(), Duration> {
        let cells = self.cells(app, channel);
        let mut minute = self.minute.lock();
        let number = now.0.div_euclid(MINUTE_MILLIS);
        if number != minute.number {
            minute.number = number;
            minute.cells.fill(0);
        }
        let n_uploads = cells.iter().map(|cell| minute.cells[*cell]).min().unwrap_or(0);
        if n_uploads >= MOST_PER_MINUTE {
            let left = MINUTE_MILLIS - now.0.rem_euclid(MINUTE_MILLIS);
            return Err(Duration::from_millis(left.unsigned_abs()));
        }
        for cell in cells {
            // A larger cell counts other channels as well.
            minute.cells[cell] = minute.cells[cell].max(n_uploads + 1);
        }
        Ok(())
    }

    fn cells(&self, app: AppId, channel: ChannelId) -> [usize; ROWS] {
        let hash = self.hashes.hash_one((app, channel));
        // Double hashing: two independent halves of one hash give a cell for every row.
        let [start, step] = [hash & u64::from(u32::MAX), (hash >> u32::BITS) | 1];
        let column = |row: usize| (start + step * row as u64) % CELLS_PER_ROW as u64;
        std::array::from_fn(|row| row * CELLS_PER_ROW + usize::try_from(column(row)).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn channel(n: u32) -> ChannelId {
        ChannelId::from_uuid(Uuid::from_u128(n.into()))
    }

    #[test]
    fn each_channel_has_its_own_limit_and_a_new_minute_is_a_new_start() {
        let (rate, app, start) = (UploadRate::default(), AppId(1), UtcMillis(1_714_564_805_250));
        let admitted = |app, n: u32, at| rate.admit(app, channel(n), at);
        for _ in 0..MOST_PER_MINUTE {
            assert_eq!(admitted(app, 1, start), Ok(()));
        }
        assert_eq!(admitted(app, 1, start), Err(Duration::from_millis(54_750)));
        assert_eq!((admitted(app, 2, start), admitted(AppId(2), 1, start)), (Ok(()), Ok(())));
        assert_eq!(admitted(app, 1, start.plus(Duration::from_millis(54_750))), Ok(()));
    }

    #[test]
    fn hundreds_of_thousands_of_channels_do_not_hold_each_other_up() {
        let (rate, now) = (UploadRate::default(), UtcMillis(0));
        for round in 0..4 {
            let n_refused = (0..300_000).filter(|n| rate.admit(AppId(1), channel(*n), now).is_err()).count();
            assert_eq!(n_refused, 0, "{round}");
        }
    }
}
