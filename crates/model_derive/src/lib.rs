//! The derives of `model`: an object or a closed set of words is declared once, and its parser, its printer
//! and its JSON Schema come from the declaration.
//!
//! The generated code is thin: it names keys and types in their order and calls `model::json` for everything
//! else.

mod attributes;
mod body;
mod choice;
mod field;
mod names;
mod object;
mod words;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Declares an object of the API. See `model::json::body` for how to declare one.
#[proc_macro_derive(Body, attributes(body))]
pub fn derive_body(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    body::derive(&input).unwrap_or_else(|error| error.into_compile_error()).into()
}

/// Declares a closed set of words as an enum without data. See `model::json::body`.
#[proc_macro_derive(Words, attributes(words))]
pub fn derive_words(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    words::derive(&input).unwrap_or_else(|error| error.into_compile_error()).into()
}

/// For a type whose `parse` is written by hand: fields of declared bodies may have it. `#[body(schema = …)]`
/// describes it.
#[proc_macro_derive(Read, attributes(body))]
pub fn derive_read(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    body::derive_read(&input).unwrap_or_else(|error| error.into_compile_error()).into()
}
