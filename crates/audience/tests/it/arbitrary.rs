//! Random ordinals, plans and log records.

use audience::codec::encode;
use audience::plan::Plan;
use model::ids::{Ordinal, TermId};
use model::term::{TermChange, TermSet, TermsRecord};
use proptest::collection::vec;
use proptest::prelude::*;
use roaring::RoaringBitmap;

const HELD_TERMS: u32 = 8;

/// Few enough to meet again, and around the edges of blocks and segments.
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
        removed: (0..HELD_TERMS).map(TermId).collect(),
    });
    vec(prop_oneof![4 => change, 1 => uninstall], 0..12)
}

fn bulk_change() -> impl Strategy<Value = TermSet> {
    let bytes = || prop_oneof![1 => Just(Vec::new()), 4 => set().prop_map(|set| encode(&set))];
    let term = (0..HELD_TERMS).prop_map(TermId);
    (term, bytes(), bytes()).prop_map(|(term, added, removed)| TermSet { term, added, removed })
}

pub(crate) fn record() -> impl Strategy<Value = TermsRecord> {
    let names = vec((0..HELD_TERMS).prop_map(|term| (TermId(term), "group".to_owned(), term.to_string())), 0..2);
    (names, changes(), vec(bulk_change(), 0..3)).prop_map(|(new_terms, changes, sets)| TermsRecord {
        new_terms,
        changes,
        sets,
    })
}
