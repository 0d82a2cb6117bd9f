//! The meaning of answers.

use super::*;

const NOW: UtcMillis = UtcMillis(1000);

fn doubtful(gone: bool) -> Outcome {
    Outcome::Doubtful { reason: "BadDeviceToken".to_owned(), gone }
}

fn tally(n_served: u32, n_doubtful: u32) -> OutcomeTally {
    let mut tally = OutcomeTally::default();
    for n in 0..n_served {
        tally.delivered(Ordinal(n));
    }
    for n in 0..n_doubtful {
        tally.file(&[Ordinal(1000 + n)], doubtful(true), NOW);
    }
    tally
}

#[test]
fn doubtful_devices_are_gone_only_while_most_others_are_served() {
    let (outcomes, refusal) = tally(20, 20).close(Trust::Unknown, More::Ends);
    assert_eq!((outcomes.gone.len(), refusal), (20, None));

    let (outcomes, refusal) = tally(19, 20).close(Trust::Unknown, More::Ends);
    assert_eq!((outcomes.gone.len(), outcomes.failed.len()), (0, 0), "they stay pending");
    assert_eq!(outcomes.delivered.len(), 19, "what was served stays served");
    assert_eq!(refusal.as_deref(), Some("BadDeviceToken"));
    assert_eq!(outcomes.settled().len(), 19);
}

#[test]
fn a_few_doubtful_devices_are_judged_by_what_was_before() {
    let (outcomes, refusal) = tally(0, 9).close(Trust::Earned, More::Ends);
    assert_eq!((outcomes.gone.len(), refusal), (9, None));
    let (outcomes, refusal) = tally(0, 9).close(Trust::Unknown, More::Ends);
    assert_eq!(
        (outcomes.gone.len(), outcomes.failed.len(), refusal),
        (0, 9, None),
        "nobody is uninstalled on suspicion"
    );
    let mut tally = tally(5, 0);
    tally.file(&[Ordinal(7)], doubtful(false), NOW);
    let (outcomes, _) = tally.close(Trust::Earned, More::Ends);
    assert_eq!((outcomes.gone.len(), outcomes.failed.len()), (0, 1), "not every objection means that it left");
}

#[test]
fn the_first_few_doubtful_devices_wait_for_more_answers() {
    let mut slow = tally(0, 8);
    let (outcomes, refusal) = slow.close(Trust::Unknown, More::Comes);
    assert_eq!((outcomes.settled().len(), refusal, slow.n_finished()), (0, None, 8), "too early to tell");
    for n in 0..4 {
        slow.file(&[Ordinal(2000 + n)], doubtful(true), NOW);
    }
    let (outcomes, refusal) = slow.close(Trust::Unknown, More::Comes);
    assert_eq!((outcomes.settled().len(), refusal.as_deref()), (0, Some("BadDeviceToken")), "all of them stay pending");
    assert_eq!(slow.n_finished(), 0);

    let mut late = tally(0, 8);
    late.close(Trust::Unknown, More::Comes);
    for n in 0..8 {
        late.delivered(Ordinal(n));
    }
    let (outcomes, refusal) = late.close(Trust::Unknown, More::Comes);
    assert_eq!((outcomes.delivered.len(), outcomes.gone.len(), refusal), (8, 8, None), "others were served by then");
}

/// A caller that remembers the answers of a provider asks at every checkpoint, and must not count the same doubt twice.
#[test]
fn doubts_that_wait_over_several_checkpoints_are_new_once() {
    let mut slow = tally(0, 3);
    let mut new = vec![slow.n_new_doubts()];
    for more in [0..2, 2..2, 2..6] {
        slow.close(Trust::Unknown, More::Comes);
        for n in more {
            slow.file(&[Ordinal(2000 + n)], doubtful(true), NOW);
        }
        new.push(slow.n_new_doubts());
    }
    assert_eq!((new, slow.n_doubtful()), (vec![3, 2, 0, 4], 9));
    let (outcomes, refusal) = slow.close(Trust::Unknown, More::Ends);
    assert_eq!((outcomes.failed.len(), refusal), (9, None), "all of them are judged at the end");
    slow.file(&[Ordinal(1)], doubtful(true), NOW);
    assert_eq!(slow.n_new_doubts(), 1, "those that were judged are not held any more");
}

