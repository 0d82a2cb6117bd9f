//! Which channels and users the records of a stretch of the log are about, and how a section of the log keeps that.
//!
//! A bucket is a list of numbers: for each subject the difference to the subject before, how many records it has, and of each
//! position the difference to the one before.

use std::collections::{BTreeMap, BTreeSet};

use audience::codec;
use base::{Error, Result};
use model::event::{Event, Many};
use model::ids::{AppId, NamedUserId, Offset, Ordinal};
use roaring::RoaringBitmap;
use serde::Deserialize;
use store::log::Mention;
use store::postings::{BUCKETS, Bucket, FIRST_BUCKET, Section};
use store::{Tx, log};

/// A record about more channels is noted for their block, and read by everybody who looks for one of the block.
const FEW_CHANNELS: u64 = 64;
const BLOCK_BITS: u32 = 16;

/// Whom a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// Perhaps, because the record is about many channels of this block.
    Block(u32),
    Channel(Ordinal),
    /// A named user, without a channel. Perhaps, because users can have the same number.
    User(u32),
}

impl Subject {
    pub(super) const fn block_of(channel: Ordinal) -> Self {
        Subject::Block(channel.0 >> BLOCK_BITS)
    }

    pub(super) fn user(user: &NamedUserId) -> Self {
        // FNV-1a: stored, so it has to stay the same.
        let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        Subject::User(user.as_str().bytes().fold(0x811c_9dc5, hash))
    }

    pub(super) fn bucket(self) -> u32 {
        match self {
            Subject::Block(_) => FIRST_BUCKET,
            Subject::Channel(Ordinal(number)) | Subject::User(number) => FIRST_BUCKET + 1 + number % BUCKETS,
        }
    }

    /// Of subjects of one bucket, each has a number of its own.
    fn number(self) -> u64 {
        match self {
            Subject::Block(number) | Subject::Channel(Ordinal(number)) => u64::from(number),
            Subject::User(number) => u64::from(number) | (1 << u32::BITS),
        }
    }
}

/// Subjects and the positions of their records, in the order of the log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Postings(Vec<(Subject, Offset)>);

impl Postings {
    /// Reads the records from an offset up to another. Returns also how many of them cannot be read; they are about nobody.
    pub(super) fn of_log(tx: &mut Tx<'_>, app: AppId, range: (Offset, Offset)) -> Result<(Self, u64)> {
        let (mut postings, mut n_unreadable) = (Self::default(), 0);
        let n_unknown = log::visit_mentions(tx, app, range, |mention| {
            n_unreadable += u64::from(postings.add(mention).is_err());
            Ok(())
        })?;
        Ok((postings, n_unreadable + n_unknown))
    }

    fn add(&mut self, Mention { offset, kind, ordinal, body }: Mention<'_>) -> Result<()> {
        match (ordinal, body) {
            (Some(ordinal), _) => self.note(Subject::Channel(ordinal), offset),
            (None, Some(body)) if kind.is_of_many() => {
                let (many, _): (Many, _) = postcard::take_from_bytes(body).map_err(Error::internal)?;
                let channels = codec::decode(&many.ordinals).map_err(Error::internal)?;
                subjects_of(&channels).into_iter().for_each(|subject| self.note(subject, offset));
            }
            (None, Some(body)) => {
                if let Some(user) = customer(body)? {
                    self.note(Subject::user(&user), offset);
                }
            }
            (None, None) => {}
        }
        Ok(())
    }

    fn note(&mut self, subject: Subject, offset: Offset) {
        self.0.push((subject, offset));
    }

    pub(super) fn positions_of(&self, subjects: &BTreeSet<Subject>) -> impl Iterator<Item = Offset> {
        self.0.iter().filter(|(subject, _)| subjects.contains(subject)).map(|(_, offset)| *offset)
    }

