//! The sections of a snapshot: their kinds, how far each stands in the log, and checksums.
//!
//! A checksum covers everything before it, so that it also recognizes a file that begins as one snapshot and continues
//! as another: an interrupted write over an older file leaves such a file.

use std::io::{self, ErrorKind, Read, Write};

use crc32fast::Hasher;
use model::ids::Offset;

use super::SnapshotError;

const MAGIC: [u8; 15] = *b"aerogram index\n";
/// An index of another version is built anew.
pub(super) const VERSION: u8 = 1;

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Names,
    Shard,
    End,
}

impl Kind {
    const fn byte(self) -> u8 {
        match self {
            Kind::Names => b'n',
            Kind::Shard => b's',
            Kind::End => b'e',
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        [Kind::Names, Kind::Shard, Kind::End].into_iter().find(|kind| kind.byte() == byte)
    }
}

pub(super) struct SectionWriter<'a, W> {
    out: &'a mut W,
    sum: Hasher,
}

impl<'a, W: Write> SectionWriter<'a, W> {
    pub(super) fn begin(out: &'a mut W) -> io::Result<Self> {
        let mut writer = Self { out, sum: Hasher::new() };
        writer.put(&MAGIC)?;
        writer.put(&[VERSION])?;
        Ok(writer)
    }

    pub(super) fn section(&mut self, kind: Kind, offset: Offset, body: &[u8]) -> io::Result<()> {
        self.put(&[kind.byte()])?;
        self.put(&offset.0.to_le_bytes())?;
        self.put(&(body.len() as u64).to_le_bytes())?;
        self.put_sum()?;
        self.put(body)?;
        self.put_sum()
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.out.write_all(bytes)
    }

    fn put_sum(&mut self) -> io::Result<()> {
        self.out.write_all(&self.sum.clone().finalize().to_le_bytes())
    }
}

pub(super) struct SectionReader<'a, R> {
    input: &'a mut R,
    sum: Hasher,
}

impl<'a, R: Read> SectionReader<'a, R> {
    pub(super) fn begin(input: &'a mut R) -> Result<Self, SnapshotError> {
        let mut magic = Vec::new();
        input.take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(SnapshotError::Read)?;
        if !MAGIC.starts_with(&magic) {
            return Err(SnapshotError::Foreign);
        }
        let mut reader = Self { input, sum: Hasher::new() };
        reader.sum.update(&magic);
        let [version] = reader.take()?;
        if version == VERSION { Ok(reader) } else { Err(SnapshotError::Version(version)) }
    }

    /// Reads the next section. Replaces the content of `body`.
    pub(super) fn section(&mut self, body: &mut Vec<u8>) -> Result<(Kind, Offset), SnapshotError> {
        let [kind] = self.take()?;
        let offset = Offset(i64::from_le_bytes(self.take()?));
        let length = u64::from_le_bytes(self.take()?);
        // Before the length is believed.
        self.check_sum()?;
        body.clear();
        self.input.take(length).read_to_end(body).map_err(SnapshotError::Read)?;
        if (body.len() as u64) < length {
            return Err(SnapshotError::Truncated);
        }
        self.sum.update(body);
        self.check_sum()?;
        let kind = Kind::from_byte(kind).ok_or(SnapshotError::Damaged("a section is of no known kind"))?;
        Ok((kind, offset))
    }

    fn take<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], SnapshotError> {
        let bytes = self.fill()?;
        self.sum.update(&bytes);
        Ok(bytes)
    }

    fn check_sum(&mut self) -> Result<(), SnapshotError> {
        let right = u32::from_le_bytes(self.fill()?) == self.sum.clone().finalize();
        if right { Ok(()) } else { Err(SnapshotError::Damaged("a checksum does not match")) }
    }

    fn fill<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], SnapshotError> {
        let mut bytes = [0; LENGTH];
        match self.input.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(SnapshotError::Truncated),
            Err(error) => Err(SnapshotError::Read(error)),
        }
    }
}
