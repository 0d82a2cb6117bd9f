//! `{{KEY}}` in a text: where the value of a variable goes. Spaces beside the key make no difference, and anything else in
//! double braces is text.

use super::variable::is_key;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// Takes a text apart. Together the pieces are the text.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, n_bytes) = first_piece(rest)?;
        rest = &rest[n_bytes..];
        Some(piece)
    })
}

/// The first piece of a text, and how much of the text it is.
fn first_piece(text: &str) -> Option<(Piece<'_>, usize)> {
    let mut from = 0;
    while let Some(found) = text[from..].find("{{") {
        let start = from + found;
        if let Some((key, n_bytes)) = placeholder(&text[start..]) {
            return Some(match start {
                0 => (Piece::Variable(key), n_bytes),
                _ => (Piece::Text(&text[..start]), start),
            });
        }
        from = start + 1;
    }
    (!text.is_empty()).then_some((Piece::Text(text), text.len()))
}

/// The key of the placeholder a text begins with, and the length of the whole.
fn placeholder(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix("{{")?;
    let end = inner.find("}}")?;
    let key = inner[..end].trim_matches(' ');
    is_key(key).then_some((key, end + 4))
}

/// The variables of a text, each as often as it is there.
pub(super) fn keys(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Variable(key) => Some(key),
        Piece::Text(_) => None,
    })
}

pub(super) fn is_in(text: &str) -> bool {
    keys(text).next().is_some()
}
