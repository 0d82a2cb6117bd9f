//! The window against a webhook that fails at random and a process that is killed at random.

use std::collections::{HashMap, HashSet};

use model::ids::Offset;
use uuid::Uuid;

use super::*;

mod batches;

const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);
const NO: FailedAttempt<'static> = FailedAttempt { reason: "No.", pause: None, is_busy: false, is_refusal: false };
const STILL_NO: FailedAttempt<'static> = FailedAttempt { reason: "Still no.", ..NO };
const REFUSED: FailedAttempt<'static> = FailedAttempt { is_refusal: true, ..NO };

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
    assert_eq!(window.take_in(page, looked, 0), 0);
}

fn fresh(log: &[PublicEvent]) -> Window {
    let mut window = Window::new(EventOffset::START, &WebhookCursor::default(), None);
    read_more(&mut window, log);
    window
}

#[test]
fn whatever_fails_and_whoever_dies_channels_keep_their_order_and_nothing_is_lost() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let batch_size = [1, 1, 2, 7, 500][usize::try_from(seed % 5).unwrap()];
        let log: Vec<_> =
            (0..6000).map(|n| event(n, u32::try_from(dice.below(60)).ok().filter(|ordinal| *ordinal > 0))).collect();
        let last = log.last().unwrap().offset;
        let mut window = fresh(&log);
        let mut saved = (window.done(), window.cursor());
        let (mut flying, mut now) = (Vec::new(), UtcMillis(0));
        let (mut seen, mut channels) = (HashSet::new(), HashMap::<_, Vec<EventOffset>>::new());
        while window.done() < last {
            now = now.plus(Duration::from_millis(50));
            read_more(&mut window, &log);
            while flying.len() < 16
                && let Some(batch) = window.next_batch(batch_size, now)
            {
                flying.push(batch);
            }
            for _ in 0..dice.below(12) {
                if flying.is_empty() {
                    break;
                }
                let at = usize::try_from(dice.below(flying.len() as u64)).unwrap();
                let batch = flying.swap_remove(at);
                if dice.below(100) < 20 {
                    let setback = if dice.below(2) == 0 { NO } else { REFUSED };
                    assert!(window.batch_failed(batch, setback, LIMIT, now).1.is_none());
                    continue;
                }
                for taken in window.batch_taken(batch, now) {
                    if seen.insert(taken.event) {
                        let place = usize::try_from(taken.offset.record().0).unwrap() - 1;
                        channels.entry(log[place].ordinal).or_default().push(taken.offset);
                    }
                }
            }
            assert!(window.held.len() <= WIDTH);
            match dice.below(100) {
                0 => {
                    let bytes = saved.1.to_bytes().unwrap();
                    window = Window::new(saved.0, &WebhookCursor::from_stored(Some(&bytes)).unwrap(), None);
                    flying.clear();
                }
                1..10 => saved = (window.done(), window.cursor()),
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
    let numbers: Vec<usize> = std::iter::from_fn(|| window.next(now)).map(|outgoing| outgoing.number).collect();
    window.failed(numbers[3], NO, LIMIT, now);
    for number in numbers[..3].iter().chain(&numbers[5..9]) {
        window.taken(*number, now);
    }
    let (done, cursor) = (window.done(), window.cursor());
    assert_eq!(done.number(), log[3].offset.number() - 1);
    let mut window = Window::new(done, &cursor, None);
    read_more(&mut window, &log);
    assert_eq!(window.read().number(), log[9].offset.number() - 1, "what was delivered is not read again");
    read_more(&mut window, &log);
    let again: Vec<Bytes> = std::iter::from_fn(|| window.next(now)).map(|outgoing| outgoing.json).collect();
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
    assert!(window.failed(bad, NO, LIMIT, now).1.is_none());
    now = now.plus(2 * LIMIT);
    assert_eq!(window.next(now).unwrap().number, bad);
    assert!(window.failed(bad, NO, LIMIT, now).1.is_none(), "nothing is taken at all");
    let good = window.next(now).unwrap().number;
    window.taken(good, now);
    now = now.plus(Duration::from_secs(10));
    assert_eq!(window.next(now).unwrap().number, bad);
    let letter = window.failed(bad, STILL_NO, LIMIT, now).1.unwrap();
    assert_eq!((letter.attempts, letter.reason.as_str(), &letter.body[..]), (3, "Still no.", &b"0"[..]));
    assert_eq!(window.done().number(), log[2].offset.number() - 1, "the log goes on without it");
}

/// Sends all events that can be sent, and returns the refused ones.
fn send_all(window: &mut Window, is_bad: impl Fn(&PublicEvent) -> bool, now: UtcMillis) -> Vec<DeadLetter> {
    let mut letters = window.make_room(now);
    while let Some(outgoing) = window.next(now) {
        if is_bad(&window.held.at(outgoing.number).event) {
            letters.extend(window.failed(outgoing.number, NO, LIMIT, now).1);
        } else {
            window.taken(outgoing.number, now);
        }
        letters.extend(window.make_room(now));
    }
    letters
}

#[test]
fn one_event_that_is_refused_holds_up_nobody_else_and_costs_next_to_nothing() {
    let log: Vec<_> = (0..20_000).map(|n| event(n, Some(n % 5_000))).collect();
    let (mut window, mut now) = (fresh(&log), UtcMillis(0));
    let is_bad = |event: &PublicEvent| event.offset == log[7].offset;
    while window.read() < log[19_999].offset {
        now = now.plus(Duration::from_millis(100));
        assert!(send_all(&mut window, is_bad, now).is_empty());
        read_more(&mut window, &log);
    }
    assert!(send_all(&mut window, is_bad, now).is_empty());
    assert_eq!(window.len(), 4, "the event, and those of its channel behind it");
    assert_eq!(window.done().number(), log[7].offset.number() - 1);
    let cursor = window.cursor().to_bytes().unwrap();
    assert!(cursor.len() < 60, "{} bytes", cursor.len());

    let mut window = Window::new(window.done(), &WebhookCursor::from_stored(Some(&cursor)).unwrap(), None);
    now = now.plus(Duration::from_secs(300));
    let mut again = Vec::new();
    while again.len() < 4 {
        read_more(&mut window, &log);
        while let Some(outgoing) = window.next(now) {
            again.push(window.taken(outgoing.number, now).offset);
        }
    }
    assert_eq!(again, [7, 5_007, 10_007, 15_007].map(|n| log[n].offset), "and nothing else is even read");
    assert_eq!(window.done(), log[19_999].offset);
}

#[test]
fn a_channel_that_takes_all_the_room_is_given_up_in_its_order_and_the_others_go_on() {
    // Every other event is of a channel of which none is taken.
    let log: Vec<_> = (0..30_000).map(|n| event(n, Some(if n % 2 == 0 { 0 } else { n }))).collect();
    let (mut window, mut now) = (fresh(&log), UtcMillis(0));
    let is_bad = |event: &PublicEvent| event.ordinal == Some(Ordinal(0));
    let mut dead = Vec::new();
    while window.read() < log[29_999].offset {
        now = now.plus(Duration::from_secs(1));
        dead.extend(send_all(&mut window, is_bad, now));
        read_more(&mut window, &log);
        assert!(window.held.len() <= WIDTH);
        assert!(now < UtcMillis(10 * 60 * 1000), "the others wait");
    }
    let n_waiting = window.len();
    assert!((1..=WIDTH).contains(&n_waiting) && dead.len() >= 15_000 - WIDTH, "{n_waiting} and {} dead", dead.len());
    assert!(dead.is_sorted_by_key(|letter| letter.offset));
    assert!(dead[0].attempts >= 3 && dead[0].reason.starts_with("No; given up early"), "{:?}", dead[0]);
    let unsent = dead.iter().find(|letter| letter.attempts == 0).unwrap();
    assert!(unsent.reason.contains("was not sent"), "{}", unsent.reason);
}

#[test]
fn nothing_is_given_up_for_want_of_room_while_the_webhook_is_away() {
    let log: Vec<_> = (0..10_000).map(|n| event(n, Some(n % 10))).collect();
    let (mut window, mut now) = (fresh(&log), UtcMillis(0));
    for _ in 0..100 {
        now = now.plus(Duration::from_secs(60));
        assert!(send_all(&mut window, |_| true, now).is_empty());
        read_more(&mut window, &log);
    }
    assert!(window.is_away() && window.len() <= WIDTH);
}

#[test]
fn only_the_time_of_an_outage_is_not_held_against_an_event() {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    let log: Vec<_> = (0..40).map(|n| event(n, Some(n))).collect();
    let (mut window, mut now) = (fresh(&log), UtcMillis(0));
    let bad = window.next(now).unwrap().number;
    window.failed(bad, NO, LIMIT, now);
    now = now.plus(20 * HOUR);
    let numbers: Vec<usize> = std::iter::from_fn(|| window.next(now)).map(|outgoing| outgoing.number).take(8).collect();
    window.taken(numbers[1], now);
    for number in &numbers[2..] {
        window.failed(*number, NO, LIMIT, now);
    }
    window.failed(bad, NO, LIMIT, now);
    assert!(window.is_away());
    now = now.plus(30 * HOUR);
    let probe = window.next(now).unwrap().number;
    window.taken(probe, now);
    let since = |window: &Window, number: usize| window.held.at(number).trouble.unwrap().since;
    assert_eq!(since(&window, bad), now.minus(20 * HOUR), "it had been refused for 20 hours before");
    assert_eq!(since(&window, numbers[2]), now);
}

#[test]
fn a_webhook_with_a_single_queue_is_not_stuck_with_what_it_refuses() {
    let log: Vec<_> = (0..6_000).map(|n| event(n, None)).collect();
    let (mut window, mut now) = (fresh(&log), UtcMillis(0));
    let letters = loop {
        let letters = window.make_room(now);
        if !letters.is_empty() {
            break letters;
        }
        if let Some(outgoing) = window.next(now) {
            assert!(window.failed(outgoing.number, REFUSED, LIMIT, now).1.is_none());
        }
        read_more(&mut window, &log);
        now = now.plus(Duration::from_secs(5));
        assert!(now < UtcMillis(60_000), "it says itself that it is about the event");
    };
    let next = window.next(now).unwrap().number;
    assert_eq!(window.taken(next, now).offset, log[letters.len()].offset);
    let bad = window.next(now).unwrap().number;
    assert!(window.failed(bad, REFUSED, LIMIT, now).1.is_none());
    now = now.plus(LIMIT);
    let bad = window.next(now).unwrap().number;
    assert!(window.failed(bad, REFUSED, LIMIT, now).1.is_some(), "nor does it have longer than others");
}

/// Events of ten channels fail, and then there are others.
fn ten_bad_ones(setback: FailedAttempt<'_>) -> (Window, Vec<PublicEvent>) {
    let log: Vec<_> = (0..50).map(|n| event(n, Some(n))).collect();
    let mut window = fresh(&log[..10]);
    let flying: Vec<OutgoingEvent> = std::iter::from_fn(|| window.next(UtcMillis(0))).collect();
    for outgoing in flying {
        assert!(window.failed(outgoing.number, setback, LIMIT, UtcMillis(0)).1.is_none());
    }
    (window, log)
}

#[test]
fn however_many_events_are_refused_those_of_other_channels_are_sent_at_once() {
    let (mut window, log) = ten_bad_ones(REFUSED);
    assert!(!window.is_away() && window.len() == 10);
    read_more(&mut window, &log);
    assert!(send_all(&mut window, |event| event.offset <= log[9].offset, UtcMillis(0)).is_empty());
    assert_eq!((window.len(), window.read()), (10, log[49].offset));
}

#[test]
fn a_webhook_that_seems_to_be_away_is_tried_with_what_came_later() {
    let (mut window, log) = ten_bad_ones(NO);
    assert!(window.is_away());
    read_more(&mut window, &log);
    let now = window.next_due().unwrap();
    assert!(send_all(&mut window, |event| event.offset <= log[9].offset, now).is_empty());
    assert_eq!((window.is_away(), window.len(), window.read()), (false, 10, log[49].offset));
}

#[test]
fn what_is_known_to_fail_does_not_speak_for_the_webhook() {
    let (mut window, log) = ten_bad_ones(NO);
    let is_bad = |event: &PublicEvent| event.offset <= log[9].offset;
    let mut now = UtcMillis(0);
    for (n, next) in log[10..].iter().enumerate() {
        now = now.plus(Duration::from_secs(600));
        assert!(send_all(&mut window, is_bad, now).is_empty());
        assert!(n < 3 || !window.is_away(), "something was taken after all of them had failed");
        assert_eq!(window.take_in(vec![next.clone()], next.offset, 0), 0);
        now = now.plus(Duration::from_secs(5));
        assert!(send_all(&mut window, is_bad, now).is_empty());
        assert_eq!((window.len(), window.done().number()), (10, log[0].offset.number() - 1), "{n}");
    }
    let pauses: Vec<i64> = window.waiting.iter().map(|(retry_at, _)| retry_at.0 - now.0).collect();
    assert!(pauses.iter().any(|pause| *pause > 60_000), "nor is it tried more often for what others are: {pauses:?}");
}

#[test]
fn a_webhook_that_refuses_an_event_is_not_away() {
    let (mut window, log) = ten_bad_ones(NO);
    read_more(&mut window, &log);
    let now = UtcMillis(0).plus(2 * LIMIT);
    let probe = window.next(now).unwrap().number;
    assert!(window.next(now).is_none());
    assert!(window.failed(probe, REFUSED, LIMIT, now).1.is_none());
    assert!(!window.is_away());
    let since: Vec<_> = window.held.iter().filter_map(|held| held.trouble).map(|trouble| trouble.since).collect();
    assert_eq!(since, [now; 11], "the outage is not held against them");
    // Events that failed before count once more.
    for _ in 0..5 {
        let outgoing = window.next(now).unwrap();
        assert!(window.failed(outgoing.number, NO, LIMIT, now).1.is_none());
    }
    assert!(window.is_away());
}

#[test]
fn an_outage_does_not_help_what_was_refused_before_it() {
    let log: Vec<_> = (0..1000).map(|n| event(n, Some(n))).collect();
    let (mut window, mut now) = (fresh(&log), UtcMillis(0));
    let bad = window.next(now).unwrap().number;
    window.failed(bad, REFUSED, LIMIT, now);
    let trouble = window.held.at(bad).trouble;
    for _ in 0..5 {
        let outgoing = window.next(now).unwrap();
        window.failed(outgoing.number, NO, LIMIT, now);
    }
    assert!(window.is_away());
    now = now.plus(LIMIT);
    let probe = window.next(now).unwrap().number;
    window.taken(probe, now);
    assert_eq!(window.held.at(bad).trouble, trouble);
    let retried: Vec<usize> = std::iter::from_fn(|| window.next(now)).map(|outgoing| outgoing.number).take(6).collect();
    assert!(retried.contains(&bad));
    for number in retried {
        let setback = if number == bad { REFUSED } else { NO };
        assert_eq!(window.failed(number, setback, LIMIT, now).1.is_some(), number == bad);
    }
}

#[test]
fn a_webhook_that_is_busy_gets_nothing_until_it_wants_to() {
    let log: Vec<_> = (0..10).map(|n| event(n, Some(n))).collect();
    let (mut window, now) = (fresh(&log), UtcMillis(0));
    let (first, second) = (window.next(now).unwrap().number, window.next(now).unwrap().number);
    let pause = Duration::from_secs(60);
    window.failed(first, FailedAttempt { pause: Some(pause), is_busy: true, ..NO }, LIMIT, now);
    window.taken(second, now);
    assert_eq!((window.next(now).is_none(), window.next_due()), (true, Some(now.plus(pause))));
    assert!(send_all(&mut window, |_| false, now.plus(pause)).is_empty());
    assert_eq!(window.len(), 0);
}
