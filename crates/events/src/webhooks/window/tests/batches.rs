//! Several events in one request.

use super::*;

fn texts(batch: &Batch) -> Vec<&str> {
    batch.events.iter().map(|json| std::str::from_utf8(json).unwrap()).collect()
}

#[test]
fn a_channel_is_in_order_within_a_request_and_between_requests() {
    let log = [(0, 1), (1, 1), (2, 2), (3, 1), (4, 2)].map(|(n, channel)| event(n, Some(channel)));
    let (mut window, now) = (fresh(&log), UtcMillis(0));
    let batch = window.next_batch(4, now).unwrap();
    assert_eq!(texts(&batch), ["0", "1", "3", "2"]);
    assert!(window.next_batch(4, now).is_none(), "what is left waits for its channel");
    assert_eq!(window.batch_taken(batch, now).len(), 4);
    assert_eq!(texts(&window.next_batch(4, now).unwrap()), ["4"]);
}

#[test]
fn a_bad_event_is_found_in_few_requests_and_keeps_nobody_else() {
    let bad = "77";
    // All of one channel, and each of its own.
    for channel in [|_| None, |n: u32| Some(n)] {
        let log: Vec<_> = (0..200).map(|n| event(n, channel(n))).collect();
        let (mut window, now) = (fresh(&log), UtcMillis(0));
        let (mut n_requests, mut n_taken) = (0, 0);
        while let Some(batch) = window.next_batch(100, now) {
            n_requests += 1;
            if texts(&batch).contains(&bad) {
                assert!(window.batch_failed(batch, REFUSED, LIMIT, now).1.is_none());
            } else {
                n_taken += window.batch_taken(batch, now).len();
            }
        }
        // Behind it in its channel, events wait.
        assert_eq!(n_taken, if channel(0).is_none() { 77 } else { 199 });
        assert!(n_requests < 20, "{n_requests}");
        let later = now.plus(Duration::from_secs(60));
        assert_eq!(texts(&window.next_batch(100, later).unwrap()), [bad], "it is tried again, alone");
    }
}

#[test]
fn a_webhook_that_takes_no_batch_is_away_after_a_few() {
    let log: Vec<_> = (0..3000).map(|n| event(n, Some(n))).collect();
    let (mut window, now) = (fresh(&log), UtcMillis(0));
    let mut n_requests = 0;
    while !window.is_away() {
        let batch = window.next_batch(100, now).unwrap();
        assert!(window.batch_failed(batch, NO, LIMIT, now).1.is_none());
        n_requests += 1;
    }
    assert!(n_requests <= 10, "{n_requests}");
    let later = now.plus(LIMIT);
    let probe = window.next_batch(100, later).unwrap();
    assert_eq!((probe.events.len(), window.n_flying()), (1, 1), "one event shows whether it is back");
    window.batch_taken(probe, later);
    assert!(!window.is_away());
    assert!(window.next_batch(100, later).is_some());
}
