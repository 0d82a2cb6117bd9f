//! The text of an answer, packed in pieces. Between them belongs the URL of the service, which is put in on the way to a device: so
//! nothing is packed or kept for a URL that a caller may have made up, of which there is no end.

use std::io::Read;
use std::mem;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use base::{Error, Result};
use bytes::Bytes;
use flate2::read::DeflateDecoder;
use flate2::{Compress, Compression, Crc, FlushCompress};
use model::time::UtcMillis;

/// The head of gzip, without a name and a date.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// The block that ends what is packed, and has nothing in it.
const LAST_BLOCK: [u8; 2] = [3, 0];
/// Room for packed bytes is made in such steps.
const STEP_BYTES: usize = 32 * 1024;
/// What a text takes besides its bytes.
const KEPT_BYTES: usize = 1024;

pub(crate) struct Text {
    /// Of the whole text, with a mark instead of the URL.
    pub(crate) hash: Vec<u8>,
    /// When its data changed last.
    pub(crate) changed: UtcMillis,
    deflated: Vec<u8>,
    pieces: Vec<Piece>,
    /// Unpacked for the first device that wants it so; nearly all take it packed.
    plain: OnceLock<Vec<u8>>,
}

/// Where a piece ends, packed and plain.
struct Piece {
    deflated_end: usize,
    plain_end: usize,
    crc: Crc,
}

#[derive(Clone, Copy)]
enum Form {
    Gzip,
    Plain,
}

/// A text on its way to a device, piece by piece. However many there are, and however slowly they are read, they share the pieces.
pub struct DataText {
    head: Bytes,
    body: Bytes,
    between: Bytes,
    tail: Bytes,
    text: Arc<Text>,
    form: Form,
    n_done: usize,
    n_left: u64,
}

/// The packed pieces as bytes that keep their text in memory.
struct Deflated(Arc<Text>);

struct Plain(Arc<Text>);

impl Text {
    pub(crate) fn pack<'t>(pieces: impl Iterator<Item = &'t str>, hash: Vec<u8>, changed: UtcMillis) -> Result<Self> {
        let mut compress = Compress::new(Compression::default(), false);
        let mut text = Self { hash, changed, deflated: Vec::new(), pieces: Vec::new(), plain: OnceLock::new() };
        let mut plain_end = 0;
        for piece in pieces {
            // None refers back to another, so that anything may stand in between.
            compress.reset();
            deflate(&mut compress, piece.as_bytes(), &mut text.deflated)?;
            plain_end += piece.len();
            text.pieces.push(Piece { deflated_end: text.deflated.len(), plain_end, crc: crc(piece) });
        }
        text.deflated.shrink_to_fit();
        Ok(text)
    }

    /// What it takes in memory.
    pub(crate) fn n_bytes(&self) -> usize {
        let n_plain = self.plain.get().map_or(0, Vec::len);
        KEPT_BYTES + self.deflated.len() + self.pieces.len() * size_of::<Piece>() + n_plain
    }

    pub(crate) fn gzip(self: &Arc<Self>, between: &str) -> DataText {
        let (mut whole, of_between) = (Crc::new(), crc(between));
        for (n, piece) in self.pieces.iter().enumerate() {
            if n > 0 {
                whole.combine(&of_between);
            }
            whole.combine(&piece.crc);
        }
        let tail = [&LAST_BLOCK[..], &whole.sum().to_le_bytes(), &whole.amount().to_le_bytes()].concat();
        let (head, body) = (Bytes::from_static(&GZIP_HEAD), Bytes::from_owner(Deflated(self.clone())));
        DataText::new(self.clone(), Form::Gzip, [head, body, stored(between.as_bytes()), tail.into()])
    }

    /// `None` until it is unpacked.
    pub(crate) fn plain(self: &Arc<Self>, between: &str) -> Option<DataText> {
        self.plain.get()?;
        let (nothing, body) = (Bytes::new(), Bytes::from_owner(Plain(self.clone())));
        let parts = [nothing.clone(), body, Bytes::copy_from_slice(between.as_bytes()), nothing];
        Some(DataText::new(self.clone(), Form::Plain, parts))
    }

    pub(crate) fn unpack(&self) -> Result<()> {
        if self.plain.get().is_some() {
            return Ok(());
        }
        let mut plain = Vec::with_capacity(self.pieces.last().map_or(0, |last| last.plain_end));
        let whole = self.deflated.as_slice().chain(LAST_BLOCK.as_slice());
        DeflateDecoder::new(whole).read_to_end(&mut plain).map_err(Error::internal)?;
        // Another request may have been quicker.
        self.plain.get_or_init(|| plain);
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn of_size(n_bytes: usize) -> Self {
        let (deflated, pieces) = (vec![0; n_bytes], Vec::new());
        Self { hash: Vec::new(), changed: UtcMillis::default(), deflated, pieces, plain: OnceLock::new() }
    }

    fn range(&self, form: Form, n: usize) -> Range<usize> {
        let end = |piece: &Piece| match form {
            Form::Gzip => piece.deflated_end,
            Form::Plain => piece.plain_end,
        };
        let begin = n.checked_sub(1).and_then(|before| self.pieces.get(before)).map_or(0, end);
        begin..self.pieces.get(n).map_or(begin, end)
    }
}

