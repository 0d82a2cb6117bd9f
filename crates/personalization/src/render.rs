//! From a template and the values of one recipient to text.

mod calls;
mod scope;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::compare::is_true;
use crate::escape::Target;
use crate::limits;
use crate::template::{Block, Branch, Call, Expression, Node, Opener, Template};
use calls::{BYTES_PER_STEP, weight};
use scope::{Found, Frame, Turn};

/// Values by their names.
pub type ValueMap = BTreeMap<String, Value>;

/// All that is known of one recipient.
#[derive(Clone, Copy, Debug)]
pub struct Values<'v> {
    /// The nearest first: the first map that has a name decides.
    pub layers: &'v [&'v ValueMap],
    /// In milliseconds since 1970, for `now`.
    pub now: i64,
}

/// Why a recipient gets no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unrenderable {
    /// A value that the text cannot do without.
    Missing(String),
    TooLong,
    TooMuchWork,
    /// A text that has to be a URL is none, and why; only the caller knows the form of a text.
    NotAUrl(&'static str),
}

impl fmt::Display for Unrenderable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => {
                write!(out, "The push needs a value for '{name}', and there is none for this device.")
            }
            Self::TooLong => {
                let most = limits::OUTPUT_BYTES;
                write!(out, "With the values of this device the texts of the push have more than {most} bytes.")
            }
            Self::TooMuchWork => {
                out.write_str("The texts of the push take too many steps with the values of this device.")
            }
            Self::NotAUrl(why) => write!(out, "With the values of this device a URL of the push cannot be used. {why}"),
        }
    }
}

type Rendered<T> = Result<T, Unrenderable>;

impl Template {
    pub fn render(&self, target: Target, values: &Values<'_>) -> Result<String, Unrenderable> {
        self.render_as_one_of(target, values, &mut 0)
    }

    /// As [`Template::render`], as one of several texts for the same recipient that have taken so many steps.
    pub fn render_as_one_of(
        &self,
        target: Target,
        values: &Values<'_>,
        n_steps: &mut usize,
    ) -> Result<String, Unrenderable> {
        let mut renderer = Renderer { values, target, out: String::new(), frames: Vec::new(), n_steps: 0 };
        renderer.nodes(&self.nodes)?;
        *n_steps = n_steps.saturating_add(renderer.n_steps);
        if *n_steps > limits::STEPS_OF_ALL { Err(Unrenderable::TooMuchWork) } else { Ok(renderer.out) }
    }
}

struct Renderer<'t, 'v> {
    values: &'v Values<'v>,
    target: Target,
    out: String,
    /// The contexts of blocks, the innermost last.
    frames: Vec<Frame<'t, 'v>>,
    n_steps: usize,
}

impl<'t, 'v> Renderer<'t, 'v> {
    fn nodes(&mut self, nodes: &'t [Node]) -> Rendered<()> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'t Node) -> Rendered<()> {
        self.step(1)?;
        match node {
            Node::Text(text) => self.write(text),
            Node::Value { expression, is_raw } => {
                let value = self.value(expression)?;
                let text = text_of(&value);
                // What is encoded for a URL, or is its beginning, has the form that it is to have there.
                let is_final = match self.target {
                    Target::Url => is_url_encoded(expression),
                    Target::WholeUrl => self.out.is_empty() || is_url_encoded(expression),
                    Target::Text | Target::Html => false,
                };
                match *is_raw || is_final {
                    true => self.write(&text),
                    false => self.write(&self.target.escaped(&text)),
                }
            }
            Node::Block(block) => self.block(block),
        }
    }

    fn block(&mut self, Block { branches, otherwise }: &'t Block) -> Rendered<()> {
        for Branch { opener, nodes } in branches {
            if self.branch(opener, nodes)? {
                return Ok(());
            }
        }
        self.nodes(otherwise.as_deref().unwrap_or_default())
    }

    /// Renders a branch if it holds, and returns whether it does.
    fn branch(&mut self, opener: &'t Opener, nodes: &'t [Node]) -> Rendered<bool> {
        let holds = match opener {
            Opener::If(value) => self.holds(value)?,
            Opener::Unless(value) => !self.holds(value)?,
            Opener::Holds(call) => {
                let value = self.call(call)?;
                is_true(&value)
            }
            Opener::With { value, name } => {
                let context = self.value(value)?;
                let holds = is_true(&context);
                if holds {
                    self.inside(Frame { context, name: name.as_deref(), turn: None }, nodes)?;
                }
                return Ok(holds);
            }
            Opener::Each { list, name } => {
                let list = self.value(list)?;
                return self.each(list, name.as_deref(), nodes);
            }
        };
        if holds {
            self.nodes(nodes)?;
        }
        Ok(holds)
    }

