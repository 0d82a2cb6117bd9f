//! The texts of errors: all problems in one, and what of them may stand in a log.

use model::problem::Problems;

/// Texts that quote the request are cut here, so that an answer never outgrows the question.
const MOST_QUOTED_CHARS: usize = 1000;

/// Every problem, since strict clients leave no other place for the second one.
pub(super) fn all_of(problems: &Problems) -> String {
    let sentences: Vec<String> = problems
        .iter()
        .map(|problem| match problem.path.as_str() {
            "" => cut(&problem.message),
            path => format!("{}: {}", cut(path), cut(&problem.message)),
        })
        .collect();
    match sentences.len() {
        1 => sentences.concat(),
        several => format!("{several} problems: {}", sentences.join(" | ")),
    }
}

/// The path of a problem as the log may show it. Callers choose some of the names in it, such as those of tag groups, and may
/// choose the address of a person: a path with a name that is no plain word is not shown at all, because a name with a dot in it
/// looks like two.
pub(super) fn loggable(path: &str) -> String {
    const MOST_NAME_CHARS: usize = 40;
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
    let is_plain = |name: &str| name.len() <= MOST_NAME_CHARS && name.chars().all(is_of_word);
    // The lines of an uploaded list are the only places without a key.
    let is_line = path.strip_prefix("line ").is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
    if is_line || path.split(['.', '[', ']']).all(is_plain) { path.to_owned() } else { "*".to_owned() }
}

/// The beginning of a text that may quote a request.
pub(crate) fn cut(text: &str) -> String {
    beginning(text, MOST_QUOTED_CHARS)
}

/// So many characters of a text, which ends with an ellipsis if it has more.
pub(crate) fn beginning(text: &str, most_chars: usize) -> String {
    match text.char_indices().nth(most_chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
