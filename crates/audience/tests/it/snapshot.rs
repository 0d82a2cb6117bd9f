//! Snapshots: loaded and replayed they agree with the index they were taken of; damaged ones are refused.

use std::io::{self, Write};
use std::thread;

use audience::index::Index;
use audience::plan::Plan;
use audience::snapshot::SnapshotError;
use model::ids::{Offset, Ordinal, TermId};
use model::term::{TermChange, TermsRecord};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::agreement::agree;
use crate::arbitrary;
use crate::naive::Naive;

/// A file whose every write lets the index apply one more record, which it could not if a lock were held meanwhile.
struct Interleaved<'a> {
    index: &'a Index,
    records: &'a [TermsRecord],
    bytes: Vec<u8>,
}

impl Write for Interleaved<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let next = self.index.offset().0;
        if let Some(record) = usize::try_from(next).ok().and_then(|next| self.records.get(next)) {
            self.index.apply(Offset(next + 1), record).expect("the sets of the records are readable");
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn snapshot(index: &Index) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.write_snapshot(&mut bytes).expect("memory takes everything that is written to it");
    bytes
}

fn load(mut bytes: &[u8]) -> Result<Index, SnapshotError> {
    let index = Index::read_snapshot(&mut bytes);
    assert!(index.is_err() || bytes.is_empty(), "all of a snapshot is read");
    index
}

/// Applies the records, the first of which is at offset 1.
fn replay(index: &Index, records: &[TermsRecord]) {
    for (offset, record) in (1..).zip(records) {
        index.apply(Offset(offset), record).expect("the sets of the records are readable");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn taken_between_and_during_updates(
        mut records in vec(arbitrary::record(), 1..40),
        before in any::<prop::sample::Index>(),
        plans in vec(arbitrary::plan(), 6),
        last in arbitrary::record(),
    ) {
        arbitrary::retire_names(&mut records);
        records.insert(0, arbitrary::names_of_days());
        let mut naive = Naive::default();
        let live = Index::new();
        replay(&live, &records[..before.index(records.len())]);
        let taken_at = live.offset();
        let mut file = Interleaved { index: &live, records: &records, bytes: Vec::new() };
        let span = live.write_snapshot(&mut file).unwrap();
        let loaded = load(&file.bytes).unwrap();
        prop_assert!(loaded.offset() >= taken_at);
        prop_assert_eq!(loaded.span(), span);
        prop_assert!(span.oldest <= span.newest && span.newest <= live.offset());

        // One more that is taken while the first is being replayed.
        let mut file = Interleaved { index: &loaded, records: &records, bytes: Vec::new() };
        loaded.write_snapshot(&mut file).unwrap();
        let second = load(&file.bytes).unwrap();

        records.iter().for_each(|record| naive.apply(record));
        naive.apply(&last);
        for index in [&live, &loaded, &second] {
            replay(index, &records);
            // What follows shows whether the terms of each channel are counted right.
            index.apply(Offset(100), &last).unwrap();
            prop_assert_eq!(index.offset(), Offset(100));
            agree(index, &naive, &Plan::Everyone)?;
            for plan in &plans {
                agree(index, &naive, plan)?;
            }
            for (term, group, tag) in records.iter().flat_map(|record| &record.new_terms) {
                prop_assert_eq!(index.number_of(group, tag), live.number_of(group, tag));
                prop_assert_eq!(index.name_of(*term), live.name_of(*term));
            }
        }
    }

    #[test]
    fn random_bytes_are_refused(bytes in vec(any::<u8>(), 0..64), after_head in any::<bool>()) {
        let mut file = if after_head { snapshot(&Index::new())[..16].to_vec() } else { Vec::new() };
        file.extend(bytes);
        prop_assert!(load(&file).is_err());
    }
}

#[test]
fn taken_while_another_thread_applies() {
    const RECORDS: u32 = 3_000;
    // Each record touches three shards; every third one makes room for a name.
    let record = |number: u32| {
        let change = |shard: u32| TermChange {
            ordinal: Ordinal((shard << 20) + number % 50),
            added: vec![TermId(number % 7), TermId(number % 5)],
            removed: vec![TermId(number % 3), TermId(number % 11)],
        };
        let new_terms = if number.is_multiple_of(3) {
            vec![(TermId(number), "numbers".to_owned(), number.to_string())]
        } else {
            Vec::new()
        };
        TermsRecord { new_terms, changes: (0..3).map(change).collect(), sets: Vec::new() }
    };
    let records: Vec<TermsRecord> = (1..=RECORDS).map(record).collect();
    let live = Index::new();
    let files = thread::scope(|scope| {
        let writer = scope.spawn(|| replay(&live, &records));
        let mut files = vec![snapshot(&live)];
        while !writer.is_finished() {
            files.push(snapshot(&live));
        }
        files
    });
    let mut naive = Naive::default();
    records.iter().for_each(|record| naive.apply(record));
    // The first and the last are sure to differ; the others are those that were taken in the middle.
    for file in files.iter().step_by(files.len().div_ceil(12)).chain(files.last()) {
        let loaded = load(file).unwrap();
        replay(&loaded, &records);
        assert_eq!(loaded.tags("numbers").len(), RECORDS as usize / 3);
        agree(&loaded, &naive, &Plan::Everyone).unwrap();
        for term in 0..11 {
            agree(&loaded, &naive, &Plan::Term(TermId(term))).unwrap();
        }
    }
}

/// A small snapshot with names and with channels in two shards.
fn sample(tag: &str) -> Vec<u8> {
    let mut builder = Index::builder();
    builder.set_name(TermId(1), "device", tag);
    for (ordinal, terms) in [(3, &[TermId(1), TermId(2)][..]), (1 << 20, &[TermId(2)])] {
        builder.push(Ordinal(ordinal), terms).expect("the ordinals ascend");
    }
    snapshot(&builder.finish(Offset(5)))
}

#[test]
fn every_cut_and_every_flipped_bit_is_noticed() {
    let whole = sample("news");
    assert_eq!(load(&whole).unwrap().offset(), Offset(5));
    for cut in 0..whole.len() {
        assert!(matches!(load(&whole[..cut]), Err(SnapshotError::Truncated)), "cut to {cut} bytes");
    }
    for bit in 0..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match load(&damaged) {
            Ok(_) => panic!("flipping bit {bit} goes unnoticed"),
            Err(SnapshotError::Foreign) => assert!(bit / 8 < 15),
            Err(SnapshotError::Version(version)) => assert!(bit / 8 == 15 && version != 1),
            Err(SnapshotError::Damaged(_) | SnapshotError::Truncated) => assert!(bit / 8 > 15),
            Err(SnapshotError::Read(error)) => panic!("{error}"),
        }
    }
}

#[test]
fn half_of_one_and_half_of_another_is_noticed() {
    let (one, other) = (sample("news"), sample("dogs"));
    assert_eq!(one.len(), other.len());
    for cut in 16..one.len() {
        let spliced = [&one[..cut], &other[cut..]].concat();
        if spliced != one && spliced != other {
            assert!(matches!(load(&spliced), Err(SnapshotError::Damaged(_))), "spliced at {cut}");
        }
    }
}
