//! Index and oracle give the same answers, however the index came to know its channels.

use audience::builder::Builder;
use audience::codec::encode;
use audience::index::Index;
use audience::plan::Plan;
use model::ids::{Offset, Ordinal, TermId};
use model::term::{TermChange, TermSet, TermsRecord};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::arbitrary;
use crate::naive::Naive;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn updates_and_questions_in_any_order(
        rounds in vec((arbitrary::record(), arbitrary::plan()), 1..24),
    ) {
        let (index, mut naive) = (Index::new(), Naive::default());
        index.apply(Offset(1), &arbitrary::names_of_days()).unwrap();
        let mut records = Vec::new();
        for (record, plan) in &rounds {
            naive.apply(record);
            let offset = Offset(index.offset().0 + 3);
            index.apply(offset, record).unwrap();
            prop_assert_eq!(index.offset(), offset);
            records.push((offset, record));
            agree(&index, &naive, plan)?;
        }

        let rebuilt = rebuild(&naive, index.offset());
        // What was applied once is not applied again. Backwards, because replaying forwards would end where it began.
        for (offset, record) in records.iter().rev() {
            index.apply(*offset, record).unwrap();
            rebuilt.apply(*offset, record).unwrap();
        }
        for (_, plan) in &rounds {
            agree(&index, &naive, plan)?;
            agree(&rebuilt, &naive, plan)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn popular_and_rare_terms(
        holders in vec((0..8_u32, 60_000..70_000_u32, 0..6_000_u32, 1..4_usize), 1..8),
        update in arbitrary::record(),
        plans in vec(arbitrary::plan(), 16),
    ) {
        let mut naive = Naive::default();
        for (term, start, length, step) in holders {
            for ordinal in (start..start + length).step_by(step) {
                naive.terms.entry(Ordinal(ordinal)).or_default().insert(TermId(term));
            }
        }
        let rebuilt = rebuild(&naive, Offset(7));
        let followed = Index::new();
        let record = TermsRecord { changes: additions(&naive), ..arbitrary::names_of_days() };
        followed.apply(Offset(7), &record).unwrap();
        naive.apply(&update);
        for index in [rebuilt, followed] {
            index.apply(Offset(8), &update).unwrap();
            for plan in &plans {
                agree(&index, &naive, plan)?;
                agree(&index, &naive, &among_few(plan))?;
            }
        }
    }

    #[test]
    fn a_set_brings_the_same_at_the_start_as_in_the_log(
        changes in vec(arbitrary::changes(), 1..8),
        term in 0..8_u32,
        set in arbitrary::set(),
        plans in vec(arbitrary::plan(), 6),
    ) {
        let mut naive = Naive::default();
        changes.iter().flatten().for_each(|change| naive.change(change));
        let mut builder = named_builder();
        builder.push_set(TermId(term), set.clone());
        for change in additions(&naive) {
            builder.push(change.ordinal, &change.added).unwrap();
        }
        let index = builder.finish(Offset(1));
        let added = TermSet { term: TermId(term), added: encode(&set), removed: Vec::new() };
        naive.apply(&TermsRecord { sets: vec![added], ..TermsRecord::default() });
        for plan in &plans {
            agree(&index, &naive, plan)?;
        }
    }
}

/// Sets of a size that small ones never reach: sorted lists that are long enough to be combined in another way.
#[test]
fn long_lists_meet() {
    let mut naive = Naive::default();
    for ordinal in 0..100_000_u32 {
        let held = [1, 16, 19, 3].into_iter().zip(0..).filter(|(every, _)| ordinal % every == 0);
        naive.terms.insert(Ordinal(ordinal), held.map(|(_, term)| TermId(term)).collect());
    }
    let index = rebuild(&naive, Offset(1));
    let [all, left, right, third] = [0, 1, 2, 3].map(|term| Plan::Term(TermId(term)));
    let not = |plan: &Plan| Plan::Not(Box::new(plan.clone()));
    let both = Plan::And(vec![left.clone(), right.clone()]);
    let plans = [
        both.clone(),
        not(&both),
        Plan::And(vec![left, right, third.clone()]),
        Plan::And(vec![all, not(&both)]),
        Plan::And(vec![third, not(&both)]),
    ];
    for plan in plans {
        agree(&index, &naive, &plan).unwrap();
    }
}

/// The plan where only a few channels matter, so that its large sets are looked up rather than merged.
fn among_few(plan: &Plan) -> Plan {
    let few = Plan::Set([60_000, 63_000, 65_600, 66_001].into());
    let wide = Plan::Or((0..8).map(|term| Plan::Term(TermId(term))).chain([plan.clone()]).collect());
    let both = Plan::And(vec![Plan::Term(TermId(0)), plan.clone()]);
    Plan::And(vec![few, Plan::Or(vec![both, Plan::Not(Box::new(wide))])])
}

pub(crate) fn agree(index: &Index, naive: &Naive, plan: &Plan) -> Result<(), TestCaseError> {
    let expected = naive.resolve(plan);
    for plan in [plan.clone(), plan.clone().normalize()] {
        prop_assert_eq!(index.resolve(&plan).iter().collect::<Vec<_>>(), &expected[..], "{:?}", plan);
        prop_assert_eq!(index.count(&plan), expected.len() as u64, "{:?}", plan);
    }
    Ok(())
}

fn rebuild(naive: &Naive, offset: Offset) -> Index {
    let mut builder = named_builder();
    for change in additions(naive) {
        builder.push(change.ordinal, &change.added).expect("a map gives its channels in ascending order");
    }
    builder.finish(offset)
}

fn named_builder() -> Builder {
    let mut builder = Index::builder();
    for (term, group, tag) in arbitrary::names_of_days().new_terms {
        builder.set_name(term, &group, &tag);
    }
    builder
}

fn additions(naive: &Naive) -> Vec<TermChange> {
    naive
        .terms
        .iter()
        .map(|(ordinal, terms)| TermChange {
            ordinal: *ordinal,
            added: terms.iter().copied().collect(),
            removed: Vec::new(),
        })
        .collect()
}
