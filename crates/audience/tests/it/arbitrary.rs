//! Random ordinals, plans and log records.

use std::collections::BTreeMap;

use audience::codec::encode;
use audience::plan::Plan;
use model::ids::{Ordinal, TermId};
use model::term::{TermChange, TermSet, TermsRecord};
use proptest::collection::vec;
use proptest::prelude::*;
use roaring::RoaringBitmap;

const HELD_TERMS: u32 = 8;
/// The terms of days, which are kept apart from the channels.
pub(crate) const APART: [TermId; 2] = [TermId(6), TermId(7)];

/// Lets each term of the records lose its name before another one takes it.
pub(crate) fn retire_names(records: &mut [TermsRecord]) {
    let mut owners = BTreeMap::new();
    for record in records {
        for (term, group, tag) in std::mem::take(&mut record.new_terms) {
            owners.retain(|_, owner| *owner != term);
            if let Some(owner) = owners.insert(tag.clone(), term) {
                record.new_terms.push((owner, "@retired".to_owned(), format!("{}/{tag}", owner.0)));
            }
            record.new_terms.push((term, group, tag));
        }
    }
}

/// The record that names the terms that are kept apart, which comes before all others.
pub(crate) fn names_of_days() -> TermsRecord {
    let day = |term: TermId| (term, "@day".to_owned(), format!("open/{}", term.0));
    TermsRecord { new_terms: APART.map(day).to_vec(), ..TermsRecord::default() }
}

/// Few enough to meet again, and around the edges of blocks and shards.
pub(crate) fn ordinal() -> impl Strategy<Value = Ordinal> {
    prop_oneof![
        4 => 0..40_u32,
        1 => 65_530..65_542_u32,
        1 => (1 << 20) - 6..(1 << 20) + 6_u32,
        1 => (3 << 20)..(3 << 20) + 8_u32,
    ]
    .prop_map(Ordinal)
}

/// Sets of all three kinds of containers: few, many, and runs.
pub(crate) fn set() -> impl Strategy<Value = RoaringBitmap> {
    let range = (0..1_u32 << 21, 1..10_000_u32, 1..4_usize)
        .prop_map(|(start, length, step)| (start..start + length).step_by(step).collect::<RoaringBitmap>());
    let few = vec(ordinal(), 0..8).prop_map(|ordinals| ordinals.iter().map(|o| o.0).collect());
    (prop_oneof![3 => few, 1 => range], any::<bool>()).prop_map(|(mut set, compact): (RoaringBitmap, bool)| {
        if compact {
            set.optimize();
        }
        set
    })
}

pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let leaf = prop_oneof![
        1 => Just(Plan::Everyone),
        1 => Just(Plan::Nobody),
        // Two more than anybody ever holds.
        8 => (0..HELD_TERMS + 2).prop_map(|term| Plan::Term(TermId(term))),
        2 => set().prop_map(Plan::Set),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Plan::And),
            vec(inner.clone(), 0..5).prop_map(Plan::Or),
            inner.prop_map(|plan| Plan::Not(Box::new(plan))),
        ]
    })
}

pub(crate) fn terms() -> impl Strategy<Value = Vec<TermId>> {
    vec((0..HELD_TERMS).prop_map(TermId), 0..5)
}

pub(crate) fn changes() -> impl Strategy<Value = Vec<TermChange>> {
    let change =
        (ordinal(), terms(), terms()).prop_map(|(ordinal, added, removed)| TermChange { ordinal, added, removed });
    let uninstall = ordinal().prop_map(|ordinal| TermChange {
        ordinal,
        added: Vec::new(),
        removed: (0..HELD_TERMS).map(TermId).filter(|term| !APART.contains(term)).collect(),
    });
    vec(prop_oneof![4 => change, 1 => uninstall], 0..12)
}

fn bulk_change() -> impl Strategy<Value = TermSet> {
    // From and to ordinals that meet again, and short, because the oracle takes them one by one.
    let near = || (ordinal(), 1..60_u32).prop_map(|(start, length)| (start.0..start.0 + length).collect());
    let many = move || prop_oneof![near(), vec(ordinal(), 0..8).prop_map(|some| some.iter().map(|o| o.0).collect())];
    let bytes = || prop_oneof![1 => Just(Vec::new()), 4 => many().prop_map(|set| encode(&set))];
    let term = (0..HELD_TERMS).prop_map(TermId);
    (term, bytes(), bytes()).prop_map(|(term, added, removed)| TermSet { term, added, removed })
}

pub(crate) fn record() -> impl Strategy<Value = TermsRecord> {
    let names =
        vec((20..26_u32, 0..4_u32).prop_map(|(term, tag)| (TermId(term), "tags".to_owned(), tag.to_string())), 0..3);
    (names, changes(), vec(bulk_change(), 0..3)).prop_map(|(new_terms, changes, sets)| TermsRecord {
        new_terms,
        changes,
        sets,
    })
}
