//! Scripts as browsers get them: without indentation, and without the lines that are only a comment. All else stays as it is
//! written, line by line.

/// Lines that begin inside a template are a part of it, and not touched.
pub(super) fn strip(script: &str) -> String {
    let (mut stripped, mut place) = (String::with_capacity(script.len()), Place::default());
    for line in script.lines() {
        let bare = line.trim();
        if place.is_in_template() {
            place.read(line);
            stripped.push_str(line);
        } else if bare.is_empty() || bare.starts_with("//") {
            continue;
        } else {
            place.read(bare);
            stripped.push_str(bare);
        }
        stripped.push('\n');
    }
    stripped
}

/// Where in a script the reader is: in code, unless it is inside something.
#[derive(Debug, Default)]
struct Place {
    inside: Vec<Inside>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Template,
    /// Code within a template, in so many braces of its own.
    Code(u32),
    Comment,
}

impl Place {
    fn is_in_template(&self) -> bool {
        self.inside.last() == Some(&Inside::Template)
    }

    /// Goes on to the end of a line.
    fn read(&mut self, line: &str) {
        let mut chars = line.chars().peekable();
        // The last character of code that is no space: it says whether a slash begins a regular expression.
        let mut last = None;
        while let Some(char) = chars.next() {
            match (self.inside.last().copied(), char, chars.peek().copied()) {
                (Some(Inside::Comment), '*', Some('/')) | (Some(Inside::Template), '`', _) => {
                    self.inside.pop();
                    if char == '*' {
                        chars.next();
                    }
                    last = Some(char);
                }
                (Some(Inside::Comment), _, _) => {}
                (Some(Inside::Template), '\\', _) => drop(chars.next()),
                (Some(Inside::Template), '$', Some('{')) => {
                    chars.next();
                    self.inside.push(Inside::Code(0));
                    last = None;
                }
                (Some(Inside::Template), _, _) => {}
                (_, '`', _) => self.inside.push(Inside::Template),
                (_, '/', Some('/')) => return,
                (_, '/', Some('*')) => self.inside.push(Inside::Comment),
                (_, '\'' | '"', _) => {
                    skip(&mut chars, char);
                    last = Some(char);
                }
                (_, '/', _) if begins_expression(last) => {
                    skip(&mut chars, '/');
                    last = Some(')');
                }
                (Some(Inside::Code(0)), '}', _) => drop(self.inside.pop()),
                (Some(Inside::Code(depth)), '{' | '}', _) => {
                    self.inside.pop();
                    self.inside.push(Inside::Code(if char == '{' { depth + 1 } else { depth - 1 }));
                    last = Some(char);
                }
                (_, ' ', _) => {}
                _ => last = Some(char),
            }
        }
    }
}

/// Goes on after the end of a text or an expression, which is on the same line.
fn skip(chars: &mut impl Iterator<Item = char>, end: char) {
    let mut is_class = false;
    while let Some(char) = chars.next() {
        match char {
            '\\' => drop(chars.next()),
            '[' | ']' if end == '/' => is_class = char == '[',
            _ if char == end && !is_class => return,
            _ => {}
        }
    }
}

/// A slash divides what is before it, and begins an expression where there is nothing to divide.
fn begins_expression(last: Option<char>) -> bool {
    last.is_none_or(|char| !char.is_alphanumeric() && !"_$)]}'\"`".contains(char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_indentation_and_lines_of_comments_go() {
        for (script, expected) in [
            ("// One.\nconst a = 1;\n\n  // Two.\n  b(); // Three.\n", "const a = 1;\nb(); // Three.\n"),
            ("a('// no comment');\n  '  b '\n", "a('// no comment');\n'  b '\n"),
            ("/* It's long,\n   and `odd`. */\n  a();\n", "/* It's long,\nand `odd`. */\na();\n"),
            (
                "a = `one\n  // of the template\n\n  two`;\n  b();\n",
                "a = `one\n  // of the template\n\n  two`;\nb();\n",
            ),
            ("a = `x${b({ c: `y` })}\n  z`;\n  d();\n", "a = `x${b({ c: `y` })}\n  z`;\nd();\n"),
            ("a = `x${b({\n  c: 1 })}\n  z`;\n  d();\n", "a = `x${b({\nc: 1 })}\n  z`;\nd();\n"),
            ("a = `\\`\n  b`;\n  c();\n", "a = `\\`\n  b`;\nc();\n"),
            (
                "a.replace(/[`'/]\\//, b / 2);\n  c(d / '`');\n  e();\n",
                "a.replace(/[`'/]\\//, b / 2);\nc(d / '`');\ne();\n",
            ),
        ] {
            assert_eq!(strip(script), expected);
        }
    }

    #[test]
    fn the_end_of_a_template_is_found() {
        for (script, inside) in
            [("a = `x", 1), ("a = `x${b", 2), ("a = `x${`y` + {}}`", 0), ("/* `", 1), ("'`' + \"`\"", 0)]
        {
            let mut place = Place::default();
            place.read(script);
            assert_eq!(place.inside.len(), inside, "{script}");
        }
    }
}
