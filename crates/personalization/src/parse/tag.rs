//! What stands between the braces of a tag: expressions, calls of helpers, and the openers of blocks.

use super::{Parsed, Section, Slip, Tag};
use crate::functions::{Helper, canonical};
use crate::limits;
use crate::template::{Call, Expression, LoopVariable, Node, Opener, Path, PathStart};
use crate::{dates, numbers};

pub(super) struct TagReader<'s> {
    pub(super) source: &'s str,
    pub(super) at: usize,
}

/// Characters that no name without brackets has.
pub(crate) fn is_in_names(c: char) -> bool {
    !c.is_whitespace() && !"!\"#%&'()*+,./;<=>@[\\]^`{|}~".contains(c)
}

/// Words that mean something by themselves; a variable of this name is written in brackets.
pub(crate) const RESERVED: [&str; 8] = ["this", "true", "false", "null", "undefined", "else", "now", "as"];

impl<'s> TagReader<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn slip<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Slip { at: self.at, message: message.into() })
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is_there = self.rest().starts_with(text);
        self.at += if is_there { text.len() } else { 0 };
        is_there
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.rest().is_empty() || ["}", "~}", ")"].iter().any(|end| self.rest().starts_with(end))
    }

    /// Reads the end of the tag, and returns whether it leaves out the white space that follows.
    pub(super) fn end(&mut self, braces: &str) -> Parsed<bool> {
        self.skip_space();
        let trims = self.eat("~");
        if self.eat(braces) {
            return Ok(trims);
        }
        match self.rest().chars().next() {
            None => self.slip(format!("The tag is not closed: '{braces}' is missing.")),
            Some('}') => self.slip(format!("The tag ends with '{braces}'.")),
            Some(_) => self.slip(format!(
                "'{braces}' must follow here. A helper inside of another, or of a block, is in parentheses: (eq a \"b\")."
            )),
        }
    }

    pub(super) fn tag(&mut self) -> Parsed<Tag> {
        if self.eat("!") {
            let end = if self.rest().starts_with("--") { "--}}" } else { "}}" };
            let Some(n) = self.rest().find(end) else { return self.slip("The comment does not end.") };
            self.at += n + end.len();
            return Ok(Tag::Comment);
        }
        self.skip_space();
        if self.eat("#") {
            return self.opening();
        }
        if self.eat("/") {
            self.skip_space();
            return Ok(Tag::Close(canonical(self.name()).to_owned()));
        }
        if self.eat("&") {
            return self.value(true).map(Tag::Value);
        }
        if self.rest().starts_with('>') {
            return self.slip("There are no snippets here; write their text out.");
        }
        if self.eat("^") {
            return if self.is_at_end() { Ok(Tag::Else) } else { self.slip("Use {{#unless …}} for this.") };
        }
        let before = self.at;
        if self.name() == "else" && !self.rest().starts_with(['.', '/', '=']) {
            if self.is_at_end() {
                return Ok(Tag::Else);
            }
            let (at, word) = (self.at, self.name());
            return match self.opener(word, at)? {
                Opener::Each { .. } | Opener::With { .. } => {
                    Err(Slip { at, message: format!("'{word}' cannot follow on 'else'.") })
                }
                opener @ (Opener::If(_) | Opener::Unless(_) | Opener::Holds(_)) => Ok(Tag::ElseIf(opener)),
            };
        }
        self.at = before;
        self.value(false).map(Tag::Value)
    }

    /// A value to be written, or text in quotes.
    pub(super) fn value(&mut self, is_raw: bool) -> Parsed<Node> {
        self.skip_space();
        if self.is_at_end() {
            return self.slip("The name of a variable is missing here.");
        }
        match self.call_or_primary(0)? {
            Expression::Text(text) => Ok(Node::Text(text)),
            expression => Ok(Node::Value { expression, is_raw }),
        }
    }

    /// The name of the block that a tag opens.
    pub(super) fn opening_word(&mut self) -> Option<&'s str> {
        self.skip_space();
        if !self.eat("#") {
            return None;
        }
        self.skip_space();
        Some(canonical(self.name()))
    }

    fn opening(&mut self) -> Parsed<Tag> {
        self.skip_space();
        let (at, word) = (self.at, self.name());
        if !["if", "unless", "with", "each"].contains(&word)
            && Helper::from_name(word).is_none_or(|helper| !helper.is_condition())
        {
            let message = match word {
                "feed" => "There are no feeds here; give what is to be shown under 'global_attributes'.".to_owned(),
                "" => "The name of a block is missing here.".to_owned(),
                _ => format!(
                    "There is no block '{word}'; there are if, unless, each, with, eq, neq, gt, gte, lt, lte, and, or, not."
                ),
            };
            return Err(Slip { at, message });
        }
        let opener = self.opener(word, at)?;
        Ok(Tag::Open { word: canonical(word).to_owned(), section: Section::Branch(opener) })
    }

    fn opener(&mut self, word: &str, at: usize) -> Parsed<Opener> {
        match word {
            "if" => self.argument(word).map(Opener::If),
            "unless" => self.argument(word).map(Opener::Unless),
            "with" => Ok(Opener::With { value: self.argument(word)?, name: self.block_name()? }),
            "each" => Ok(Opener::Each { list: self.argument(word)?, name: self.block_name()? }),
            _ => match Helper::from_name(word).filter(|helper| helper.is_condition()) {
                Some(helper) => self.call(helper, at, 0).map(Opener::Holds),
                None => Err(Slip { at, message: format!("'{word}' is no condition, such as 'if' or 'eq'.") }),
            },
        }
    }

    fn argument(&mut self, word: &str) -> Parsed<Expression> {
        match self.is_at_end() {
            true => self.slip(format!("'{word}' needs a value here.")),
            false => self.primary(0),
        }
    }

    /// `as |name|`
    fn block_name(&mut self) -> Parsed<Option<String>> {
        self.skip_space();
        let before = self.at;
        if self.name() != "as" {
            self.at = before;
            return Ok(None);
        }
        self.skip_space();
        if !self.eat("|") {
            return self.slip("A name between bars must follow here: as |item|.");
        }
        self.skip_space();
        let name = self.name();
        self.skip_space();
        if name.is_empty() || !self.eat("|") {
            return self.slip("A name between bars must follow here: as |item|.");
        }
        Ok(Some(name.to_owned()))
    }

    /// A name without brackets; empty if there is none.
    fn name(&mut self) -> &'s str {
        let rest = self.rest();
        let n = rest.find(|c: char| !is_in_names(c)).unwrap_or(rest.len());
        self.at += n;
        &rest[..n]
    }

    /// A helper with its arguments, or a single value.
    fn call_or_primary(&mut self, depth: usize) -> Parsed<Expression> {
        let before = self.at;
        let word = self.name();
        let is_name_alone = !word.is_empty() && !self.rest().starts_with(['.', '/', '=']);
        if is_name_alone {
            let helper = Helper::from_name(word);
            let is_last = self.is_at_end();
            match helper {
                Some(helper) if !is_last || helper == Helper::Now => {
                    return self.call(helper, before, depth).map(folded);
                }
                None if !is_last && !word.starts_with(|c: char| c.is_ascii_digit()) && !RESERVED.contains(&word) => {
                    return Err(Slip { at: before, message: format!("There is no helper '{word}'.") });
                }
                Some(_) | None => {}
            }
        }
        self.at = before;
        self.primary(depth)
    }

    fn call(&mut self, helper: Helper, at: usize, depth: usize) -> Parsed<Call> {
        let (mut arguments, mut options): (Vec<Expression>, Vec<(String, Expression)>) = Default::default();
        while !self.is_at_end() {
            let before = self.at;
            let name = self.name();
            if !name.is_empty() && self.eat("=") {
                if !helper.options().contains(&name) || options.iter().any(|(known, _)| known == name) {
                    let message = format!("'{}' takes no option '{name}' here.", helper.name());
                    return Err(Slip { at: before, message });
                }
                options.push((name.to_owned(), self.primary(depth)?));
                continue;
            }
            self.at = before;
            arguments.push(self.primary(depth)?);
        }
        let (n, wanted) = (arguments.len(), helper.n_arguments());
        if !wanted.contains(&n) {
            let (least, most) = wanted.into_inner();
            let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
            let message = format!("'{}' takes {wanted} values, not {n}.", helper.name());
            return Err(Slip { at, message });
        }
        let call = Call { helper, arguments, options };
        match dates::complaint(&call).or_else(|| numbers::complaint(&call)) {
            Some(message) => Err(Slip { at, message }),
            None => Ok(call),
        }
    }

    fn primary(&mut self, depth: usize) -> Parsed<Expression> {
        self.skip_space();
        let rest = self.rest();
        match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(Expression::Text),
            Some('(') => self.parenthesized(depth),
            Some('@') => self.data().map(Expression::Path),
            Some(c) if c.is_ascii_digit() => self.number(),
            Some('-') if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number(),
            Some(_) => self.literal_or_path(),
            None => self.slip("The tag is not closed."),
        }
    }

    fn parenthesized(&mut self, depth: usize) -> Parsed<Expression> {
        if depth >= limits::DEPTH {
            return self.slip(format!("Helpers are inside each other {} deep at most.", limits::DEPTH));
        }
        self.at += 1;
        self.skip_space();
        let expression = self.call_or_primary(depth + 1)?;
        self.skip_space();
        if self.eat(")") { Ok(expression) } else { self.slip("A closing parenthesis is missing here.") }
    }

    fn quoted(&mut self, quote: char) -> Parsed<String> {
        let start = self.at;
        let mut text = String::new();
        let mut characters = self.rest().char_indices().skip(1).peekable();
        while let Some((n, c)) = characters.next() {
            match (c, characters.peek()) {
                ('\\', Some((_, next @ ('"' | '\'' | '\\')))) => {
                    text.push(*next);
                    characters.next();
                }
                (c, _) if c == quote => {
                    self.at = start + n + 1;
                    return Ok(text);
                }
                (c, _) => text.push(c),
            }
        }
        Err(Slip { at: start, message: format!("The closing {quote} of this text is missing.") })
    }

    fn number(&mut self) -> Parsed<Expression> {
        let rest = self.rest();
        let n = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(rest.len());
        let number = rest[..n].parse::<f64>().ok().filter(|number| number.is_finite());
        match number {
            Some(number) if !rest[n..].starts_with(is_in_names) => {
                self.at += n;
                Ok(Expression::Number(number))
            }
            Some(_) | None => self.slip("A name that begins with a digit is written in brackets: [42_answer]."),
        }
    }

    fn literal_or_path(&mut self) -> Parsed<Expression> {
        let path = self.path()?;
        let (PathStart::Nearest, [word]) = (path.start, path.segments.as_slice()) else {
            return Ok(Expression::Path(path));
        };
        let is_bare = self.source[..self.at].ends_with(word.as_str());
        Ok(match word.as_str() {
            "true" if is_bare => Expression::Bool(true),
            "false" if is_bare => Expression::Bool(false),
            "null" | "undefined" if is_bare => Expression::Null,
            _ => Expression::Path(path),
        })
    }

    fn path(&mut self) -> Parsed<Path> {
        let mut n_above = 0;
        while self.eat("../") {
            n_above += 1;
        }
        if self.eat("..") {
            return Ok(Path { start: PathStart::Above(n_above + 1), segments: Vec::new() });
        }
        if n_above > 0 {
            return Ok(Path { start: PathStart::Above(n_above), segments: self.segments()? });
        }
        let before = self.at;
        if self.eat("./") {
            return Ok(Path { start: PathStart::This, segments: self.segments()? });
        }
        if self.eat(".") {
            return Ok(Path { start: PathStart::This, segments: Vec::new() });
        }
        if self.name() == "this" {
            let segments = if self.eat(".") || self.eat("/") { self.segments()? } else { Vec::new() };
            return Ok(Path { start: PathStart::This, segments });
        }
        self.at = before;
        Ok(Path { start: PathStart::Nearest, segments: self.segments()? })
    }

    /// One or more, with dots between them.
    fn segments(&mut self) -> Parsed<Vec<String>> {
        let mut segments = Vec::new();
        loop {
            let segment = if self.eat("[") {
                let Some(n) = self.rest().find(']') else { return self.slip("The closing ] is missing.") };
                let segment = &self.rest()[..n];
                self.at += n + 1;
                segment
            } else {
                self.name()
            };
            if segment.is_empty() {
                return self.slip("A name must stand here.");
            }
            segments.push(segment.to_owned());
            if !self.eat(".") && !self.eat("/") {
                return Ok(segments);
            }
        }
    }

    fn data(&mut self) -> Parsed<Path> {
        let at = self.at;
        self.at += 1;
        let start = match self.name() {
            "index" => PathStart::Loop(LoopVariable::Index),
            "first" => PathStart::Loop(LoopVariable::First),
            "last" => PathStart::Loop(LoopVariable::Last),
            "key" => PathStart::Loop(LoopVariable::Key),
            "root" => {
                let segments = if self.eat(".") || self.eat("/") { self.segments()? } else { Vec::new() };
                return Ok(Path { start: PathStart::Root, segments });
            }
            _ => return Err(Slip { at, message: "There are @index, @first, @last, @key and @root.".to_owned() }),
        };
        Ok(Path { start, segments: Vec::new() })
    }
}

/// `lookup . "name"` is how a name is written that could not stand for itself.
fn folded(call: Call) -> Expression {
    match (call.helper, call.arguments.as_slice()) {
        (Helper::Lookup, [Expression::Path(Path { start: PathStart::This, segments }), Expression::Text(name)])
            if segments.is_empty() && !name.is_empty() && !name.contains(']') =>
        {
            Expression::Path(Path { start: PathStart::Nearest, segments: vec![name.clone()] })
        }
        _ => Expression::Call(call),
    }
}
