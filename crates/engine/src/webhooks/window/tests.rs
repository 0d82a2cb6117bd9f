//! The window against a webhook that fails at random and a process that is killed at random.

use std::collections::{HashMap, HashSet};

use model::event::RecordKind;
use model::ids::{EventId, Offset};
use uuid::Uuid;

use super::*;

const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn event(n: u32, ordinal: Option<u32>) -> PublicEvent {
    PublicEvent {
        offset: EventOffset::new(Offset(i64::from(n) + 1), 0),
        kind: RecordKind::Custom,
        id: EventId::from_uuid(Uuid::from_u128(u128::from(n) << 100)),
        channel: None,
        ordinal: ordinal.map(Ordinal),
        json: Bytes::from(n.to_string()),
    }
}

fn read_more(window: &mut Window, log: &[PublicEvent]) {
    let wanted = window.wanted();
    if wanted == 0 {
        return;
    }
    let unread = log.iter().filter(|event| event.offset > window.read());
    let page: Vec<PublicEvent> = unread.take(wanted).cloned().collect();
    let looked = page.last().map_or(window.read(), |event| event.offset);
    window.take_in(page, looked);
}

fn fresh(log: &[PublicEvent]) -> Window {
    let mut window = Window::new(EventOffset::START, &Progress::default(), None);
    read_more(&mut window, log);
    window
}

#[test]
fn whatever_fails_and_whoever_dies_channels_keep_their_order_and_nothing_is_lost() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let log: Vec<_> =
            (0..3000).map(|n| event(n, u32::try_from(dice.below(60)).ok().filter(|ordinal| *ordinal > 0))).collect();
        let last = log.last().unwrap().offset;
        let mut window = fresh(&log);
        let mut saved = (window.done(), window.progress());
        let (mut flying, mut now) = (Vec::new(), UtcMillis(0));
        let (mut seen, mut channels) = (HashSet::new(), HashMap::<_, Vec<EventOffset>>::new());
        while window.done() < last {
            now = now.plus(Duration::from_millis(50));
            read_more(&mut window, &log);
            while flying.len() < 16
                && let Some(parcel) = window.next(now)
            {
                flying.push(parcel.number);
            }
            for _ in 0..dice.below(12) {
                if flying.is_empty() {
                    break;
                }
                let at = usize::try_from(dice.below(flying.len() as u64)).unwrap();
                let number = flying.swap_remove(at);
                if dice.below(100) < 20 {
                    assert!(window.failed(number, "no", None, LIMIT, now).1.is_none());
                    continue;
                }
                let taken = window.taken(number, now).event;
                if seen.insert(taken.id) {
                    channels.entry(taken.ordinal).or_default().push(taken.offset);
                }
            }
            assert!(window.slots.len() <= WIDTH);
            match dice.below(100) {
                0 => {
                    let bytes = saved.1.to_bytes().unwrap();
                    window = Window::new(saved.0, &Progress::from_bytes(&bytes).unwrap(), None);
                    flying.clear();
                }
                1..10 => saved = (window.done(), window.progress()),
                _ => {}
            }
        }
        assert_eq!(seen.len(), log.len());
        assert!(channels.values().all(|offsets| offsets.is_sorted()), "seed {seed}");
    }
}

#[test]
fn a_crash_repeats_only_what_was_not_remembered() {
    let log: Vec<_> = (0..10).map(|n| event(n, Some(n))).collect();
    let (mut window, now) = (fresh(&log), UtcMillis(0));
    let numbers: Vec<u64> = std::iter::from_fn(|| window.next(now)).map(|parcel| parcel.number).collect();
    window.failed(numbers[3], "no", None, LIMIT, now);
    for number in numbers[..3].iter().chain(&numbers[5..9]) {
        window.taken(*number, now);
    }
    let (done, progress) = (window.done(), window.progress());
    assert_eq!(done.number(), log[3].offset.number() - 1);
    let mut window = Window::new(done, &progress, None);
    read_more(&mut window, &log);
    let again: Vec<Bytes> = std::iter::from_fn(|| window.next(now)).map(|parcel| parcel.json).collect();
    assert_eq!(again, ["4", "9"], "the third waits until it is due");
    let later = now.plus(Duration::from_secs(1));
    assert_eq!(window.next(later).unwrap().json, "3");
}

#[test]
fn an_event_is_given_up_only_while_others_are_taken() {
    let log: Vec<_> = (0..4).map(|n| event(n, Some(n))).collect();
    let mut window = fresh(&log);
    let mut now = UtcMillis(0);
    let bad = window.next(now).unwrap().number;
    assert!(window.failed(bad, "no", None, LIMIT, now).1.is_none());
    now = now.plus(2 * LIMIT);
    assert_eq!(window.next(now).unwrap().number, bad);
    assert!(window.failed(bad, "no", None, LIMIT, now).1.is_none(), "nothing is taken at all");
    let good = window.next(now).unwrap().number;
    window.taken(good, now);
    now = now.plus(Duration::from_secs(10));
    assert_eq!(window.next(now).unwrap().number, bad);
    let letter = window.failed(bad, "still no", None, LIMIT, now).1.unwrap();
    assert_eq!((letter.attempts, letter.reason.as_str(), &letter.body[..]), (3, "still no", &b"0"[..]));
    assert_eq!(window.done().number(), log[2].offset.number() - 1, "the log goes on without it");
}
