//! `#[body(…)]`: what a declaration says beyond names and types.

use proc_macro2::TokenStream;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, FnArg, Ident, LitStr, Token, Type, parenthesized};

use crate::names::Case;

/// Of a struct or an enum.
#[derive(Default)]
pub(crate) struct Container {
    pub(crate) rename_all: Option<Case>,
    /// The name of the generated parser, if it is not `parse`.
    pub(crate) parse: Option<Ident>,
    /// The parser is given more than the position.
    pub(crate) given: Option<Punctuated<FnArg, Token![,]>>,
    /// An object without keys is refused with this message.
    pub(crate) not_empty: Option<LitStr>,
    /// Keys that are accepted and mean nothing.
    pub(crate) ignored: Option<Expr>,
    /// Unknown keys are skipped, whoever sends them.
    pub(crate) lenient: bool,
    /// Looks at the keys before unknown ones are refused.
    pub(crate) keys: Option<Expr>,
    /// Looks at the value once it is complete.
    pub(crate) check: Option<Expr>,
    /// The value is only read.
    pub(crate) not_printed: bool,
    /// The key whose word says which variant it is.
    pub(crate) tag: Option<LitStr>,
    /// Each variant is one key, of which exactly one is given; otherwise this is the message.
    pub(crate) one_of: Option<LitStr>,
    /// The keys that are given tell the variants apart.
    pub(crate) by_keys: bool,
    /// The key to ask for when none of them is given, if that has a message of its own.
    pub(crate) missing: Option<LitStr>,
    /// The name of the schema, if it is not the name of the type.
    pub(crate) name: Option<LitStr>,
    /// The schema of a type whose parser is written by hand.
    pub(crate) schema: Option<Expr>,
}

/// Of a field, or of a variant that has no fields of its own.
#[derive(Default)]
pub(crate) struct Member {
    pub(crate) rename: Option<LitStr>,
    pub(crate) read: Option<Expr>,
    pub(crate) take: Option<Expr>,
    pub(crate) flatten: bool,
    pub(crate) first: bool,
    pub(crate) nullable: bool,
    pub(crate) default: Option<DefaultValue>,
    /// Printed even when it is not set, or the default.
    pub(crate) always: bool,
    /// Neither read nor printed; always the default at first.
    pub(crate) skip: bool,
    /// The limits of the value: a length or a range.
    pub(crate) within: Option<Expr>,
    /// The limits of each of its items.
    pub(crate) each: Option<Expr>,
    pub(crate) schema: Option<Expr>,
    /// Its schema is that of another type.
    pub(crate) like: Option<Type>,
    /// Of a variant: it is meant when one of these keys is given.
    pub(crate) when: Option<Expr>,
}

/// The value of a field whose key is not given.
pub(crate) enum DefaultValue {
    OfType,
    Given(Expr),
}

impl Container {
    pub(crate) fn parse(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut found = Self::default();
        each_entry(attributes, |meta| {
            let Some(key) = meta.path.get_ident() else { return Err(meta.error("this is not known here")) };
            match key.to_string().as_str() {
                "rename_all" => found.rename_all = Some(Case::parse(&meta.value()?.parse()?)?),
                "parse" => found.parse = Some(meta.value()?.parse()?),
                "given" => {
                    let arguments;
                    parenthesized!(arguments in meta.input);
                    found.given = Some(Punctuated::parse_terminated(&arguments)?);
                }
                "not_empty" => found.not_empty = Some(meta.value()?.parse()?),
                "ignored" => found.ignored = Some(meta.value()?.parse()?),
                "lenient" => found.lenient = true,
                "missing" => found.missing = Some(meta.value()?.parse()?),
                "keys" => found.keys = Some(meta.value()?.parse()?),
                "check" => found.check = Some(meta.value()?.parse()?),
                "not_printed" => found.not_printed = true,
                "tag" => found.tag = Some(meta.value()?.parse()?),
                "one_of" => found.one_of = Some(meta.value()?.parse()?),
                "by_keys" => found.by_keys = true,
                "schema" => found.schema = Some(meta.value()?.parse()?),
                "name" => found.name = Some(meta.value()?.parse()?),
                _ => return Err(meta.error("this is not known here")),
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The additional arguments of the parser, as they are declared and as they are passed on.
    pub(crate) fn arguments(&self) -> (TokenStream, TokenStream) {
        let mut declared = TokenStream::new();
        let mut passed = TokenStream::new();
        for argument in self.given.iter().flatten() {
            declared.extend(quote::quote!(, #argument));
            if let FnArg::Typed(argument) = argument {
                let name = &argument.pat;
                passed.extend(quote::quote!(, #name));
            }
        }
        (declared, passed)
    }
}

impl Member {
    pub(crate) fn parse(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut found = Self::default();
        each_entry(attributes, |meta| {
            let Some(key) = meta.path.get_ident() else { return Err(meta.error("this is not known here")) };
            match key.to_string().as_str() {
                "rename" => found.rename = Some(meta.value()?.parse()?),
                "read" => found.read = Some(meta.value()?.parse()?),
                "take" => found.take = Some(meta.value()?.parse()?),
                "flatten" => found.flatten = true,
                "first" => found.first = true,
                "nullable" => found.nullable = true,
                "default" if meta.input.peek(Token![=]) => {
                    found.default = Some(DefaultValue::Given(meta.value()?.parse()?));
                }
                "default" => found.default = Some(DefaultValue::OfType),
                "always" => found.always = true,
                "skip" => found.skip = true,
                "length" | "range" => found.within = Some(meta.value()?.parse()?),
                "each" => found.each = Some(meta.value()?.parse()?),
                "schema" => found.schema = Some(meta.value()?.parse()?),
                "like" => found.like = Some(meta.value()?.parse()?),
                "when" => found.when = Some(meta.value()?.parse()?),
                _ => return Err(meta.error("this is not known here")),
            }
            Ok(())
        })?;
        Ok(found)
    }
}

fn each_entry(
    attributes: &[Attribute],
    mut read: impl FnMut(ParseNestedMeta<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    let mut ours = attributes.iter().filter(|attribute| attribute.path().is_ident("body"));
    ours.try_for_each(|attribute| attribute.parse_nested_meta(&mut read))
}
