//! Names that are written almost alike.

use strsim::normalized_damerau_levenshtein;

/// Names less alike than this are different names rather than typing mistakes.
const LEAST_LIKENESS: f64 = 0.6;
/// How much comparing one explanation is worth, in pairs of characters. That is about a second, and enough for a hundred names
/// among ten thousand others.
const MOST_WORK: usize = 100_000_000;

/// A name that another may have been meant to be.
pub(super) struct KnownName {
    name: String,
    /// Letter case is not a mistake.
    lower: String,
    n_chars: usize,
}

/// The work that is left for one explanation.
pub(super) struct Effort(usize);

impl KnownName {
    pub(super) fn new(name: String) -> Self {
        let lower = name.to_lowercase();
        Self { n_chars: lower.chars().count(), lower, name }
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self(MOST_WORK)
    }
}

impl Effort {
    /// The known names that are like a name, the nearest first. Names beyond the effort are left out.
    pub(super) fn alike<'k>(&mut self, name: &str, known: &'k [KnownName]) -> Vec<&'k str> {
        let name = KnownName::new(name.to_owned());
        let mut alike: Vec<(f64, &str)> = Vec::new();
        for known in known.iter().filter(|known| may_be_alike(name.n_chars, known.n_chars)) {
            let Some(left) = self.0.checked_sub(name.n_chars * known.n_chars) else { break };
            self.0 = left;
            let likeness = normalized_damerau_levenshtein(&name.lower, &known.lower);
            if likeness >= LEAST_LIKENESS {
                alike.push((likeness, &known.name));
            }
        }
        alike.sort_by(|(left, left_name), (right, right_name)| right.total_cmp(left).then(left_name.cmp(right_name)));
        alike.into_iter().map(|(_, name)| name).collect()
    }
}

/// A name differs from a longer one by the missing characters at least.
fn may_be_alike(left: usize, right: usize) -> bool {
    let longer = left.max(right);
    left.abs_diff(right) as f64 <= (1.0 - LEAST_LIKENESS) * longer as f64 + f64::EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: &[&str]) -> Vec<KnownName> {
        names.iter().map(|name| KnownName::new((*name).to_owned())).collect()
    }

    #[test]
    fn typing_mistakes_are_recognized_and_other_words_are_not() {
        let known = known(&["news", "sports", "weather", "News-daily"]);
        let mut effort = Effort::default();
        assert_eq!(effort.alike("nwes", &known), ["news"]);
        assert_eq!(effort.alike("SPORT", &known), ["sports"]);
        assert_eq!(effort.alike("music", &known), Vec::<&str>::new());
    }

    #[test]
    fn lengths_tell_early_that_names_are_different() {
        let names = known(&["abc", "abcde", "abcdef", "a", "abcdefghij", ""]);
        for (left, right) in names.iter().flat_map(|left| names.iter().map(move |right| (left, right))) {
            let likeness = normalized_damerau_levenshtein(&left.lower, &right.lower);
            let is_missed = likeness >= LEAST_LIKENESS && !may_be_alike(left.n_chars, right.n_chars);
            assert!(!is_missed, "{} and {}", left.name, right.name);
        }
        assert!(!may_be_alike(2, 5));
    }

    #[test]
    fn comparing_comes_to_an_end() {
        let many: Vec<KnownName> = (0..1000).map(|n| KnownName::new(format!("{n:0>100}"))).collect();
        let mut effort = Effort(100 * 100 * 10);
        assert_eq!(effort.alike(&"0".repeat(100), &many).len(), 10);
        assert_eq!(effort.alike(&"0".repeat(100), &many), Vec::<&str>::new());
    }
}
