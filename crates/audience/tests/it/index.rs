//! Names, offsets, the edges of the ordinals, and what evaluations see while records are applied.

use std::thread;

use audience::builder::OutOfOrder;
use audience::codec::{CorruptBitmap, encode};
use audience::index::Index;
use audience::plan::Plan;
use model::ids::{Offset, Ordinal, TermId};
use model::term::{TermChange, TermSet, TermsRecord};

fn change(ordinal: u32, added: &[TermId], removed: &[TermId]) -> TermsRecord {
    let change = TermChange { ordinal: Ordinal(ordinal), added: added.to_vec(), removed: removed.to_vec() };
    TermsRecord { changes: vec![change], ..TermsRecord::default() }
}

fn everyone(index: &Index) -> Vec<u32> {
    index.resolve(&Plan::Everyone).iter().collect()
}

#[test]
fn terms_are_found_by_group_and_tag() {
    let mut builder = Index::builder();
    builder.set_name(TermId(1), "device", "news");
    let index = builder.finish(Offset(4));
    let named = |term, group: &str, tag: &str| TermsRecord {
        new_terms: vec![(TermId(term), group.to_owned(), tag.to_owned())],
        ..TermsRecord::default()
    };
    index.apply(Offset(5), &named(2, "loyalty", "news")).unwrap();
    index.apply(Offset(5), &named(3, "loyalty", "late")).unwrap();

    assert_eq!(index.number_of("device", "news"), Some(TermId(1)));
    assert_eq!(index.number_of("loyalty", "news"), Some(TermId(2)));
    assert_eq!(index.number_of("loyalty", "late"), None);
    assert_eq!(index.number_of("other", "news"), None);
}

#[test]
fn a_name_passes_from_one_term_to_another() {
    let index = Index::new();
    let named = |term, group: &str, tag: &str| (TermId(term), group.to_owned(), tag.to_owned());
    let name = |offset, new_terms| {
        index.apply(Offset(offset), &TermsRecord { new_terms, ..TermsRecord::default() }).unwrap();
        index.number_of("device", "news")
    };
    assert_eq!(name(1, vec![named(1, "device", "news")]), Some(TermId(1)));
    assert_eq!(name(2, vec![named(1, "@retired", "1/news")]), None);
    assert_eq!(name(3, vec![named(2, "device", "news")]), Some(TermId(2)));
    // In whichever order they come.
    assert_eq!(name(4, vec![named(3, "device", "news"), named(2, "@retired", "2/news")]), Some(TermId(3)));
    assert_eq!(index.name_of(TermId(2)), Some(("@retired".to_owned(), "2/news".to_owned())));
    assert_eq!(index.tags("device"), ["news"]);
}

#[test]
fn the_offset_never_goes_back() {
    let index = Index::new();
    assert_eq!(index.offset(), Offset(0));
    index.apply(Offset(3), &change(1, &[TermId(1)], &[])).unwrap();
    index.advance(Offset(9));
    index.advance(Offset(5));
    index.apply(Offset(9), &change(2, &[TermId(1)], &[])).unwrap();
    assert_eq!(index.offset(), Offset(9));
    assert_eq!(everyone(&index), [1]);
}

#[test]
fn a_channel_is_there_as_long_as_it_holds_a_term() {
    let index = Index::new();
    let (a, b) = (TermId(1), TermId(2));
    let mut offset = 0;
    let mut apply = |added: &[TermId], removed: &[TermId]| {
        offset += 1;
        index.apply(Offset(offset), &change(u32::MAX, added, removed)).unwrap();
        everyone(&index).len()
    };
    assert_eq!(apply(&[a, a, b], &[]), 1);
    assert_eq!(apply(&[a], &[]), 1);
    assert_eq!(apply(&[], &[a, a]), 1);
    assert_eq!(apply(&[], &[a]), 1);
    assert_eq!(apply(&[a], &[a, b]), 1);
    assert_eq!(apply(&[], &[a]), 0);
}

#[test]
fn a_channel_may_hold_more_terms_than_its_counter_counts() {
    let many: Vec<TermId> = (0..70_000).map(TermId).collect();
    let followed = Index::new();
    followed.apply(Offset(1), &change(5, &many, &[])).unwrap();
    let mut builder = Index::builder();
    builder.push(Ordinal(5), &many).unwrap();
    for index in [followed, builder.finish(Offset(1))] {
        // Counted anew for each term above the limit, which is why only the last ones are tried.
        index.apply(Offset(2), &change(5, &[], &many[69_997..])).unwrap();
        assert_eq!(everyone(&index), [5]);
        assert_eq!(index.count(&Plan::Term(many[69_996])), 1);
        assert_eq!(index.count(&Plan::Term(many[69_997])), 0);
    }
}

