//! From template to text that parses to the same template.

use std::fmt::{self, Display, Formatter, Write};

use crate::parse::{RESERVED, is_in_names};
use crate::template::{Block, Call, Expression, LoopVariable, Node, Opener, Path, PathStart, Template};

impl Display for Template {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        print_nodes(out, &self.nodes, true)
    }
}

/// `is_last`: whether nothing follows, so that no brace could be taken for a part of the next tag.
fn print_nodes(out: &mut Formatter<'_>, nodes: &[Node], is_last: bool) -> fmt::Result {
    for (n, node) in nodes.iter().enumerate() {
        match node {
            Node::Text(text) => print_text(out, text, is_last && n + 1 == nodes.len())?,
            Node::Value { expression, is_raw: true } => write!(out, "{{{{{{{}}}}}}}", Topmost(expression))?,
            Node::Value { expression, is_raw: false } => write!(out, "{{{{{}}}}}", Topmost(expression))?,
            Node::Block(block) => print_block(out, block)?,
        }
    }
    Ok(())
}

/// Braces and what could change their meaning are written as text in quotes.
fn print_text(out: &mut Formatter<'_>, text: &str, is_last: bool) -> fmt::Result {
    let mut rest = text;
    while let Some(n) = rest.find("{{") {
        print_plain(out, &rest[..n])?;
        out.write_str("{{{\"{{\"}}}")?;
        rest = &rest[n + 2..];
    }
    if is_last { out.write_str(rest) } else { print_plain(out, rest) }
}

/// A text that a tag follows on.
fn print_plain(out: &mut Formatter<'_>, text: &str) -> fmt::Result {
    let plain = text.trim_end_matches(['\\', '{']);
    out.write_str(plain)?;
    match &text[plain.len()..] {
        "" => Ok(()),
        end => write!(out, "{{{{{{{}}}}}}}", Quoted(end)),
    }
}

fn print_block(out: &mut Formatter<'_>, Block { branches, otherwise }: &Block) -> fmt::Result {
    let word = branches.first().map_or("if", |branch| branch.opener.word());
    for (n, branch) in branches.iter().enumerate() {
        let mark = if n == 0 { "#" } else { "else " };
        write!(out, "{{{{{mark}{}}}}}", branch.opener)?;
        print_nodes(out, &branch.nodes, false)?;
    }
    if let Some(nodes) = otherwise {
        out.write_str("{{else}}")?;
        print_nodes(out, nodes, false)?;
    }
    write!(out, "{{{{/{word}}}}}")
}

impl Display for Opener {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let named = |out: &mut Formatter<'_>, value: &Expression, name: &Option<String>| {
            write!(out, "{} {value}", self.word())?;
            name.iter().try_for_each(|name| write!(out, " as |{name}|"))
        };
        match self {
            Opener::If(value) | Opener::Unless(value) => write!(out, "{} {value}", self.word()),
            Opener::Holds(call) => call.fmt(out),
            Opener::With { value, name } => named(out, value, name),
            Opener::Each { list, name } => named(out, list, name),
        }
    }
}

/// An expression that is the whole of a tag, where a helper has no parentheses.
struct Topmost<'e>(&'e Expression);

impl Display for Topmost<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expression::Call(call) => call.fmt(out),
            other => other.fmt(out),
        }
    }
}

impl Display for Expression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Text(text) => Quoted(text).fmt(out),
            Expression::Number(number) => number.fmt(out),
            Expression::Bool(value) => value.fmt(out),
            Expression::Null => out.write_str("null"),
            Expression::Path(path) => path.fmt(out),
            Expression::Call(call) => write!(out, "({call})"),
        }
    }
}

impl Display for Call {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(self.helper.name())?;
        self.arguments.iter().try_for_each(|argument| write!(out, " {argument}"))?;
        self.options.iter().try_for_each(|(name, value)| write!(out, " {name}={value}"))
    }
}

impl Display for Path {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut segments = self.segments.as_slice();
        match self.start {
            PathStart::Loop(variable) => out.write_str(match variable {
                LoopVariable::Index => "@index",
                LoopVariable::First => "@first",
                LoopVariable::Last => "@last",
                LoopVariable::Key => "@key",
            })?,
            PathStart::Root => out.write_str("@root")?,
            PathStart::This => out.write_str("this")?,
            PathStart::Above(n) if segments.is_empty() => {
                (1..n).try_for_each(|_| out.write_str("../"))?;
                out.write_str("..")?;
            }
            PathStart::Nearest | PathStart::Above(_) => {
                let Some((first, rest)) = segments.split_first() else { return Ok(()) };
                if let PathStart::Above(n) = self.start {
                    (0..n).try_for_each(|_| out.write_str("../"))?;
                }
                print_segment(out, first, true)?;
                segments = rest;
            }
        }
        segments.iter().try_for_each(|segment| {
            out.write_char('.')?;
            print_segment(out, segment, false)
        })
    }
}

fn print_segment(out: &mut Formatter<'_>, segment: &str, is_first: bool) -> fmt::Result {
    let begins_like_number = segment.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    let is_special = is_first && (begins_like_number || RESERVED.contains(&segment));
    match segment.chars().all(is_in_names) && !is_special {
        true => out.write_str(segment),
        false => write!(out, "[{segment}]"),
    }
}

struct Quoted<'t>(&'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for c in self.0.chars() {
            if matches!(c, '"' | '\\') {
                out.write_char('\\')?;
            }
            out.write_char(c)?;
        }
        out.write_char('"')
    }
}
