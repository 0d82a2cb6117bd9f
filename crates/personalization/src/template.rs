//! A text that was parsed: what is the same for everybody, and what is worked out for each recipient.

use std::collections::BTreeSet;

use crate::functions::Helper;

/// A parsed text. It prints as text that parses to the same template.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Text(String),
    Value { expression: Expression, is_raw: bool },
    Block(Block),
}

/// The first branch that holds is rendered, or else the last part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) branches: Vec<Branch>,
    pub(crate) otherwise: Option<Vec<Node>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Branch {
    pub(crate) opener: Opener,
    pub(crate) nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Opener {
    If(Expression),
    Unless(Expression),
    /// A helper that is true or false, as in `{{#eq a b}}`.
    Holds(Call),
    With {
        value: Expression,
        name: Option<String>,
    },
    Each {
        list: Expression,
        name: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Text(String),
    Number(f64),
    Bool(bool),
    Null,
    Path(Path),
    Call(Call),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) helper: Helper,
    pub(crate) arguments: Vec<Expression>,
    /// `name=value`, after the arguments.
    pub(crate) options: Vec<(String, Expression)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    pub(crate) start: PathStart,
    pub(crate) segments: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathStart {
    /// The nearest context that has the first segment.
    Nearest,
    /// As `Nearest`, passing over so many contexts: `../name`.
    Above(usize),
    /// The current context alone: `this` or `.`.
    This,
    /// `@root`
    Root,
    /// `@index`, `@first`, `@last` and `@key`.
    Loop(LoopVariable),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopVariable {
    Index,
    First,
    Last,
    Key,
}

impl Template {
    /// Whether it is the same for everybody.
    pub fn is_constant(&self) -> bool {
        self.nodes.iter().all(|node| matches!(node, Node::Text(_)))
    }

    /// Takes it apart: what is the same for everybody, and between that templates for what varies. The parts together are the
    /// template.
    pub fn into_parts(self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for node in self.nodes {
            match (node, parts.last_mut()) {
                (Node::Text(text), _) => parts.push(Part::Constant(text)),
                (node, Some(Part::Varying(template))) => template.nodes.push(node),
                (node, Some(Part::Constant(_)) | None) => parts.push(Part::Varying(Template { nodes: vec![node] })),
            }
        }
        parts
    }

    /// What of it is the same for everybody, as one text.
    pub fn constant_parts(&self) -> String {
        let mut parts = String::new();
        for node in &self.nodes {
            match node {
                Node::Text(text) => parts.push_str(text),
                Node::Value { .. } | Node::Block(_) => {}
            }
        }
        parts
    }

    /// The names under which it looks for values of a recipient. A path with several segments may mean an instance of an attribute
    /// that is an object, whose name is `attribute#instance`.
    pub fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        collect(&self.nodes, &mut names);
        names
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Constant(String),
    Varying(Template),
}

impl Opener {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Opener::If(_) => "if",
            Opener::Unless(_) => "unless",
            Opener::Holds(call) => call.helper.name(),
            Opener::With { .. } => "with",
            Opener::Each { .. } => "each",
        }
    }
}

fn collect(nodes: &[Node], names: &mut BTreeSet<String>) {
    for node in nodes {
        match node {
            Node::Text(_) => {}
            Node::Value { expression, .. } => collect_from(expression, names),
            Node::Block(Block { branches, otherwise }) => {
                for Branch { opener, nodes } in branches {
                    match opener {
                        Opener::If(value) | Opener::Unless(value) | Opener::With { value, .. } => {
                            collect_from(value, names);
                        }
                        Opener::Each { list, .. } => collect_from(list, names),
                        Opener::Holds(call) => collect_from_call(call, names),
                    }
                    collect(nodes, names);
                }
                collect(otherwise.as_deref().unwrap_or_default(), names);
            }
        }
    }
}

fn collect_from(expression: &Expression, names: &mut BTreeSet<String>) {
    match expression {
        Expression::Path(Path { start: PathStart::Nearest | PathStart::Above(_) | PathStart::Root, segments }) => {
            if let [first, second, ..] = segments.as_slice() {
                names.insert(format!("{first}#{second}"));
            }
            names.extend(segments.first().cloned());
        }
        Expression::Call(call) => collect_from_call(call, names),
        Expression::Path(Path { start: PathStart::This | PathStart::Loop(_), .. })
        | Expression::Text(_)
        | Expression::Number(_)
        | Expression::Bool(_)
        | Expression::Null => {}
    }
}

fn collect_from_call(Call { helper: _, arguments, options }: &Call, names: &mut BTreeSet<String>) {
    arguments.iter().chain(options.iter().map(|(_, value)| value)).for_each(|value| collect_from(value, names));
}