#[test]
fn a_list_does_not_bring_back_who_has_left() {
    let (own, list) = (TermId(1), TermId(2));
    let index = Index::new();
    let mut record = change(1, &[own], &[]);
    record.changes.push(TermChange { ordinal: Ordinal(2), added: vec![own], removed: Vec::new() });
    index.apply(Offset(1), &record).unwrap();

    // In one record, single channels change first.
    let mut record = change(2, &[], &[own]);
    record.sets = vec![TermSet { term: list, added: encode(&[1, 2, 3].into()), removed: Vec::new() }];
    index.apply(Offset(2), &record).unwrap();
    assert_eq!(index.resolve(&Plan::Term(list)), [1].into());
    assert_eq!(everyone(&index), [1]);

    // A list counts like any other term, so that leaving means losing it as well.
    index.apply(Offset(3), &change(1, &[], &[own])).unwrap();
    assert_eq!(everyone(&index), [1]);
    let gone = TermSet { term: list, added: Vec::new(), removed: encode(&[1].into()) };
    index.apply(Offset(4), &TermsRecord { sets: vec![gone], ..TermsRecord::default() }).unwrap();
    assert!(everyone(&index).is_empty());
}

#[test]
fn a_day_stays_with_who_leaves_and_keeps_nobody() {
    let (own, day) = (TermId(1), TermId(2));
    let index = Index::new();
    let mut record = change(1, &[own], &[]);
    record.new_terms = vec![(day, "@day".to_owned(), "open/20000".to_owned())];
    record.sets = vec![TermSet { term: day, added: encode(&[1, 2].into()), removed: Vec::new() }];
    index.apply(Offset(1), &record).unwrap();
    let on_day = Plan::Term(day);
    assert_eq!((everyone(&index), index.resolve(&on_day)), (vec![1], [1].into()));

    index.apply(Offset(2), &change(1, &[], &[own])).unwrap();
    assert_eq!((everyone(&index), index.count(&on_day)), (vec![], 0));
    index.apply(Offset(3), &change(2, &[own], &[])).unwrap();
    assert_eq!((everyone(&index), index.count(&on_day)), (vec![2], 1));
    assert_eq!(index.count(&Plan::Not(Box::new(on_day.clone()))), 0);
    let without_one = Plan::And(vec![Plan::Not(Box::new(Plan::Set([9].into()))), on_day]);
    assert_eq!(index.resolve(&without_one), [2].into());
}

#[test]
fn a_record_that_cannot_be_read_changes_nothing() {
    let (own, list) = (TermId(1), TermId(2));
    let index = Index::new();
    index.apply(Offset(1), &change(1, &[own], &[])).unwrap();
    let mut record = change(2, &[own], &[own]);
    record.new_terms = vec![(list, "lists".to_owned(), "late".to_owned())];
    record.sets = vec![
        TermSet { term: list, added: encode(&[1].into()), removed: Vec::new() },
        TermSet { term: list, added: Vec::new(), removed: vec![7] },
    ];
    assert!(matches!(index.apply(Offset(2), &record), Err(CorruptBitmap::Unreadable(_))));
    assert_eq!(index.offset(), Offset(1));
    assert_eq!(everyone(&index), [1]);
    assert_eq!(index.count(&Plan::Term(list)), 0);
    assert_eq!(index.number_of("lists", "late"), None);
}

#[test]
fn channels_are_built_in_ascending_order() {
    let mut builder = Index::builder();
    builder.push(Ordinal(7), &[TermId(1), TermId(1)]).unwrap();
    let refused = OutOfOrder { last: Ordinal(7), next: Ordinal(7) };
    assert_eq!(builder.push(Ordinal(7), &[TermId(2)]), Err(refused));
    builder.push(Ordinal(8), &[]).unwrap();
    let index = builder.finish(Offset(1));
    assert_eq!(everyone(&index), [7]);
    index.apply(Offset(2), &change(7, &[], &[TermId(1)])).unwrap();
    assert!(everyone(&index).is_empty());
}

#[test]
fn no_answer_shows_half_of_a_change() {
    const CHANNELS: u32 = 500;
    let (a, b) = (TermId(1), TermId(2));
    let mut builder = Index::builder();
    for ordinal in 0..CHANNELS {
        builder.push(Ordinal(ordinal), &[a]).unwrap();
    }
    let index = builder.finish(Offset(0));
    let both = Plan::And(vec![Plan::Term(a), Plan::Term(b)]);
    let either = Plan::Or(vec![Plan::Term(a), Plan::Term(b)]);

    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 1..=20 {
                let (added, removed) = if round % 2 == 0 { (a, b) } else { (b, a) };
                let swap =
                    |ordinal| TermChange { ordinal: Ordinal(ordinal), added: vec![added], removed: vec![removed] };
                let changes = (0..CHANNELS).map(swap).collect();
                index.apply(Offset(round), &TermsRecord { changes, ..TermsRecord::default() }).unwrap();
            }
        });
        while !writer.is_finished() {
            assert_eq!(index.count(&both), 0);
            assert_eq!(index.resolve(&either).len(), u64::from(CHANNELS));
        }
    });
    assert_eq!(index.count(&Plan::Term(a)), u64::from(CHANNELS));
}
