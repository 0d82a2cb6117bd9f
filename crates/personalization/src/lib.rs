//! The language of personalized texts, `Hello {{first_name}}`: text → [`Template`] → text for one recipient.
//!
//! A subset of Handlebars as messaging services speak it: variables, defaults, conditions, loops, and helpers for texts, numbers
//! and dates. Pure computation: a template is parsed once, with every mistake at its column, and rendered with the values of a
//! recipient. Neither can take long or grow without end, whoever wrote the template; see [`limits`]. docs/personalization.md has
//! the language for its users.

mod compare;
mod dates;
mod escape;
mod functions;
pub mod limits;
mod numbers;
mod parse;
mod print;
mod render;
mod template;
#[cfg(test)]
mod tests;

pub use escape::{Target, html_escaped, percent_encoded};
pub use parse::{Mistake, has_tags};
pub use render::{Unrenderable, ValueMap, Values};
pub use template::{Part, Template};
