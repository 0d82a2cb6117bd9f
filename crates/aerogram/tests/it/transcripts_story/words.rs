//! Words for what is another each time: ids, moments, secrets and positions in the log.

use std::collections::HashMap;

/// `d` stands for a digit and `x` for a hexadecimal one.
const ID: &str = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
const PATTERNS: [(&str, &str); 20] = [
    ("dddd-dd-ddTdd:dd:dd.dddZ", "MOMENT"),
    ("dddd-dd-ddTdd:dd:dd", "MOMENT"),
    ("dddd-dd-dd dd:dd:dd", "MOMENT"),
    ("dddd-dd-dd…", "DAY…"),
    ("dddd-dd-dd", "DAY"),
    ("(xxxxxxxxxxxxxxxx)", "(FINGERPRINT)"),
    ("master secret xxxxxxxx", "master secret MARK"),
    ("dddddd  ", "OFFSET  "),
    ("ddddddd  ", "OFFSET  "),
    ("dddddd bytes", "SOME bytes"),
    ("ddddddd bytes", "SOME bytes"),
    ("bytes\":dddddd,", "bytes\":SOME,"),
    ("bytes\":ddddddd,", "bytes\":SOME,"),
    ("dd tables", "ALL tables"),
    ("ddd tables", "ALL tables"),
    ("dd rows", "SOME rows"),
    ("ddd rows", "SOME rows"),
    ("d ms.", "SOME ms."),
    ("dd ms.", "SOME ms."),
    ("ddd ms.", "SOME ms."),
];
/// A year of which stories speak themselves.
const CHOSEN: &str = "2099";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const SECRET_CHARS: usize = 22;

/// The words of one story: the first id that `aerogram push` prints is `PUSH-1`.
#[derive(Default)]
pub(super) struct Words {
    ids: HashMap<String, String>,
    /// What is no id and yet another each time.
    places: Vec<(String, String)>,
    counts: HashMap<String, usize>,
}

impl Words {
    pub(super) fn know(&mut self, id: &str, word: &str) {
        self.ids.insert(id.to_owned(), word.to_owned());
    }

    pub(super) fn know_place(&mut self, place: &str, word: &str) {
        self.places.push((place.to_owned(), word.to_owned()));
    }

    /// The command with the ids and places that its words stand for.
    pub(super) fn filled(&self, command: &str) -> String {
        let places = self.places.iter().map(|(place, word)| (place, word));
        let mut known: Vec<_> = self.ids.iter().chain(places).collect();
        // PUSH-10 before PUSH-1.
        known.sort_by_key(|(_, word)| std::cmp::Reverse(word.len()));
        known.into_iter().fold(command.to_owned(), |command, (id, word)| command.replace(word, id))
    }

    /// The output of a command with words. Columns stay below each other.
    pub(super) fn told(&mut self, command: &str, output: &str) -> String {
        let mut told = String::new();
        let mut rest = output;
        while let Some(c) = rest.chars().next() {
            let is_inside = told.ends_with(|before: char| before.is_alphanumeric());
            match self.word_at(command, rest).filter(|_| !is_inside) {
                Some((length, word)) => {
                    let (_, after) = rest.split_at(length);
                    let is_cell = after.starts_with("  ");
                    told += &word;
                    told.extend(std::iter::repeat_n(' ', if is_cell { length.saturating_sub(word.len()) } else { 0 }));
                    rest = after;
                }
                None => {
                    told.push(c);
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        told
    }

    /// The word for what a text begins with, and how much of it.
    fn word_at(&mut self, command: &str, text: &str) -> Option<(usize, String)> {
        if let Some((place, word)) = self.places.iter().find(|(place, _)| text.starts_with(place.as_str())) {
            return Some((place.len(), word.clone()));
        }
        if fits(ID, text) {
            let id = &text[..ID.len()];
            let word = self.ids.get(id).cloned().unwrap_or_else(|| self.name(id, command));
            return Some((ID.len(), word));
        }
        if text.starts_with(CHOSEN) {
            return None;
        }
        if text.starts_with(VERSION) {
            return Some((VERSION.len(), "VERSION".to_owned()));
        }
        let found = PATTERNS.iter().find(|(pattern, _)| fits(pattern, text));
        let found = found.map(|(pattern, word)| (pattern.len(), (*word).to_owned()));
        found.or_else(|| is_secret(text).then(|| (SECRET_CHARS, "SECRET".to_owned())))
    }

    fn name(&mut self, id: &str, command: &str) -> String {
        let noun = command.split("aerogram ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or("thing");
        let noun = if noun == "pushes" { "push" } else { noun.trim_end_matches('s') }.to_uppercase();
        let count = self.counts.entry(noun.clone()).or_default();
        *count += 1;
        let word = format!("{noun}-{count}");
        self.know(id, &word);
        word
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    let fits = |(pattern, byte): (u8, u8)| match pattern {
        b'd' => byte.is_ascii_digit(),
        b'x' => byte.is_ascii_hexdigit(),
        other => byte == other,
    };
    text.len() >= pattern.len() && pattern.bytes().zip(text.bytes()).all(fits)
}

/// Random ones have letters of both kinds; the keys that stories choose do not.
fn is_secret(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c)).next().unwrap_or_default();
    let has = |kind: fn(&u8) -> bool| word.bytes().any(|byte| kind(&byte));
    word.len() == SECRET_CHARS && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}
