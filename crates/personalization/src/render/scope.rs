//! Where a path leads: through the contexts of blocks to the values of the recipient.

use std::borrow::Cow;

use serde_json::Value;

use super::Values;
use crate::template::{LoopVariable, Path, PathStart};

/// The context of a block.
pub(super) struct Frame<'t, 'v> {
    pub(super) context: Cow<'v, Value>,
    /// What the block calls it.
    pub(super) name: Option<&'t str>,
    /// Of a loop.
    pub(super) turn: Option<Turn>,
}

/// One turn of a loop.
pub(super) struct Turn {
    pub(super) index: usize,
    pub(super) is_last: bool,
    /// Where the loop is over an object.
    pub(super) key: Option<String>,
}

/// What a path leads to. Nothing is copied on the way.
pub(super) enum Found<'f, 'v> {
    /// One of the values of the recipient, or a part of it.
    Lasting(&'v Value),
    /// A part of a value that was worked out, which is there for as long as its block.
    Passing(&'f Value),
    /// Of the turn of a loop.
    Turn(Value),
    Nothing,
}

pub(super) fn find<'f, 'v>(values: &'v Values<'v>, frames: &'f [Frame<'_, 'v>], path: &Path) -> Found<'f, 'v> {
    let found = match path.start {
        PathStart::Loop(variable) => loop_variable(frames, variable).map(Found::Turn),
        PathStart::This => frames.last().and_then(|frame| below(&frame.context, &path.segments)),
        PathStart::Root => at_root(values, &path.segments),
        PathStart::Nearest => nearest(values, frames, &path.segments),
        PathStart::Above(n) => {
            let outer = &frames[..frames.len().saturating_sub(n)];
            match path.segments.is_empty() {
                true => outer.last().and_then(|frame| below(&frame.context, &[])),
                false => nearest(values, outer, &path.segments),
            }
        }
    };
    found.unwrap_or(Found::Nothing)
}

fn nearest<'f, 'v>(values: &'v Values<'v>, frames: &'f [Frame<'_, 'v>], segments: &[String]) -> Option<Found<'f, 'v>> {
    let (first, rest) = segments.split_first()?;
    for frame in frames.iter().rev() {
        if frame.name == Some(first.as_str()) {
            return below(&frame.context, rest);
        }
        if frame.context.get(first).is_some() {
            return below(&frame.context, segments);
        }
    }
    at_root(values, segments)
}

fn at_root<'f, 'v>(values: &'v Values<'v>, segments: &[String]) -> Option<Found<'f, 'v>> {
    let (first, rest) = segments.split_first()?;
    for layer in values.layers {
        if let Some(value) = layer.get(first) {
            return walk(value, rest).map(Found::Lasting);
        }
        // An instance of an attribute that is an object.
        if let Some((second, rest)) = rest.split_first()
            && let Some(value) = layer.get(&format!("{first}#{second}"))
        {
            return walk(value, rest).map(Found::Lasting);
        }
    }
    None
}

fn below<'f, 'v>(context: &'f Cow<'v, Value>, segments: &[String]) -> Option<Found<'f, 'v>> {
    match context {
        Cow::Borrowed(value) => walk(value, segments).map(Found::Lasting),
        Cow::Owned(value) => walk(value, segments).map(Found::Passing),
    }
}

fn walk<'v>(value: &'v Value, segments: &[String]) -> Option<&'v Value> {
    segments.iter().try_fold(value, |value, segment| member(value, segment))
}

/// A member of an object, or the item of a list with this number.
pub(super) fn member<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(entries) => entries.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn loop_variable(frames: &[Frame<'_, '_>], variable: LoopVariable) -> Option<Value> {
    let turn = frames.iter().rev().find_map(|frame| frame.turn.as_ref())?;
    Some(match variable {
        LoopVariable::Index => Value::from(turn.index),
        LoopVariable::First => Value::from(turn.index == 0),
        LoopVariable::Last => Value::from(turn.is_last),
        LoopVariable::Key => Value::from(turn.key.as_deref()?),
    })
}
