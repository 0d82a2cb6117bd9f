//! Marks: what stands in a push where something is filled in. They pass through everything that writes texts, and tell afterwards
//! how the text around them is to be escaped.

/// Begins and ends a mark. Texts that have it themselves are varying as a whole, so that it stands for nothing else.
pub(super) const MARK: char = '\u{E5A7}';
/// The part of a mark that every kind of text writes in its own way.
const PROBE: char = '"';

/// A piece of a text with marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    Text(&'t str),
    /// The number of a varying text, and what became of the quotation mark: `"`, or that with backslashes, or `&quot;`.
    Mark {
        number: usize,
        quotation_mark: &'t str,
    },
}

pub(super) fn mark(number: usize) -> String {
    format!("{MARK}{number}{PROBE}{MARK}")
}

/// Takes a text apart at its marks.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(MARK).unwrap_or(rest.len());
        if start > 0 {
            let (text, after) = rest.split_at(start);
            rest = after;
            return Some(Piece::Text(text));
        }
        let inner = rest.strip_prefix(MARK)?;
        let (mark, after) = inner.split_once(MARK).unwrap_or((inner, ""));
        rest = after;
        let n_digits = mark.bytes().take_while(u8::is_ascii_digit).count();
        let (number, quotation_mark) = mark.split_at(n_digits);
        // What marks are not of our making cannot be here.
        Some(Piece::Mark { number: number.parse().unwrap_or(usize::MAX), quotation_mark })
    })
}
