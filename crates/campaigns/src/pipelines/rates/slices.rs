//! The slices that time is cut into for rates. They are of ten minutes while what was sent in them is new, and are put together to
//! wider ones as it gets old: however far a rate looks back, there are some hundred of them for each block of channels.
//!
//! A wider slice has the number of the first of those that it is made of, so that it also counts as sent at its beginning, and
//! nobody has to know how wide it is.

use audience::codec;
use base::Result;
use model::ids::{AppId, PipelineId};
use model::pipeline::{Rate, RateWindow};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::pipeline_sent::{self, SentKey};

use super::layers::Layers;

const MILLIS: i64 = 10 * 60 * 1000;
/// All of time.
pub(super) const EVER: i64 = -1;

/// The windows after which slices are put together, and how many of ten minutes become one: an hour, and half a day. A wider slice
/// is as a whole older than its window, so that rates which look no further back are as exact as before. Each width is a multiple
/// of the one before.
const WIDER: [(RateWindow, i64); 2] = [(RateWindow::Days(1), 6), (RateWindow::Days(7), 72)];

pub(super) fn slice(now: UtcMillis) -> i64 {
    now.0.div_euclid(MILLIS)
}

/// The slices that a rate looks back to, the first and the last.
pub(super) fn slices_within(within: RateWindow, now: UtcMillis) -> (i64, i64) {
    match within.duration() {
        // Strictly within: a message sent exactly so long ago does not count.
        Some(duration) => (slice(now.minus(duration)) + 1, slice(now)),
        None => (EVER, EVER),
    }
}

pub(super) fn is_endless(rate: &Rate) -> bool {
    rate.within.duration().is_none()
}

/// The first slice that any of the rates looks back to, but for those that look back to all of time.
pub(super) fn oldest_slice(rates: &[Rate], now: UtcMillis) -> Option<i64> {
    rates.iter().filter(|rate| !is_endless(rate)).map(|rate| slices_within(rate.within, now).0).min()
}

/// Cuts what rates look back to into portions, each with its first and its last slice: all of time, and then from the last sends to
/// the first. None has many more slices than a day has.
pub(super) fn portions(rates: &[Rate], now: UtcMillis) -> Vec<(i64, i64)> {
    let mut portions = Vec::new();
    if rates.iter().any(is_endless) {
        portions.push((EVER, EVER));
    }
    let Some(oldest) = oldest_slice(rates, now) else { return portions };
    let mut last = slice(now);
    for bound in WIDER.iter().map(|(window, _)| slices_within(*window, now).0).chain([oldest]) {
        let first = bound.max(oldest);
        if first <= last {
            portions.push((first, last));
            last = first - 1;
        }
    }
    portions
}

pub(super) fn decode(members: &[u8]) -> store::Result<RoaringBitmap> {
    codec::decode(members).map_err(|error| store::Error::corrupt(error.to_string()))
}

/// Puts slices of a block together that have become old, from `oldest` on, the first that is looked back to: for each width no more
/// than one wider slice. That is enough when it is done whenever a slice begins, since no more of them get old than begin; and a
/// transaction that sends does little of it.
pub(super) fn put_together(
    tx: &mut Tx<'_>,
    app: AppId,
    (pipeline, block): (PipelineId, u16),
    oldest: i64,
    now: UtcMillis,
) -> Result<()> {
    let mut done = oldest;
    for (window, width) in WIDER.into_iter().rev() {
        let old = slices_within(window, now).0;
        // Of a wider slice that would begin before the oldest one, what is left is soon forgotten.
        let (from, until) = (done + (-done).rem_euclid(width), old - old.rem_euclid(width));
        if from < until
            && let Some(part) = pipeline_sent::first_between(tx, app, (pipeline, block), (from, until), width)?
        {
            let first = part - part.rem_euclid(width);
            join(tx, app, (pipeline, block), (first, first + width))?;
        }
        done = done.max(until);
    }
    Ok(())
}

/// Makes one slice of those from one to another, the last one not included.
fn join(tx: &mut Tx<'_>, app: AppId, (pipeline, block): (PipelineId, u16), (first, end): (i64, i64)) -> Result<()> {
    let mut layers = Layers::default();
    pipeline_sent::visit(tx, app, pipeline, (first, end - 1), block, |_, sent| {
        layers.add(decode(sent)?, usize::MAX);
        Ok(())
    })?;
    pipeline_sent::forget_in_block(tx, app, pipeline, block, (first, end))?;
    for (layer, members) in (0..).zip(layers.into_sets()) {
        let key = SentKey { pipeline, slice: first, layer, block };
        pipeline_sent::put(tx, app, &key, codec::encode(&members))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: UtcMillis = UtcMillis(1_714_564_800_000);
    const DAY: i64 = 24 * 6;

    fn rate(within: RateWindow) -> Rate {
        Rate { pushes: 1, within }
    }

    #[test]
    fn a_day_later_is_not_within_a_day() {
        let within = |later: i64| {
            let (first, last) = slices_within(RateWindow::Days(1), UtcMillis(NOON.0 + later));
            (first..=last).contains(&slice(NOON))
        };
        let day = DAY * MILLIS;
        assert!(within(0) && within(day - 1));
        assert!(!within(day));
    }

    #[test]
    fn portions_are_what_rates_look_back_to() {
        let last = slice(NOON);
        let portions = |windows: &[RateWindow]| portions(&windows.iter().copied().map(rate).collect::<Vec<_>>(), NOON);
        assert!(portions(&[]).is_empty());
        assert_eq!(portions(&[RateWindow::Lifetime]), [(EVER, EVER)]);
        assert_eq!(portions(&[RateWindow::Hours(2)]), [(last - 11, last)]);
        assert_eq!(portions(&[RateWindow::Days(1)]), [(last - DAY + 1, last)]);
        assert_eq!(
            portions(&[RateWindow::Hours(2), RateWindow::Lifetime, RateWindow::Days(30)]),
            [
                (EVER, EVER),
                (last - DAY + 1, last),
                (last - 7 * DAY + 1, last - DAY),
                (last - 30 * DAY + 1, last - 7 * DAY)
            ]
        );
    }
}