#[test]
fn many_doubtful_devices_accuse_nobody_when_others_were_served_or_it_was_tried_often_enough() {
    for trust in [Trust::Earned, Trust::Exhausted] {
        let (outcomes, refusal) = tally(5, 500).close(trust, More::Ends);
        assert_eq!((outcomes.gone.len(), outcomes.failed.len(), refusal), (0, 500, None), "{trust:?}");
    }
}

#[test]
fn a_provider_that_noticed_later_than_we_asked_knows_nothing_of_what_came_between() {
    let mut tally = OutcomeTally::default();
    for since in [None, Some(UtcMillis(500)), Some(UtcMillis(2000))] {
        tally.file(&[Ordinal(1)], Outcome::Gone { since }, NOW);
    }
    let (outcomes, _) = tally.close(Trust::Earned, More::Ends);
    assert_eq!(outcomes.gone.iter().map(|(_, since)| since.0).collect::<Vec<_>>(), [1000, 500, 1000]);
}

#[test]
fn those_who_wait_are_not_finished_and_the_longest_wait_counts() {
    let mut tally = OutcomeTally::default();
    for seconds in [Some(3), None, Some(2)] {
        let after = seconds.map(Duration::from_secs);
        tally.file(&[Ordinal(1)], Outcome::Retry { after, reason: "busy".to_owned(), everybody: false }, NOW);
    }
    assert_eq!((tally.n_finished(), tally.retry_after), (0, Some(Duration::from_secs(3))));
    assert!(!tally.says_wait(OF_MESSAGES), "it is about one device");
    let (outcomes, _) = tally.close(Trust::Earned, More::Ends);
    assert_eq!((outcomes.settled().len(), outcomes.reason.as_deref()), (0, Some("busy")));
    assert!(!outcomes.is_empty(), "the reason is worth keeping");
}

#[test]
fn one_device_that_asks_for_an_hour_does_not_keep_the_others_waiting() {
    let asks = |everybody| {
        let mut tally = OutcomeTally::default();
        let after = Some(Duration::from_secs(3600));
        tally.file(&[Ordinal(1)], Outcome::Retry { after, reason: "busy".to_owned(), everybody }, NOW);
        tally.retry_after
    };
    assert_eq!(asks(false), Some(LONGEST_WAIT));
    assert_eq!(asks(true), Some(Duration::from_secs(3600)), "a provider gets all that it asks for");
}

#[test]
fn the_weather_turns_with_the_majority() {
    let objection = || Outcome::Retry { after: None, reason: "busy".to_owned(), everybody: true };
    let mut tally = OutcomeTally::default();
    for n in 0..7 {
        tally.file(&[Ordinal(n)], objection(), NOW);
    }
    assert!(!tally.says_wait(OF_MESSAGES) && tally.says_wait(OF_BATCHES));
    tally.file(&[Ordinal(7)], objection(), NOW);
    assert!(tally.says_wait(OF_MESSAGES));

    let mut fair = OutcomeTally::default();
    for n in 0..10_000 {
        if n % 5 == 0 {
            fair.file(&[Ordinal(n)], objection(), NOW)
        } else {
            fair.delivered(Ordinal(n))
        }
        assert!(!fair.says_wait(OF_MESSAGES), "one in five is bad luck");
    }
    for n in 0..100 {
        fair.file(&[Ordinal(n)], objection(), NOW);
    }
    assert!(fair.says_wait(OF_MESSAGES), "what was long ago does not count");
}
