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
    /// `None` for a text without variables. Defaults are for those who have no value of their own.
    pub fn new(text: &str, default: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let part = |piece: Piece<'_>| match piece {
            Piece::Text(text) => Part::Text(text.to_owned()),
            Piece::Variable(key) => Part::Variable { key: key.to_owned(), default: default(key) },
        };
        let parts: Vec<Part> = pieces(text).map(part).collect();
        parts.iter().any(|part| matches!(part, Part::Variable { .. })).then_some(Self(parts))
    }

    /// The variables that would have no value.
    pub fn missing<'t>(&'t self, values: &'t BTreeMap<String, String>) -> impl Iterator<Item = &'t str> {
        self.0.iter().filter_map(|part| match part {
            Part::Variable { key, default: None } if !values.contains_key(key) => Some(key.as_str()),
            Part::Variable { .. } | Part::Text(_) => None,
        })
    }

    /// How long the text is for somebody. A long value in thousands of places must not be written to find that out.
    pub fn n_bytes(&self, values: &BTreeMap<String, String>) -> usize {
        self.0.iter().fold(0, |sum: usize, part| sum.saturating_add(part.text(values).map_or(0, str::len)))
    }

    /// The text for somebody. A variable without a value stays as it is written.
    pub fn filled(&self, values: &BTreeMap<String, String>) -> String {
        let mut filled = String::with_capacity(self.n_bytes(values));
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
            assert_eq!(text.n_bytes(&given), expected.len());
            assert_eq!(text.missing(&given).count(), 0);
        }
        let nothing = values(&[]);
        assert_eq!(text.missing(&nothing).collect::<Vec<_>>(), ["name", "name"]);
        assert_eq!(text.filled(&nothing), "{{name}}, today is yours, {{name}}");
    }

    #[test]
    fn a_text_without_variables_is_the_same_for_everybody() {
        for text in ["", "Hi", "{{}}", "{{a b}}", "{name}"] {
            assert_eq!(PersonalText::new(text, |_| None), None, "{text}");
        }
    }
}
