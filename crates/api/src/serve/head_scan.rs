//! Follows the bytes of a connection from head to body to head, to see whether a head has begun and is not complete, and to
//! refuse requests whose end a proxy in front may see elsewhere: a request could be hidden inside such a one. These are line feeds
//! without a carriage return, in heads and in the lines between chunks, bodies whose length is told in two ways, and lines about
//! the length that are too long to be read here.
//!
//! It is no parser of HTTP: what it does not understand, hyper refuses. No byte after the first refused one reaches hyper, so
//! that nothing depends on how hyper reads on.

/// Given to hyper in place of the rest of a head that is refused, so that hyper answers 400: no head contains a NUL, and hyper does
/// not look at a head that came in pieces before its end.
pub(super) const END_OF_REFUSED_HEAD: &[u8] = b"\0\r\n\r\n";

/// Of a line, to recognize the two headers that tell how long the body is, and to read the size of a chunk.
const MOST_LINE_BYTES: usize = 128;

#[derive(Debug, Default)]
pub(super) struct HeadScan {
    part: Part,
    /// The beginning of the line that the last bytes have left open.
    line: Vec<u8>,
    /// Whether the line is longer than that.
    is_cut: bool,
    /// The last byte of the line.
    last: Option<u8>,
    n_head_lines: usize,
    framing: Framing,
}

/// The first byte that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused {
    /// Bytes before it, among those that were scanned last.
    pub(super) n_before: usize,
    /// Otherwise it is between the chunks of a body, or after them.
    pub(super) is_in_head: bool,
}

#[derive(Debug, Default)]
enum Part {
    #[default]
    Head,
    Body(u64),
    ChunkSize,
    /// With the line break after it.
    Chunk(u64),
    Trailer,
}

#[derive(Debug, Default, Clone, Copy)]
enum Framing {
    #[default]
    None,
    Length(u64),
    Chunked,
}

/// A line that says something about the length of a body, and cannot be relied upon.
struct Ambiguous;

impl HeadScan {
    /// Takes note of the next bytes. After a refusal there are no next bytes.
    pub(super) fn scan(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if let Part::Body(left) | Part::Chunk(left) = &mut self.part {
                let n_skipped = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                *left -= n_skipped as u64;
                if *left == 0 {
                    self.part = if matches!(self.part, Part::Body(_)) { Part::Head } else { Part::ChunkSize };
                }
                rest = &rest[n_skipped..];
                continue;
            }
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                self.keep(rest);
                return Ok(());
            };
            self.keep(&rest[..end]);
            if self.last != Some(b'\r') || self.end_line().is_err() {
                let n_before = bytes.len() - rest.len() + end;
                return Err(Refused { n_before, is_in_head: matches!(self.part, Part::Head) });
            }
            self.line.clear();
            (self.is_cut, self.last) = (false, None);
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    /// Whether a head has begun and its end has not come.
    pub(super) fn is_inside_head(&self) -> bool {
        matches!(self.part, Part::Head) && (self.n_head_lines > 0 || self.last.is_some())
    }

    fn keep(&mut self, bytes: &[u8]) {
        let n_kept = bytes.len().min(MOST_LINE_BYTES.saturating_sub(self.line.len()));
        self.line.extend_from_slice(&bytes[..n_kept]);
        self.is_cut |= n_kept < bytes.len();
        self.last = bytes.last().copied().or(self.last);
    }

    /// The line is kept with its carriage return, unless it is too long.
    fn end_line(&mut self) -> Result<(), Ambiguous> {
        let is_empty = self.line == b"\r";
        match self.part {
            Part::Head if is_empty && self.n_head_lines == 0 => {}
            Part::Head if is_empty => {
                self.part = match std::mem::take(&mut self.framing) {
                    Framing::None | Framing::Length(0) => Part::Head,
                    Framing::Length(n_bytes) => Part::Body(n_bytes),
                    Framing::Chunked => Part::ChunkSize,
                };
                self.n_head_lines = 0;
            }
            Part::Head => {
                self.n_head_lines += 1;
                self.framing = match (self.framing, framing(&self.line)?) {
                    (before, Framing::None) => before,
                    _ if self.is_cut => return Err(Ambiguous),
                    (Framing::Chunked, Framing::Length(_)) | (Framing::Length(_), Framing::Chunked) => {
                        return Err(Ambiguous);
                    }
                    (Framing::Length(before), Framing::Length(now)) if before != now => return Err(Ambiguous),
                    (_, now) => now,
                };
            }
            Part::ChunkSize => {
                let size = if self.is_cut { None } else { chunk_size(&self.line) };
                self.part = match size.ok_or(Ambiguous)? {
                    0 => Part::Trailer,
                    size => Part::Chunk(size.saturating_add(2)),
                };
            }
            Part::Trailer if is_empty => self.part = Part::Head,
            Part::Trailer | Part::Body(_) | Part::Chunk(_) => {}
        }
        Ok(())
    }
}

