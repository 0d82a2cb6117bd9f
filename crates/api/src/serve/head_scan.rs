//! Follows the bytes of a connection from head to body to head, to see whether a head has begun and is not complete, and to
//! refuse line feeds without a carriage return in heads. hyper takes these, some proxies do not, and where two parties disagree
//! about the end of a line, a request can be hidden inside another.
//!
//! It is no parser of HTTP: what it does not understand, hyper refuses.

/// Put in place of a line feed that stands alone, so that hyper refuses the head: no head contains it.
const NOT_IN_A_HEAD: u8 = 0;
/// Of a line, to recognize the two headers that tell how long the body is. The rest of a longer line says nothing.
const MOST_LINE_BYTES: usize = 128;

#[derive(Debug, Default)]
pub(super) struct HeadScan {
    part: Part,
    /// The beginning of the line that the last bytes have left open.
    line: Vec<u8>,
    /// The last byte of it.
    last: Option<u8>,
    n_head_lines: usize,
    framing: Framing,
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
    /// hyper will refuse what has come, or reads no more requests.
    Lost,
}

#[derive(Debug, Default, Clone, Copy)]
enum Framing {
    #[default]
    None,
    Length(u64),
    Chunked,
}

impl HeadScan {
    /// Takes note of the next bytes, and spoils the first line feed that stands alone.
    pub(super) fn scan(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            bytes = match &mut self.part {
                Part::Lost => return,
                Part::Body(left) | Part::Chunk(left) => {
                    let n_skipped = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= n_skipped as u64;
                    if *left == 0 {
                        self.part = if matches!(self.part, Part::Body(_)) { Part::Head } else { Part::ChunkSize };
                    }
                    &mut bytes[n_skipped..]
                }
                Part::Head | Part::ChunkSize | Part::Trailer => self.line(bytes),
            };
        }
    }

    /// Whether a head has begun and its end has not come.
    pub(super) fn is_inside_head(&self) -> bool {
        matches!(self.part, Part::Head) && (self.n_head_lines > 0 || self.last.is_some())
    }

    /// Takes the rest of a line, or all bytes if it does not end in them.
    fn line<'b>(&mut self, bytes: &'b mut [u8]) -> &'b mut [u8] {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.keep(bytes);
            return &mut [];
        };
        let (line, rest) = bytes.split_at_mut(end + 1);
        let before = if end > 0 { Some(line[end - 1]) } else { self.last };
        if before != Some(b'\r') {
            line[end] = NOT_IN_A_HEAD;
            self.part = Part::Lost;
            return rest;
        }
        self.keep(&line[..end]);
        self.end_line();
        self.line.clear();
        self.last = None;
        rest
    }

    fn keep(&mut self, bytes: &[u8]) {
        let n_kept = bytes.len().min(MOST_LINE_BYTES.saturating_sub(self.line.len()));
        self.line.extend_from_slice(&bytes[..n_kept]);
        self.last = bytes.last().copied().or(self.last);
    }

    /// The line is kept with its carriage return, unless it is too long.
    fn end_line(&mut self) {
        let line = self.line.trim_ascii();
        match self.part {
            Part::Head if line.is_empty() && self.n_head_lines == 0 => {}
            Part::Head if line.is_empty() => {
                self.part = match std::mem::take(&mut self.framing) {
                    Framing::None | Framing::Length(0) => Part::Head,
                    Framing::Length(n_bytes) => Part::Body(n_bytes),
                    Framing::Chunked => Part::ChunkSize,
                };
                self.n_head_lines = 0;
            }
            Part::Head => {
                self.n_head_lines += 1;
                if let Some(framing) = framing(line) {
                    self.framing = match self.framing {
                        Framing::Chunked => Framing::Chunked,
                        Framing::None | Framing::Length(_) => framing,
                    };
                }
            }
            Part::ChunkSize => {
                let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
                let size = str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
                self.part = match size {
                    Some(0) => Part::Trailer,
                    Some(size) => Part::Chunk(size.saturating_add(2)),
                    None => Part::Lost,
                };
            }
            Part::Trailer if line.is_empty() => self.part = Part::Head,
            Part::Trailer | Part::Body(_) | Part::Chunk(_) | Part::Lost => {}
        }
    }
}

/// How long the body is, if a line of a head tells that. A length that cannot be read is none: hyper refuses it.
fn framing(line: &[u8]) -> Option<Framing> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    if name.eq_ignore_ascii_case(b"content-length") {
        return str::from_utf8(value).ok()?.parse().ok().map(Framing::Length);
    }
    name.eq_ignore_ascii_case(b"transfer-encoding").then_some(Framing::Chunked)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text that comes in pieces of a length, and whether it ends inside a head.
    fn scanned(text: &str, piece: usize) -> (String, bool) {
        let (mut scan, mut bytes) = (HeadScan::default(), text.as_bytes().to_vec());
        for piece in bytes.chunks_mut(piece) {
            scan.scan(piece);
        }
        (String::from_utf8(bytes).unwrap(), scan.is_inside_head())
    }

    #[test]
    fn bodies_may_have_line_feeds_and_heads_may_not() {
        let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        let post = "\r\nPOST / HTTP/1.1\r\nContent-Length:  5\r\nHost: x\r\n\r\na\nb\n\n";
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n\
                       3;x=y\r\n\n\n\n\r\nA\r\n\n\n\n\n\n\n\n\n\n\n\r\n0\r\nX: y\r\n\r\n";
        for text in [get.to_owned(), [get, post, get].concat(), [chunked, get, post].concat()] {
            for piece in [1, 2, 3, 7, 10_000] {
                assert_eq!(scanned(&text, piece), (text.clone(), false), "in pieces of {piece}");
            }
        }
        for bad in
            ["GET / HTTP/1.1\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\n\r\n", "GET / HTTP/1.1\r\nA: b\r\n\n", "\n"]
        {
            for before in ["".to_owned(), post.to_owned(), [chunked, get].concat()] {
                for piece in [1, 2, 3, 7, 10_000] {
                    let (left, _) = scanned(&format!("{before}{bad}"), piece);
                    assert!(left.starts_with(&before) && left[before.len()..].contains('\0'), "{bad:?} in {piece}");
                }
            }
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
                assert_eq!(scanned(text, piece).1, is_inside, "{text:?}");
            }
        }
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n", "x".repeat(1000));
        assert!(scanned(&long, 17).1);
        assert!(!scanned(&format!("{long}\r\n"), 17).1);
    }
}
