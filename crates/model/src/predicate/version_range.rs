//! Ranges of versions as Apache Ivy writes them and device libraries read them: `1.2.3`, `1.+`, `1.2+`, `[1.0,2.0]`,
//! `[1.0,2.0[`, `]1.0,)`, `(,2.0]`.

use std::cmp::Ordering;

use crate::json::At;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum VersionRange {
    Exactly(Version),
    /// The text at the beginning.
    Beginning(String),
    Between {
        least: Option<Bound>,
        most: Option<Bound>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    version: Version,
    is_included: bool,
}

/// The numbers of a version. Those that are not given are 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Version(Vec<u64>);

impl VersionRange {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let text: String = at.string()?.split_whitespace().collect();
        Self::read(&text).or_else(|| {
            at.invalid("This must be a version (1.2.3), the beginning of one (1.+) or a range of versions ([1.0,2.0[).")
        })
    }

    fn read(text: &str) -> Option<Self> {
        if let Some(beginning) = text.strip_suffix('+') {
            let is_version = beginning.is_empty() || Version::read(beginning).is_some();
            return is_version.then(|| Self::Beginning(beginning.to_owned()));
        }
        let Some((least, most)) = text.split_once(',') else { return Version::read(text).map(Self::Exactly) };
        let opening = least.chars().next()?;
        let closing = most.chars().next_back()?;
        let least = bound(least.strip_prefix(opening)?, opening, ['[', ']', '('])?;
        let most = bound(most.strip_suffix(closing)?, closing, [']', '[', ')'])?;
        (least.is_some() || most.is_some()).then_some(Self::Between { least, most })
    }

    pub(super) fn contains(&self, version: &str) -> bool {
        let text = version.trim();
        let Some(version) = Version::read(text) else { return false };
        match self {
            Self::Exactly(wanted) => version.cmp(wanted) == Ordering::Equal,
            Self::Beginning(beginning) => text.starts_with(beginning),
            Self::Between { least, most } => {
                let is_inside = |bound: &Option<Bound>, inside: Ordering| {
                    bound.as_ref().is_none_or(|bound| match version.cmp(&bound.version) {
                        Ordering::Equal => bound.is_included,
                        order => order == inside,
                    })
                };
                is_inside(least, Ordering::Greater) && is_inside(most, Ordering::Less)
            }
        }
    }
}

/// A side of a range. The brackets mean, in this order: included, excluded, without an end.
fn bound(version: &str, bracket: char, [included, excluded, endless]: [char; 3]) -> Option<Option<Bound>> {
    if version.is_empty() {
        return (bracket == endless).then_some(None);
    }
    let is_included = match bracket {
        _ if bracket == included => true,
        _ if bracket == excluded => false,
        _ => return None,
    };
    Some(Some(Bound { version: Version::read(version)?, is_included }))
}

impl Version {
    /// What follows the numbers marks a build.
    fn read(text: &str) -> Option<Self> {
        let n_digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
        let numbers = text[..n_digits].split('.').map_while(|number| number.parse().ok());
        let numbers: Vec<u64> = numbers.collect();
        (!numbers.is_empty()).then_some(Self(numbers))
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let n_numbers = self.0.len().max(other.0.len());
        let padded = |version: &Self| -> Vec<u64> {
            version.0.iter().copied().chain(std::iter::repeat(0)).take(n_numbers).collect()
        };
        padded(self).cmp(&padded(other))
    }
}
