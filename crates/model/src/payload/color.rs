//! Colors in the form `#rrggbb`.

use schemars::json_schema;
use serde::Serialize;

use crate::json::At;
use crate::json::body::Read;

/// A color in the form `#rrggbb`.
// The letters may be of either case and print back as they came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Read)]
#[body(schema = json_schema!({"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}))]
pub struct Color(String);

impl Color {
    pub fn new(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        let is_color = digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        is_color.then(|| Self(text.to_owned()))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        let color = Self::new(at.string()?);
        color.or_else(|| at.invalid("A color has the form #rrggbb, such as #0a6fb3."))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn six_hexadecimal_digits() {
        for body in [r##""#0a6fb3""##, r##""#FFffFF""##] {
            let color = parse(body.as_bytes(), Color::parse).unwrap();
            assert_eq!(serde_json::to_string(&color).unwrap(), body);
        }
        for body in [r#""red""#, r##""#fff""##, r##""#0a6fb""##, r##""#0a6fbg""##, r##""#é6fb3""##, r#""0a6fb3""#, "0"]
        {
            parse(body.as_bytes(), Color::parse).unwrap_err();
        }
    }
}
