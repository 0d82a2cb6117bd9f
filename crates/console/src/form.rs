//! What people type: the fields of a form and the query of a URL, by name.

pub(crate) mod multipart;

use std::borrow::Cow;

use api::form_decoded;

/// Fields with their values, in order. A name may occur more than once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn parse(encoded: &str) -> Self {
        let pairs = encoded.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (form_decoded(name), form_decoded(value))
        };
        Self(pairs.map(pair).collect())
    }

    pub(crate) fn of(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// The value of a field without spaces around it; `None` if it is empty or missing.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.exact(name).map(str::trim).filter(|text| !text.is_empty())
    }

    /// The value as it was typed: passwords may begin with spaces.
    pub(crate) fn exact(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All values of a name.
    pub(crate) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All of them, in order.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn is_checked(&self, name: &str) -> bool {
        self.exact(name).is_some()
    }

    /// As a query with some names replaced, and those with an empty value left out.
    pub(crate) fn with(&self, changes: &[(&str, &str)]) -> String {
        let kept = self.0.iter().filter(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        let all = kept.map(|(name, value)| (name.as_str(), value.as_str())).chain(changes.iter().copied());
        query(all)
    }
}

/// A query of names and values, from `?` on; empty if there are none.
pub(crate) fn query<'f>(pairs: impl IntoIterator<Item = (&'f str, &'f str)>) -> String {
    let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    let text: Vec<String> = pairs.map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    if text.is_empty() { String::new() } else { format!("?{}", text.join("&")) }
}

/// Names and values as the body of a form, empty ones as well.
pub(crate) fn encoded<'f>(pairs: impl IntoIterator<Item = (&'f str, &'f str)>) -> String {
    let text = pairs.into_iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
    text.collect::<Vec<_>>().join("&")
}

/// A text as one segment of a path or one value of a query.
pub(crate) fn encode(text: &str) -> Cow<'_, str> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let escaped = text.bytes().map(|b| if is_plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") });
    Cow::Owned(escaped.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_comes_through() {
        let fields = Fields::parse("q=+sn%C3%B6w+%26+ice+&empty=&flag&tag=a&tag=b&bad=%zz%f");
        assert_eq!(fields.text("q"), Some("snöw & ice"));
        assert_eq!(fields.exact("q"), Some(" snöw & ice "));
        assert_eq!((fields.text("empty"), fields.text("missing")), (None, None));
        assert!(fields.is_checked("flag") && !fields.is_checked("other"));
        assert_eq!(fields.all("tag").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(fields.text("bad"), Some("%zz%f"));
        assert_eq!(
            fields.with(&[("tag", "c d"), ("flag", ""), ("bad", "")]),
            "?q=%20sn%C3%B6w%20%26%20ice%20&tag=c%20d"
        );
        assert_eq!(form_decoded(&encode("a/ü b+%")), "a/ü b+%");
    }
}
