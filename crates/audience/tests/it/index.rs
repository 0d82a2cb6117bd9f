//! Names, offsets, the edges of the ordinals, and what evaluations see while records are applied.

use std::thread;

use audience::builder::OutOfOrder;
use audience::index::Index;
use audience::plan::Plan;
use model::ids::{Offset, Ordinal, TermId};
use model::term::{TermChange, TermsRecord};

fn change(ordinal: u32, added: &[TermId], removed: &[TermId]) -> TermsRecord {
    let change = TermChange { ordinal: Ordinal(ordinal), added: added.to_vec(), removed: removed.to_vec() };
    TermsRecord { new_terms: Vec::new(), changes: vec![change] }
}

fn everyone(index: &Index) -> Vec<u32> {
    index.resolve(&Plan::Everyone).iter().collect()
}

#[test]
fn terms_are_found_by_group_and_tag() {
    let mut builder = Index::builder();
    builder.name(TermId(1), "device", "news");
    let index = builder.finish(Offset(4));
    let named = |term, group: &str, tag: &str| TermsRecord {
        new_terms: vec![(TermId(term), group.to_owned(), tag.to_owned())],
        changes: Vec::new(),
    };
    index.apply(Offset(5), &named(2, "loyalty", "news"));
    index.apply(Offset(5), &named(3, "loyalty", "late"));

    assert_eq!(index.term("device", "news"), Some(TermId(1)));
    assert_eq!(index.term("loyalty", "news"), Some(TermId(2)));
    assert_eq!(index.term("loyalty", "late"), None);
    assert_eq!(index.term("other", "news"), None);
}

#[test]
fn the_offset_never_goes_back() {
    let index = Index::new();
    assert_eq!(index.offset(), Offset(0));
    index.apply(Offset(3), &change(1, &[TermId(1)], &[]));
    index.advance(Offset(9));
    index.advance(Offset(5));
    index.apply(Offset(9), &change(2, &[TermId(1)], &[]));
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
        index.apply(Offset(offset), &change(u32::MAX, added, removed));
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
    followed.apply(Offset(1), &change(5, &many, &[]));
    let mut builder = Index::builder();
    builder.push(Ordinal(5), &many).unwrap();
    for index in [followed, builder.finish(Offset(1))] {
        // Counted anew for each term above the limit, which is why only the last ones are tried.
        index.apply(Offset(2), &change(5, &[], &many[69_997..]));
        assert_eq!(everyone(&index), [5]);
        assert_eq!(index.count(&Plan::Term(many[69_996])), 1);
        assert_eq!(index.count(&Plan::Term(many[69_997])), 0);
    }
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
    index.apply(Offset(2), &change(7, &[], &[TermId(1)]));
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
                index.apply(Offset(round), &TermsRecord { new_terms: Vec::new(), changes });
            }
        });
        while !writer.is_finished() {
            assert_eq!(index.count(&both), 0);
            assert_eq!(index.resolve(&either).len(), u64::from(CHANNELS));
        }
    });
    assert_eq!(index.count(&Plan::Term(a)), u64::from(CHANNELS));
}