    fn holds(&mut self, value: &'t Expression) -> Rendered<bool> {
        let value = self.value(value)?;
        Ok(is_true(&value))
    }

    fn each(&mut self, list: Cow<'v, Value>, name: Option<&'t str>, nodes: &'t [Node]) -> Rendered<bool> {
        if let Value::Object(entries) = &*list {
            self.step(entries.keys().map(String::len).sum::<usize>() / BYTES_PER_STEP)?;
        }
        let items: Vec<(Option<String>, Cow<'v, Value>)> = match list {
            Cow::Borrowed(Value::Array(items)) => items.iter().map(|item| (None, Cow::Borrowed(item))).collect(),
            Cow::Owned(Value::Array(items)) => items.into_iter().map(|item| (None, Cow::Owned(item))).collect(),
            Cow::Borrowed(Value::Object(entries)) => {
                entries.iter().map(|(key, value)| (Some(key.clone()), Cow::Borrowed(value))).collect()
            }
            Cow::Owned(Value::Object(entries)) => {
                entries.into_iter().map(|(key, value)| (Some(key), Cow::Owned(value))).collect()
            }
            Cow::Borrowed(_) | Cow::Owned(_) => Vec::new(),
        };
        let n = items.len();
        for (index, (key, context)) in items.into_iter().enumerate() {
            let turn = Some(Turn { index, is_last: index + 1 == n, key });
            self.inside(Frame { context, name, turn }, nodes)?;
        }
        Ok(n > 0)
    }

    fn inside(&mut self, frame: Frame<'t, 'v>, nodes: &'t [Node]) -> Rendered<()> {
        self.step(1)?;
        self.frames.push(frame);
        let rendered = self.nodes(nodes);
        self.frames.pop();
        rendered
    }

    /// What is not known is null.
    fn value(&mut self, expression: &'t Expression) -> Rendered<Cow<'v, Value>> {
        Ok(match expression {
            Expression::Text(text) => {
                self.step(text.len() / BYTES_PER_STEP)?;
                Cow::Owned(Value::from(text.as_str()))
            }
            Expression::Number(number) => Cow::Owned(crate::numbers::value(*number)),
            Expression::Bool(value) => Cow::Owned(Value::from(*value)),
            Expression::Null => Cow::Owned(Value::Null),
            Expression::Path(path) => {
                self.step(path.segments.iter().map(String::len).sum::<usize>() / BYTES_PER_STEP)?;
                match scope::find(self.values, &self.frames, path) {
                    Found::Lasting(value) => Cow::Borrowed(value),
                    Found::Passing(value) => {
                        step(&mut self.n_steps, weight(value))?;
                        Cow::Owned(value.clone())
                    }
                    Found::Turn(value) => {
                        step(&mut self.n_steps, weight(&value))?;
                        Cow::Owned(value)
                    }
                    Found::Nothing => Cow::Owned(Value::Null),
                }
            }
            Expression::Call(call) => self.call(call)?,
        })
    }

    fn call(&mut self, call: &'t Call) -> Rendered<Cow<'v, Value>> {
        self.step(1)?;
        calls::carry_out(self, call)
    }

    fn step(&mut self, n: usize) -> Rendered<()> {
        step(&mut self.n_steps, n)
    }

    fn write(&mut self, text: &str) -> Rendered<()> {
        if self.out.len() + text.len() > limits::OUTPUT_BYTES {
            return Err(Unrenderable::TooLong);
        }
        self.out.push_str(text);
        Ok(())
    }
}

fn step(n_steps: &mut usize, n: usize) -> Rendered<()> {
    *n_steps = n_steps.saturating_add(n);
    if *n_steps > limits::STEPS { Err(Unrenderable::TooMuchWork) } else { Ok(()) }
}

fn is_url_encoded(expression: &Expression) -> bool {
    matches!(expression, Expression::Call(Call { helper: crate::functions::Helper::UrlEncode, .. }))
}

/// A value as it is shown. Lists and objects are not: they have no one form that people could read.
fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Number(number) => number.to_string().into(),
        Value::Bool(value) => value.to_string().into(),
        Value::Null | Value::Array(_) | Value::Object(_) => "".into(),
    }
}