impl DataText {
    fn new(text: Arc<Text>, form: Form, [head, body, between, tail]: [Bytes; 4]) -> Self {
        let n_between = between.len() * text.pieces.len().saturating_sub(1);
        let n_left = (head.len() + body.len() + n_between + tail.len()) as u64;
        Self { head, body, between, tail, text, form, n_done: 0, n_left }
    }

    /// Bytes that are still to come.
    pub const fn n_left(&self) -> u64 {
        self.n_left
    }
}

impl Iterator for DataText {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        // The head, the pieces with the URL between them, and the tail.
        let last = 2 * self.text.pieces.len();
        while self.n_done <= last {
            let next = match self.n_done {
                0 => mem::take(&mut self.head),
                n if n == last => mem::take(&mut self.tail),
                n if n % 2 == 1 => self.body.slice(self.text.range(self.form, n / 2)),
                _ => self.between.clone(),
            };
            self.n_done += 1;
            if !next.is_empty() {
                self.n_left -= next.len() as u64;
                return Some(next);
            }
        }
        None
    }
}

impl AsRef<[u8]> for Deflated {
    fn as_ref(&self) -> &[u8] {
        &self.0.deflated
    }
}

impl AsRef<[u8]> for Plain {
    fn as_ref(&self) -> &[u8] {
        self.0.plain.get().map_or(&[], Vec::as_slice)
    }
}

/// Appends a packed piece that ends with a whole byte.
fn deflate(compress: &mut Compress, piece: &[u8], packed: &mut Vec<u8>) -> Result<()> {
    let mut left = piece;
    loop {
        packed.reserve(STEP_BYTES);
        let before = compress.total_in();
        compress.compress_vec(left, packed, FlushCompress::Sync).map_err(Error::internal)?;
        let n_read = usize::try_from(compress.total_in() - before).map_err(Error::internal)?;
        left = left.get(n_read..).unwrap_or_default();
        // Room that is left shows that everything has come out.
        if packed.len() < packed.capacity() {
            return Ok(());
        }
    }
}

/// A text in blocks that are not packed. They fit between packed pieces, because they, too, are made of whole bytes.
fn stored(text: &[u8]) -> Bytes {
    let mut blocks = Vec::with_capacity(text.len() + 5);
    for block in text.chunks(usize::from(u16::MAX)) {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        blocks.push(0);
        blocks.extend(length.to_le_bytes());
        blocks.extend((!length).to_le_bytes());
        blocks.extend(block);
    }
    blocks.into()
}

fn crc(text: &str) -> Crc {
    let mut crc = Crc::new();
    crc.update(text.as_bytes());
    crc
}

#[cfg(test)]
mod tests {
    use flate2::bufread::GzDecoder;

    use super::*;

    /// A text of letters that do not pack well, so that a piece is longer than the steps in which it is packed.
    fn letters(n: u32) -> String {
        let mut state = n;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b' ' + u8::try_from(state >> 24).unwrap() / 3)
        };
        (0..n).map(|_| next()).collect()
    }

    fn text(pieces: &[String]) -> Arc<Text> {
        let packed = Text::pack(pieces.iter().map(String::as_str), Vec::new(), UtcMillis::default());
        Arc::new(packed.unwrap())
    }

    fn whole(text: DataText) -> Vec<u8> {
        let n_bytes = text.n_left();
        let whole = text.collect::<Vec<_>>().concat();
        assert_eq!(whole.len() as u64, n_bytes);
        whole
    }

    #[test]
    fn any_url_stands_between_the_pieces() {
        for sizes in [vec![0], vec![1], vec![200_000], vec![3, 0, 70_000, 1, 40_000]] {
            let pieces: Vec<String> = sizes.into_iter().map(letters).collect();
            let text = text(&pieces);
            text.unpack().unwrap();
            for between in ["", "http://a.example", &letters(150_000)] {
                let expected = pieces.join(between);
                assert!(whole(text.plain(between).unwrap()) == expected.as_bytes());
                let packed = whole(text.gzip(between));
                let mut unpacked = Vec::new();
                let mut decoder = GzDecoder::new(packed.as_slice());
                decoder.read_to_end(&mut unpacked).unwrap();
                assert!(unpacked == expected.as_bytes() && decoder.into_inner().is_empty());
            }
        }
    }

    #[test]
    fn slow_readers_share_a_text() {
        let text = text(&[letters(100_000), letters(10)]);
        assert!(text.plain("http://a.example").is_none(), "nobody has asked for it");
        text.unpack().unwrap();
        let before = text.n_bytes();
        text.unpack().unwrap();
        assert_eq!(text.n_bytes(), before);
        let (mut a, mut b) = (text.plain("http://a.example").unwrap(), text.plain("http://b.example").unwrap());
        assert_eq!(a.next().unwrap().as_ptr(), b.next().unwrap().as_ptr());
        let (mut a, mut b) = (text.gzip("http://a.example"), text.gzip("http://b.example"));
        assert_eq!(a.nth(1).unwrap().as_ptr(), b.nth(1).unwrap().as_ptr());
    }

    #[test]
    fn what_is_being_read_keeps_its_text() {
        let text = text(&[letters(1000)]);
        let weak = Arc::downgrade(&text);
        let mut reader = text.gzip("");
        drop(text);
        let body = reader.nth(1).unwrap();
        drop(reader);
        assert!(weak.upgrade().is_some(), "the bytes are still to be sent");
        drop(body);
        assert!(weak.upgrade().is_none());
    }
}
