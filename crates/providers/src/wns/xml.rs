//! Writing XML: elements with attributes and text, everything escaped.

use std::fmt::{Display, Write};

/// An element that is open until it is closed or given its content.
pub(super) struct Element<'a> {
    out: &'a mut String,
    name: &'static str,
}

/// Starts an element; attributes follow.
pub(super) fn element<'a>(out: &'a mut String, name: &'static str) -> Element<'a> {
    out.push('<');
    out.push_str(name);
    Element { out, name }
}

impl Element<'_> {
    /// An attribute, left out when there is no value.
    pub(super) fn attribute(self, name: &str, value: Option<impl Display>) -> Self {
        if let Some(value) = value {
            write!(self.out, " {name}=\"{}\"", escape(&value.to_string())).expect("writing to a string cannot fail");
        }
        self
    }

    pub(super) fn empty(self) {
        self.out.push_str("/>");
    }

    pub(super) fn text(self, text: &str) {
        let escaped = escape(text);
        self.children(|out| out.push_str(&escaped));
    }

    pub(super) fn children(self, write: impl FnOnce(&mut String)) {
        self.out.push('>');
        write(self.out);
        self.out.push_str("</");
        self.out.push_str(self.name);
        self.out.push('>');
    }
}

/// Characters that XML cannot express at all, most control characters, are dropped.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(c),
            '\u{0}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => {}
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_nest_and_values_are_escaped() {
        let mut out = String::new();
        element(&mut out, "a").attribute("x", Some("1 \"<&>\"")).attribute("y", None::<&str>).children(|out| {
            element(out, "b").empty();
            element(out, "c").attribute("n", Some(2)).text("</a>\u{0}\u{7}\n&amp;");
        });
        assert_eq!(out, "<a x=\"1 &quot;&lt;&amp;&gt;&quot;\"><b/><c n=\"2\">&lt;/a&gt;\n&amp;amp;</c></a>");
    }
}
