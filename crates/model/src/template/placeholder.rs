//! `{{KEY}}` in a text: where the value of a variable goes. Spaces beside the key make no difference, and anything else in
//! double braces is text.

use super::variable::{is_in_keys, is_key};
use crate::limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// Takes a text apart. The pieces together are the text.
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
    let inner = text.strip_prefix("{{")?.trim_start_matches(' ');
    // Not searched any further than a key can be long: a text may be full of opening braces.
    let n_key = inner.bytes().take(limits::TEMPLATE_VARIABLE_CHARS + 1).take_while(|byte| is_in_keys(*byte)).count();
    let (key, after) = inner.split_at(n_key);
    let rest = after.trim_start_matches(' ').strip_prefix("}}")?;
    is_key(key).then_some((key, text.len() - rest.len()))
}

/// The variables of a text, each as often as it occurs.
pub(super) fn keys(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Variable(key) => Some(key),
        Piece::Text(_) => None,
    })
}

pub(super) fn is_in(text: &str) -> bool {
    keys(text).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_full_of_braces_is_read_once() {
        // Quadratic, this would take minutes.
        let text = "{".repeat(1024 * 1024);
        assert_eq!(pieces(&text).collect::<Vec<_>>(), [Piece::Text(text.as_str())]);
        let long = format!("{{{{ {} }}}}", "k".repeat(limits::TEMPLATE_VARIABLE_CHARS + 1));
        assert!(!is_in(&long));
        for text in ["{{A}}", "{{ A }}", "{{{A}}", "{{A}}}}", "{{ {{A}}"] {
            assert_eq!(keys(text).collect::<Vec<_>>(), ["A"], "{text}");
        }
        for text in ["{{A B}}", "{{A}", "{{}}", "{{A }", "{{é}}"] {
            assert!(!is_in(text), "{text}");
        }
    }
}