/// How long the body is, if a line of a head tells that.
fn framing(line: &[u8]) -> Result<Framing, Ambiguous> {
    let Some(colon) = line.iter().position(|byte| *byte == b':') else { return Ok(Framing::None) };
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    if name.eq_ignore_ascii_case(b"content-length") {
        return number(value, 10).map(Framing::Length).ok_or(Ambiguous);
    }
    Ok(if name.eq_ignore_ascii_case(b"transfer-encoding") { Framing::Chunked } else { Framing::None })
}

fn chunk_size(line: &[u8]) -> Option<u64> {
    number(line.split(|byte| *byte == b';').next()?.trim_ascii_end(), 16)
}

/// Digits alone; the parser of numbers takes a sign as well.
fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let digits = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    const POST: &str = "\r\nPOST / HTTP/1.1\r\nContent-Length:  5\r\nHost: x\r\n\r\na\nb\n\n";
    const CHUNKED: &str = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                           3;x=y\r\n\n\n\n\r\nA\r\n\n\n\n\n\n\n\n\n\n\n\r\n0\r\nX: y\r\n\r\n";
    const PIECES: [usize; 5] = [1, 2, 3, 7, 10_000];

    /// What passes of a text that comes in pieces of a length, where the first refused byte is, and whether it ends inside a head.
    fn scanned(text: &str, piece: usize) -> (usize, Option<bool>, bool) {
        let (mut scan, mut n_passed) = (HeadScan::default(), 0);
        for piece in text.as_bytes().chunks(piece) {
            if let Err(refused) = scan.scan(piece) {
                return (n_passed + refused.n_before, Some(refused.is_in_head), scan.is_inside_head());
            }
            n_passed += piece.len();
        }
        (n_passed, None, scan.is_inside_head())
    }

    #[track_caller]
    fn assert_refused(text: &str, n_passed: usize, is_in_head: bool) {
        for before in ["".to_owned(), POST.to_owned(), [CHUNKED, GET].concat()] {
            for piece in PIECES {
                let (found, place, _) = scanned(&format!("{before}{text}{GET}"), piece);
                assert_eq!((found, place), (before.len() + n_passed, Some(is_in_head)), "{text:?} in {piece}");
            }
        }
    }

    #[test]
    fn bodies_may_have_line_feeds_and_heads_may_not() {
        for text in [GET.to_owned(), [GET, POST, GET].concat(), [CHUNKED, GET, POST].concat()] {
            for piece in PIECES {
                assert_eq!(scanned(&text, piece), (text.len(), None, false), "in pieces of {piece}");
            }
        }
        for (good, bad) in [
            ("GET / HTTP/1.1", "\nHost: x\r\n\r\n"),
            ("GET / HTTP/1.1\r\nHost: x", "\n\r\n"),
            ("GET / HTTP/1.1\r\nA: b\r\n", "\n"),
            ("", "\n"),
        ] {
            assert_refused(&format!("{good}{bad}"), good.len(), true);
        }
    }

    #[test]
    fn lines_between_chunks_end_like_those_of_heads() {
        let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let zeros = "0".repeat(200);
        for (good, bad) in [
            ("3", "\nabc\r\n"),
            ("3;x", "\nabc\r\n"),
            ("3\r\nabc\r\n0", "\n\r\n"),
            ("3\r\nabc\r\n0\r\n", "\n"),
            ("0\r\nX: y", "\n\r\n"),
            ("0\r\nX: y\r\nZ", "\n\r\n"),
            ("x\r", "\n"),
            ("\r", "\n"),
            ("3 3\r", "\n"),
            (" 3\r", "\n"),
            ("+3\r", "\n"),
            ("10000000000000000\r", "\n"),
            (&format!("{zeros}3\r"), "\nabc\r\n"),
        ] {
            assert_refused(&format!("{head}{good}{bad}"), head.len() + good.len(), false);
        }
    }

    #[test]
    fn the_length_of_a_body_is_told_in_one_way() {
        let spaces = " ".repeat(200);
        for good in [
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\nHost: x\r\ncontent-length: 1\r",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r",
            "POST / HTTP/1.1\r\nContent-Length: +1\r",
            "POST / HTTP/1.1\r\nContent-Length: 1, 1\r",
            "POST / HTTP/1.1\r\nContent-Length:\r",
            &format!("POST / HTTP/1.1\r\nContent-Length:{spaces}1\r"),
            &format!("POST / HTTP/1.1\r\nTransfer-Encoding:{spaces}chunked\r"),
        ] {
            assert_refused(&format!("{good}\n\r\n"), good.len(), true);
        }
    }

    #[test]
    fn a_head_begins_with_its_first_byte_and_ends_with_an_empty_line() {
        for (text, is_inside) in [
            ("", false),
            ("G", true),
            ("GET / HTTP/1.1\r\nHost: x\r\n", true),
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", false),
            ("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n1", false),
            ("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n12", false),
            ("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n12P", true),
        ] {
            for piece in [1, 10_000] {
                assert_eq!(scanned(text, piece).2, is_inside, "{text:?}");
            }
        }
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n", "x".repeat(1000));
        assert!(scanned(&long, 17).2);
        assert!(!scanned(&format!("{long}\r\n"), 17).2);
    }
}
