//! Finding places by the text that people type.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::boundary::Boundary;
use crate::fold::fold;

/// With fewer places than this, and none of exactly that name, names that are spelled almost like the query are considered
/// too.
const FEW: usize = 5;

/// All names of all places, folded and in order.
pub(crate) struct Names {
    text: String,
    names: Vec<Name>,
    /// The later words of names, in the order of the texts that begin with them.
    words: Vec<Word>,
}

#[derive(Clone, Copy)]
struct Name {
    start: u32,
    length: u16,
    /// Whether this is the displayed name of the place.
    is_shown: bool,
    place: u32,
    /// Which letters occur, one bit each: names that differ in many of them are not alike.
    letters: u32,
}

#[derive(Clone, Copy)]
struct Word {
    name: u32,
    /// Where in the name the word begins.
    offset: u32,
}

/// How well a name fits the query; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Equal,
    OtherNameEqual,
    Begins,
    LaterWordEqual,
    LaterWordBegins,
    OtherNameBegins,
    /// Written almost like it, with this many mistakes.
    Like(usize),
}

/// Collects names of places.
#[derive(Default)]
pub(crate) struct NamesBuilder {
    text: String,
    names: Vec<Name>,
}

impl NamesBuilder {
    /// The names of a place; the first is the displayed one.
    pub(crate) fn add<'n>(&mut self, place: u32, names: impl IntoIterator<Item = &'n str>) {
        for (n, name) in names.into_iter().enumerate() {
            let folded = fold(name);
            let (Ok(start), Ok(length)) = (u32::try_from(self.text.len()), u16::try_from(folded.len())) else {
                continue;
            };
            if length > 0 {
                self.names.push(Name { start, length, is_shown: n == 0, place, letters: letters(&folded) });
                self.text.push_str(&folded);
            }
        }
    }

    pub(crate) fn finish(mut self) -> Names {
        let text = self.text;
        self.names.sort_unstable_by(|a, b| (a.in_text(&text), a.place).cmp(&(b.in_text(&text), b.place)));
        let mut words = Vec::new();
        for (number, name) in (0_u32..).zip(&self.names) {
            let spaces = name.in_text(&text).match_indices(' ');
            words.extend(
                (1_u32..)
                    .zip(spaces)
                    .filter_map(|(_, (at, _))| Some(Word { name: number, offset: u32::try_from(at + 1).ok()? })),
            );
        }
        let rest = |word: &Word| &self.names[word.name as usize].in_text(&text)[word.offset as usize..];
        words.sort_unstable_by(|a, b| rest(a).cmp(rest(b)));
        Names { names: self.names, words, text }
    }
}

impl Name {
    fn in_text(self, text: &str) -> &str {
        let start = self.start as usize;
        &text[start..start + usize::from(self.length)]
    }
}

impl Names {
    /// The places that a text may mean, the likeliest first: names that are equal, then those that begin with it, then those
    /// that are written almost like it; among these the large before the small.
    pub(crate) fn search(
        &self,
        wanted: &str,
        places: &[Boundary],
        is_wanted: impl Fn(u32) -> bool,
        most: usize,
    ) -> Vec<u32> {
        let wanted = fold(wanted);
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut found: HashMap<u32, Fit> = HashMap::new();
        let mut note = |place: u32, fit: Fit| {
            if is_wanted(place) {
                let best = found.entry(place).or_insert(fit);
                *best = fit.min(*best);
            }
        };
        self.by_beginning(&wanted, &mut note);
        self.by_later_word(&wanted, &mut note);
        let is_found = found.values().any(|fit| *fit <= Fit::OtherNameEqual);
        if found.len() < FEW && !is_found {
            let mut note = |place: u32, fit: Fit| {
                if is_wanted(place) {
                    found.entry(place).or_insert(fit);
                }
            };
            self.by_likeness(&wanted, &mut note);
        }
        let mut found: Vec<(u32, Fit)> = found.into_iter().collect();
        found.sort_unstable_by_key(|(place, fit)| {
            let boundary = &places[*place as usize];
            (*fit, Reverse(boundary.population), boundary.kind, boundary.id)
        });
        found.truncate(most);
        found.into_iter().map(|(place, _)| place).collect()
    }

    /// The places that have exactly this name.
    pub(crate) fn called(&self, name: &str) -> impl Iterator<Item = u32> {
        let name = fold(name);
        let first = self.names.partition_point(|known| known.in_text(&self.text) < name.as_str());
        self.names[first..].iter().take_while(move |known| known.in_text(&self.text) == name).map(|known| known.place)
    }

    fn by_beginning(&self, wanted: &str, note: &mut impl FnMut(u32, Fit)) {
        let first = self.names.partition_point(|name| name.in_text(&self.text) < wanted);
        for name in self.names[first..].iter().take_while(|name| name.in_text(&self.text).starts_with(wanted)) {
            let fit = match (usize::from(name.length) == wanted.len(), name.is_shown) {
                (true, true) => Fit::Equal,
                (true, false) => Fit::OtherNameEqual,
                (false, true) => Fit::Begins,
                (false, false) => Fit::OtherNameBegins,
            };
            note(name.place, fit);
        }
    }

    fn by_later_word(&self, wanted: &str, note: &mut impl FnMut(u32, Fit)) {
        let rest = |word: &Word| &self.names[word.name as usize].in_text(&self.text)[word.offset as usize..];
        let first = self.words.partition_point(|word| rest(word) < wanted);
        for word in &self.words[first..] {
            let Some(beyond) = rest(word).strip_prefix(wanted) else { break };
            let is_word = beyond.is_empty() || beyond.starts_with(' ');
            note(
                self.names[word.name as usize].place,
                if is_word { Fit::LaterWordEqual } else { Fit::LaterWordBegins },
            );
        }
    }

    fn by_likeness(&self, wanted: &str, note: &mut impl FnMut(u32, Fit)) {
        let most = match wanted.chars().count() {
            0..=3 => return,
            4..=6 => 1,
            _ => 2,
        };
        let of_wanted = letters(wanted);
        for name in &self.names {
            // Every mistake changes at most two letters, and a letter is at most four bytes long.
            let (longer, shorter) =
                (usize::from(name.length).max(wanted.len()), usize::from(name.length).min(wanted.len()));
            if (name.letters ^ of_wanted).count_ones() as usize > 2 * most || longer - shorter > 4 * most {
                continue;
            }
            let mistakes = strsim::osa_distance(name.in_text(&self.text), wanted);
            if mistakes <= most {
                note(name.place, Fit::Like(mistakes));
            }
        }
    }
}

/// One bit for each letter that occurs; letters outside a to z share some.
fn letters(folded: &str) -> u32 {
    let bit = |c: char| match c {
        'a'..='z' => u32::from(c) - u32::from('a'),
        other => 26 + u32::from(other) % 6,
    };
    folded.chars().fold(0, |letters, c| letters | 1 << bit(c))
}
