//! Names in the forms that JSON uses, and documentation comments as descriptions.

use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta};

/// How the names of fields or variants are written in JSON.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Snake,
    Kebab,
    Camel,
    ScreamingSnake,
    Lower,
}

impl Case {
    pub(crate) fn parse(text: &LitStr) -> syn::Result<Self> {
        match text.value().as_str() {
            "snake_case" => Ok(Case::Snake),
            "kebab-case" => Ok(Case::Kebab),
            "camelCase" => Ok(Case::Camel),
            "SCREAMING_SNAKE_CASE" => Ok(Case::ScreamingSnake),
            "lowercase" => Ok(Case::Lower),
            other => Err(syn::Error::new(text.span(), format!("'{other}' is not a known case"))),
        }
    }

    /// The name of a field (`snake_case`) or of a variant (`CamelCase`) in this case.
    pub(crate) fn apply(self, name: &Ident) -> String {
        let words = words(name.to_string().trim_start_matches("r#"));
        match self {
            Case::Snake => words.join("_"),
            Case::Kebab => words.join("-"),
            Case::ScreamingSnake => words.join("_").to_ascii_uppercase(),
            Case::Lower => words.concat(),
            Case::Camel => {
                let capital = |word: &String| word[..1].to_ascii_uppercase() + &word[1..];
                words.iter().take(1).cloned().chain(words.iter().skip(1).map(capital)).collect()
            }
        }
    }
}

/// The words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in name.split('_').filter(|part| !part.is_empty()) {
        words.push(String::new());
        for c in part.chars() {
            if c.is_ascii_uppercase() && words.last().is_some_and(|word| !word.is_empty()) {
                words.push(String::new());
            }
            words.last_mut().expect("a word was begun").push(c.to_ascii_lowercase());
        }
    }
    words
}

/// The documentation comment. Lines become one text, paragraphs stay apart.
pub(crate) fn description(attributes: &[Attribute]) -> String {
    let lines =
        attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(|attribute| match &attribute
            .meta
        {
            Meta::NameValue(meta) => match &meta.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
                other => Some(other.to_token_stream().to_string()),
            },
            Meta::Path(_) | Meta::List(_) => None,
        });
    let mut text = String::new();
    for line in lines {
        match line.is_empty() {
            true => text.push_str("\n\n"),
            false if text.is_empty() || text.ends_with('\n') => text.push_str(&line),
            false => {
                text.push(' ');
                text.push_str(&line);
            }
        }
    }
    text
}
