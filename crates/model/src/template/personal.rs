//! A text whose variables have other values for every recipient.

use std::collections::BTreeMap;

use super::placeholder::{Piece, pieces};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonalText(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable { key: String, default: Option<String> },
}

impl PersonalText {
    /// `None` for a text without variables. Defaults are for recipients without a value of their own.
    pub fn new(text: &str, default: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let part = |piece: Piece<'_>| match piece {
            Piece::Text(text) => Part::Text(text.to_owned()),
            Piece::Variable(key) => Part::Variable { key: key.to_owned(), default: default(key) },
        };
        let parts: Vec<Part> = pieces(text).map(part).collect();
        parts.iter().any(|part| matches!(part, Part::Variable { .. })).then_some(Self(parts))
    }

    /// The data about the text that is needed to check the values of thousands of recipients.
    pub fn outline(&self) -> Outline<'_> {
        let mut outline = Outline::default();
        for part in &self.0 {
            match part {
                Part::Text(text) => outline.n_fixed = outline.n_fixed.saturating_add(text.len()),
                Part::Variable { key, default } => {
                    let use_of = outline.uses.entry(key).or_insert(Use { n: 0, default: default.as_deref() });
                    use_of.n = use_of.n.saturating_add(1);
                }
            }
        }
        outline
    }

    /// The text for a recipient. A variable without a value stays as it is written.
    pub fn filled(&self, values: &BTreeMap<String, String>) -> String {
        let mut filled = String::with_capacity(self.outline().n_bytes(values));
        for part in &self.0 {
            match (part.text(values), part) {
                (Some(text), _) => filled.push_str(text),
                (None, Part::Variable { key, .. }) => filled.extend(["{{", key, "}}"]),
                (None, Part::Text(_)) => {}
            }
        }
        filled
    }
}

/// The variables of a text, each once, and the length of the rest.
#[derive(Debug, Default)]
pub struct Outline<'t> {
    n_fixed: usize,
    uses: BTreeMap<&'t str, Use<'t>>,
}

#[derive(Debug)]
struct Use<'t> {
    n: usize,
    default: Option<&'t str>,
}

impl<'t> Outline<'t> {
    pub fn keys(&self) -> impl Iterator<Item = &'t str> {
        self.uses.keys().copied()
    }

    /// The variables that would have no value.
    pub fn missing<'v>(&'v self, values: &'v BTreeMap<String, String>) -> impl Iterator<Item = &'t str> + 'v {
        let has_none = |(key, use_of): &(&&'t str, &Use<'t>)| use_of.default.is_none() && !values.contains_key(**key);
        self.uses.iter().filter(has_none).map(|(key, _)| *key)
    }

    /// The length of the text for a recipient. A long value in thousands of places must not be written to find that out.
    pub fn n_bytes(&self, values: &BTreeMap<String, String>) -> usize {
        let value =
            |key: &str, use_of: &Use<'_>| values.get(key).map_or(use_of.default.map_or(0, str::len), String::len);
        let filled = self.uses.iter().map(|(key, use_of)| use_of.n.saturating_mul(value(key, use_of)));
        filled.fold(self.n_fixed, usize::saturating_add)
    }
}

impl Part {
    fn text<'t>(&'t self, values: &'t BTreeMap<String, String>) -> Option<&'t str> {
        match self {
            Part::Text(text) => Some(text),
            Part::Variable { key, default } => values.get(key).or(default.as_ref()).map(String::as_str),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(values: &[(&str, &str)]) -> BTreeMap<String, String> {
        values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn everybody_gets_their_own_values_before_the_defaults() {
        let default = |key: &str| (key == "day").then(|| "today".to_owned());
        let text = PersonalText::new("{{name}}, {{ day }} is yours, {{name}}", default).unwrap();
        for (given, expected) in [
            (values(&[("name", "Kim")]), "Kim, today is yours, Kim"),
            (values(&[("name", "Zoë"), ("day", "{{name}}"), ("more", "x")]), "Zoë, {{name}} is yours, Zoë"),
        ] {
            assert_eq!(text.filled(&given), expected);
            assert_eq!(text.outline().n_bytes(&given), expected.len());
            assert_eq!(text.outline().missing(&given).count(), 0);
        }
        let nothing = values(&[]);
        assert_eq!(text.outline().missing(&nothing).collect::<Vec<_>>(), ["name"]);
        assert_eq!(text.outline().keys().collect::<Vec<_>>(), ["day", "name"]);
        assert_eq!(text.filled(&nothing), "{{name}}, today is yours, {{name}}");
    }

    #[test]
    fn a_text_without_variables_is_the_same_for_everybody() {
        for text in ["", "Hi", "{{}}", "{{a b}}", "{name}"] {
            assert_eq!(PersonalText::new(text, |_| None), None, "{text}");
        }
    }
}
