//! The byte order mark that some programs begin text files with. A chunk of a file may hold any part of it.

const MARK: &[u8] = b"\xef\xbb\xbf";

/// The beginning of one file.
pub(crate) struct ByteOrderMark {
    /// How much of a mark the file has begun with; `None` once that is settled.
    n_seen: Option<usize>,
}

impl Default for ByteOrderMark {
    fn default() -> Self {
        Self { n_seen: Some(0) }
    }
}

impl ByteOrderMark {
    /// A chunk of the file without the mark: what earlier chunks ended with that is no mark after all, and the rest of this one.
    pub(crate) fn skip<'c>(&mut self, mut chunk: &'c [u8]) -> (&'static [u8], &'c [u8]) {
        while let (Some(n_seen), [byte, rest @ ..]) = (self.n_seen, chunk) {
            if *byte != MARK[n_seen] {
                self.n_seen = None;
                return (&MARK[..n_seen], chunk);
            }
            self.n_seen = (n_seen + 1 < MARK.len()).then_some(n_seen + 1);
            chunk = rest;
        }
        (&[], chunk)
    }

    /// What the file ended with, if that is a part of a mark only.
    pub(crate) fn finish(&mut self) -> &'static [u8] {
        &MARK[..self.n_seen.take().unwrap_or(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_mark_at_the_beginning_is_skipped() {
        for (file, expected) in [
            (&b"\xef\xbb\xbfab"[..], &b"ab"[..]),
            (b"\xef\xbb\xbf\xef\xbb\xbfa", b"\xef\xbb\xbfa"),
            (b"a\xef\xbb\xbf", b"a\xef\xbb\xbf"),
            (b"\xef\xbba", b"\xef\xbba"),
            (b"\xef\xbb", b"\xef\xbb"),
            (b"\xef\xbb\xbf", b""),
            (b"", b""),
        ] {
            for piece in 1..=4 {
                let (mut mark, mut read) = (ByteOrderMark::default(), Vec::new());
                for chunk in file.chunks(piece) {
                    let (held, rest) = mark.skip(chunk);
                    read.extend_from_slice(held);
                    read.extend_from_slice(rest);
                }
                read.extend_from_slice(mark.finish());
                assert_eq!(read, expected, "{file:?} in pieces of {piece}");
            }
        }
    }
}
