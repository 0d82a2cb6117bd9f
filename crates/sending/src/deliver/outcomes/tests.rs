//! The meaning of answers.

use super::*;

const NOW: UtcMillis = UtcMillis(1000);

fn refused(fault: AddressFault) -> Outcome {
    Outcome::Refused { reason: "BadDeviceToken".to_owned(), fault }
}

fn busy(after: Option<Duration>, everybody: bool, contact: Contact) -> Outcome {
    Outcome::Retry { after, reason: "busy".to_owned(), everybody, contact }
}

#[test]
fn a_refused_address_condemns_itself_only() {
    let mut tally = OutcomeTally::default();
    tally.delivered(Ordinal(1));
    for n in 0..500 {
        tally.file(&[Ordinal(1000 + n)], refused(AddressFault::Unknown), NOW);
    }
    tally.file(&[Ordinal(7)], refused(AddressFault::Foreign), NOW);
    assert_eq!((tally.n_served(), tally.n_refused()), (1, 501));
    let outcomes = tally.close(Suspicion::Undecided);
    assert_eq!((outcomes.delivered.len(), outcomes.failed.len(), outcomes.gone.len()), (1, 501, 0));
    let patience = |n: usize| outcomes.refused[n].patience;
    assert_eq!((outcomes.refused.len(), patience(0), patience(500)), (501, 3, 10));
    assert_eq!(outcomes.reason.as_deref(), Some("BadDeviceToken"));
}

#[test]
fn addresses_that_worked_before_wait_for_a_verdict() {
    let suspected = || {
        let mut tally = OutcomeTally::default();
        tally.delivered(Ordinal(1));
        for n in 0..4 {
            tally.suspect(Ordinal(1000 + n), "BadDeviceToken".to_owned(), AddressFault::Unknown, NOW);
        }
        tally
    };
    let mut undecided = suspected();
    let outcomes = undecided.close(Suspicion::Undecided);
    assert_eq!((outcomes.settled().len(), undecided.n_finished()), (1, 4), "too early to tell");
    let outcomes = undecided.close(Suspicion::None);
    assert_eq!(
        (outcomes.failed.len(), outcomes.refused.len(), undecided.n_finished()),
        (4, 4, 0),
        "it was the addresses"
    );

    let mut ours = suspected();
    let outcomes = ours.close(Suspicion::Us);
    assert_eq!(
        (outcomes.delivered.len(), outcomes.failed.len(), outcomes.refused.len()),
        (1, 0, 0),
        "they stay pending"
    );
    assert_eq!((ours.n_finished(), ours.n_refused()), (0, 0));
}

#[test]
fn a_provider_that_noticed_later_than_we_asked_knows_nothing_of_what_came_between() {
    let mut tally = OutcomeTally::default();
    for since in [None, Some(UtcMillis(500)), Some(UtcMillis(2000))] {
        tally.file(&[Ordinal(1)], Outcome::Gone { since }, NOW);
    }
    let outcomes = tally.close(Suspicion::None);
    assert_eq!(outcomes.gone.iter().map(|(_, since)| since.0).collect::<Vec<_>>(), [1000, 500, 1000]);
}

#[test]
fn those_who_wait_are_not_finished_and_the_longest_wait_counts() {
    let mut tally = OutcomeTally::default();
    for seconds in [Some(3), None, Some(2)] {
        let after = seconds.map(Duration::from_secs);
        tally.file(&[Ordinal(1)], busy(after, false, Contact::Made), NOW);
    }
    assert_eq!((tally.n_finished(), tally.retry_after), (0, Some(Duration::from_secs(3))));
    assert!(!tally.says_wait(OF_MESSAGES), "it is about one device");
    let outcomes = tally.close(Suspicion::None);
    assert_eq!((outcomes.settled().len(), outcomes.reason.as_deref()), (0, Some("busy")));
    assert!(!outcomes.is_empty(), "the reason is worth keeping");
}

#[test]
fn a_try_is_none_when_nobody_could_be_asked() {
    let contacts = [Contact::Made, Contact::NotMade, Contact::Unclear];
    let is_cut_off = |own: &[Contact], of_phones: &[Contact]| {
        let mut tally = OutcomeTally::default();
        tally.delivered(Ordinal(1));
        own.iter().for_each(|contact| tally.file(&[Ordinal(2)], busy(None, true, *contact), NOW));
        of_phones.iter().for_each(|contact| tally.file_of_phone(0, Ordinal(3), busy(None, true, *contact), NOW));
        tally.close(Suspicion::None);
        tally.is_cut_off()
    };
    assert!(!is_cut_off(&[], &[]), "nothing was in the way");
    assert_eq!(contacts.map(|contact| is_cut_off(&[contact], &[])), [false, true, false]);
    assert_eq!(contacts.map(|contact| is_cut_off(&[], &[contact])), [false, true, false]);
    // What hosts say that single devices named decides for no others.
    assert!(is_cut_off(&[Contact::Unclear, Contact::NotMade], &contacts));
    assert!(!is_cut_off(&contacts, &[]), "it was asked in vain");
    assert!(is_cut_off(&[Contact::Made], &[Contact::NotMade]), "the service of the phones was not");
    assert!(!is_cut_off(&[Contact::Made], &[Contact::Made, Contact::NotMade]), "both were, and then that one rested");
}

#[test]
fn one_push_service_that_answers_does_not_use_up_the_tries_of_another() {
    let is_cut_off = |contacts: &[(To, Contact)]| {
        let mut tally = OutcomeTally::default();
        contacts.iter().for_each(|(to, contact)| tally.file_of(*to, &[Ordinal(1)], busy(None, false, *contact), NOW));
        tally.is_cut_off()
    };
    let (google, mozilla) = (To::Own(0), To::Own(2));
    let answered = (mozilla, Contact::Made);
    for other in [google, To::Amazon] {
        let missed = (other, Contact::NotMade);
        assert!(is_cut_off(&[answered, missed]) && is_cut_off(&[missed, answered]));
        assert!(!is_cut_off(&[answered, (other, Contact::Unclear)]), "nothing is known of it");
        assert!(!is_cut_off(&[(other, Contact::Made), answered, missed]), "both were asked in vain");
    }
}

#[test]
fn one_device_that_asks_for_an_hour_does_not_keep_the_others_waiting() {
    let asks = |everybody| {
        let mut tally = OutcomeTally::default();
        let after = Some(Duration::from_secs(3600));
        tally.file(&[Ordinal(1)], busy(after, everybody, Contact::Made), NOW);
        tally.retry_after
    };
    assert_eq!(asks(false), Some(LONGEST_WAIT));
    assert_eq!(asks(true), Some(Duration::from_secs(3600)), "a provider gets all that it asks for");
}

#[test]
fn the_weather_turns_with_the_majority() {
    let objection = || busy(None, true, Contact::Made);
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