    /// The rows that keep the postings of a section.
    pub(super) fn buckets(&self, section: Section) -> Result<Vec<Bucket>> {
        let sorted = self.0.iter().map(|(subject, offset)| (subject.bucket(), subject.number(), *offset));
        let mut sorted: Vec<(u32, u64, Offset)> = sorted.collect();
        sorted.sort_unstable();
        let mut numbers = BTreeMap::from([(FIRST_BUCKET, Vec::new())]);
        for of_bucket in sorted.chunk_by(|(one, ..), (next, ..)| one == next) {
            let (mut in_bucket, mut last_subject) = (Vec::new(), 0);
            for of_subject in of_bucket.chunk_by(|(_, one, _), (_, next, _)| one == next) {
                let (_, subject, _) = of_subject[0];
                in_bucket.extend([subject - last_subject, of_subject.len() as u64]);
                let mut before = section.first();
                for (_, _, position) in of_subject {
                    in_bucket.push(u64::try_from(position.0 - before.0).map_err(Error::internal)?);
                    before = *position;
                }
                last_subject = subject;
            }
            numbers.insert(of_bucket[0].0, in_bucket);
        }
        let bucket = |(bucket, numbers): (u32, Vec<u64>)| {
            Ok(Bucket { bucket, section, body: postcard::to_stdvec(&numbers).map_err(Error::internal)? })
        };
        numbers.into_iter().map(bucket).collect()
    }
}

/// The positions of the records of some subjects in a stored bucket.
pub(super) fn positions_in(bucket: &Bucket, subjects: &BTreeSet<Subject>) -> Result<Vec<Offset>> {
    let wanted = subjects.iter().filter(|subject| subject.bucket() == bucket.bucket);
    let wanted: BTreeSet<u64> = wanted.map(|subject| subject.number()).collect();
    let numbers: Vec<u64> = postcard::from_bytes(&bucket.body).map_err(Error::internal)?;
    let (mut found, mut subject, mut rest) = (Vec::new(), 0, numbers.as_slice());
    while let [difference, n_positions, after @ ..] = rest {
        subject += difference;
        let n_positions = usize::try_from(*n_positions).unwrap_or(usize::MAX).min(after.len());
        let (positions, next) = after.split_at(n_positions);
        if wanted.contains(&subject) {
            let mut position = bucket.section.first();
            for difference in positions {
                position = Offset(position.0.saturating_add_unsigned(*difference));
                found.push(position);
            }
        }
        rest = next;
    }
    Ok(found)
}

fn subjects_of(channels: &RoaringBitmap) -> BTreeSet<Subject> {
    let subject: fn(u32) -> Subject = if channels.len() <= FEW_CHANNELS {
        |ordinal| Subject::Channel(Ordinal(ordinal))
    } else {
        |ordinal| Subject::block_of(Ordinal(ordinal))
    };
    channels.iter().map(subject).collect()
}

/// The named user of a custom event that is about no channel.
pub(super) fn customer(body: &[u8]) -> Result<Option<NamedUserId>> {
    #[derive(Deserialize)]
    struct Customer {
        customer_id: Option<String>,
    }
    let event: Event<Customer> = serde_json::from_slice(body).map_err(Error::internal)?;
    Ok(event.body.customer_id.and_then(|user| NamedUserId::new(&user).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_keeps_what_its_records_are_about() {
        let section = Section::of(Offset(20_000));
        let mut postings = Postings::default();
        let jo = Subject::user(&NamedUserId::new("jo").unwrap());
        let many = [Subject::Block(0), Subject::Block(3), jo];
        let subjects = (0..200).map(|n| Subject::Channel(Ordinal(n * n))).chain(many);
        let subjects: Vec<Subject> = subjects.collect();
        for (n, position) in (section.first().0..=section.last().0).enumerate() {
            postings.note(subjects[n * n % subjects.len()], Offset(position));
        }
        let buckets = postings.buckets(section).unwrap();
        assert!(buckets.iter().any(|bucket| bucket.bucket == FIRST_BUCKET));
        for wanted in [&subjects[..1], &subjects[1..40], &subjects[..], &[Subject::Block(7)]] {
            let wanted: BTreeSet<Subject> = wanted.iter().copied().collect();
            let mut found = Vec::new();
            for bucket in &buckets {
                found.extend(positions_in(bucket, &wanted).unwrap());
            }
            let mut expected: Vec<Offset> = postings.positions_of(&wanted).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
        assert_eq!(Postings::default().buckets(section).unwrap().len(), 1, "an empty section is noted, too");
    }

    #[test]
    fn a_record_about_few_channels_is_found_by_each_and_one_about_many_by_their_block() {
        let few: RoaringBitmap = [5, 70_000].into_iter().collect();
        assert_eq!(subjects_of(&few), [5, 70_000].map(|n| Subject::Channel(Ordinal(n))).into());
        let many: RoaringBitmap = (65_536..70_000).collect();
        assert_eq!(subjects_of(&many), [Subject::Block(1)].into());
    }

    #[test]
    fn the_numbers_of_users_stay() {
        assert_eq!(Subject::user(&NamedUserId::new("a").unwrap()), Subject::User(0xe40c_292c));
    }
}
