//! What helpers do. Values that a helper cannot work with give nothing: null, which is shown as no text.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::scope::member;
use super::{Rendered, Renderer, Unrenderable, text_of};
use crate::compare::{is_empty, is_equal, is_true, number, order};
use crate::functions::Helper;
use crate::template::{Call, Expression};
use crate::{dates, limits, numbers, percent_encoded};

/// Bytes of text that are worth a step when they are copied.
pub(super) const BYTES_PER_STEP: usize = 64;

pub(super) fn carry_out<'t, 'v>(renderer: &mut Renderer<'t, 'v>, call: &'t Call) -> Rendered<Cow<'v, Value>> {
    let Call { helper, arguments, options } = call;
    match helper {
        // Only as many as decide.
        Helper::And => return condition(renderer, arguments, false),
        Helper::Or => return condition(renderer, arguments, true),
        Helper::Default => {
            let value = renderer.value(&arguments[0])?;
            return if is_empty(&value) { renderer.value(&arguments[1]) } else { Ok(value) };
        }
        Helper::Required => {
            let value = renderer.value(&arguments[0])?;
            return if is_empty(&value) { Err(Unrenderable::Missing(arguments[0].to_string())) } else { Ok(value) };
        }
        _ => {}
    }
    let values: Vec<Cow<'v, Value>> =
        arguments.iter().map(|argument| renderer.value(argument)).collect::<Rendered<_>>()?;
    let mut named = Vec::with_capacity(options.len());
    for (name, value) in options {
        named.push((name.as_str(), renderer.value(value)?));
    }
    let taken = values.iter().chain(named.iter().map(|(_, value)| value));
    renderer.step(taken.map(|value| weight(value)).sum())?;
    let option = |name: &str| named.iter().find(|(known, _)| *known == name).map(|(_, value)| &**value);
    let first = values.first().map_or(&Value::Null, |value| &**value);
    let second = values.get(1).map_or(&Value::Null, |value| &**value);
    let is = |wanted: &[Ordering]| Value::from(order(first, second).is_some_and(|order| wanted.contains(&order)));
    let text = |change: &dyn Fn(&str) -> String| Value::from(change(&text_of(first)));
    Ok(Cow::Owned(match helper {
        Helper::Eq => Value::from(is_equal(first, second)),
        Helper::Neq => Value::from(!is_equal(first, second)),
        Helper::Gt => is(&[Ordering::Greater]),
        Helper::Gte => is(&[Ordering::Greater, Ordering::Equal]),
        Helper::Lt => is(&[Ordering::Less]),
        Helper::Lte => is(&[Ordering::Less, Ordering::Equal]),
        Helper::Not => Value::from(!is_true(first)),
        Helper::Lookup => member(first, &text_of(second)).cloned().unwrap_or(Value::Null),
        Helper::Limit => limited(first, second),
        Helper::Array => Value::Array(values.into_iter().map(Cow::into_owned).collect()),
        Helper::Add => sum(&values, |a, b| a + b),
        Helper::Sub => sum(&values, |a, b| a - b),
        Helper::Mul => sum(&values, |a, b| a * b),
        Helper::Div => sum(&values, |a, b| a / b),
        Helper::DateFormat | Helper::TimeFormat | Helper::DateTimeFormat => {
            let style = dates::Style {
                locale: option("locale").and_then(Value::as_str),
                format: option("format").and_then(Value::as_str),
                pattern: option("pattern").and_then(Value::as_str),
            };
            dates::formatted(&text_of(first), dates::Shown::of(*helper), &style).map_or(Value::Null, Value::from)
        }
        Helper::Now => dates::instant_text(renderer.values.now).map_or(Value::Null, Value::from),
        Helper::UrlEncode => text(&|text| percent_encoded(text).into_owned()),
        Helper::Upper => text(&str::to_uppercase),
        Helper::Lower => text(&str::to_lowercase),
        Helper::Capitalize => text(&|text| capitalized(text, usize::MAX)),
        Helper::CapitalizeFirst => text(&|text| capitalized(text, 1)),
        Helper::Trim => text(&|text| text.trim().to_owned()),
        Helper::Join => {
            let separator = values.get(1).map_or(Cow::Borrowed(", "), |value| text_of(value));
            joined(first, &separator)?
        }
        Helper::Replace => {
            let with = values.get(2).map_or(Cow::Borrowed(""), |value| text_of(value));
            replaced(&text_of(first), &text_of(second), &with)?
        }
        Helper::NumberFormat => {
            let digits = |name: &str| option(name).and_then(number);
            let bounds = (digits("minimumFractionDigits"), digits("maximumFractionDigits"));
            let locale = option("locale").and_then(Value::as_str);
            number(first).map_or(Value::Null, |number| Value::from(numbers::formatted(number, bounds, locale)))
        }
        Helper::And | Helper::Or | Helper::Default | Helper::Required => Value::Null,
    }))
}

fn condition<'t, 'v>(
    renderer: &mut Renderer<'t, 'v>,
    arguments: &'t [Expression],
    decides: bool,
) -> Rendered<Cow<'v, Value>> {
    for argument in arguments {
        let value = renderer.value(argument)?;
        if is_true(&value) == decides {
            return Ok(Cow::Owned(Value::from(decides)));
        }
    }
    Ok(Cow::Owned(Value::from(!decides)))
}

/// About how much work it is to copy a value, or to look at all of it.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len() / BYTES_PER_STEP,
        Value::Array(items) => items.iter().map(|item| 1 + weight(item)).sum(),
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| 1 + key.len() / BYTES_PER_STEP + weight(value)).sum()
        }
    }
}

fn limited(list: &Value, most: &Value) -> Value {
    let Value::Array(items) = list else { return Value::Null };
    let most = number(most).map_or(0.0, f64::floor);
    let wanted = (0u32..).zip(items).take_while(|(n, _)| f64::from(*n) < most);
    Value::Array(wanted.map(|(_, item)| item.clone()).collect())
}

fn sum(values: &[Cow<'_, Value>], operation: impl Fn(f64, f64) -> f64) -> Value {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
    let result = numbers.and_then(|numbers| numbers.into_iter().reduce(operation));
    result.map_or(Value::Null, numbers::value)
}

/// The first letters of so many words as capitals.
fn capitalized(text: &str, n_words: usize) -> String {
    let mut capitalized = String::with_capacity(text.len());
    let (mut n_left, mut is_start) = (n_words, true);
    for c in text.chars() {
        if is_start && n_left > 0 && !c.is_whitespace() {
            capitalized.extend(c.to_uppercase());
            n_left -= 1;
        } else {
            capitalized.push(c);
        }
        is_start = c.is_whitespace();
    }
    capitalized
}

fn joined(list: &Value, separator: &str) -> Rendered<Value> {
    let Value::Array(items) = list else { return Ok(Value::from(text_of(list))) };
    if items.len().saturating_mul(separator.len()) > limits::OUTPUT_BYTES {
        return Err(Unrenderable::TooLong);
    }
    let texts: Vec<Cow<'_, str>> = items.iter().map(text_of).collect();
    Ok(Value::from(texts.join(separator)))
}

fn replaced(text: &str, old: &str, new: &str) -> Rendered<Value> {
    if old.is_empty() {
        return Ok(Value::from(text));
    }
    if text.matches(old).count().saturating_mul(new.len()) > limits::OUTPUT_BYTES {
        return Err(Unrenderable::TooLong);
    }
    Ok(Value::from(text.replace(old, new)))
}
