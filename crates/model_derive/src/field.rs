//! One field: how it is read, printed and described.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Field, GenericArgument, Ident, PathArguments, Type};

use crate::attributes::{DefaultValue, Member};
use crate::names::{Case, description};

pub(crate) struct Declared<'a> {
    pub(crate) name: Ident,
    pub(crate) is_first: bool,
    key: String,
    about: String,
    /// Of an `Option`, the type inside.
    ty: &'a Type,
    wrapper: Wrapper,
    member: Member,
}

/// What the type of a field says about leaving its key out.
#[derive(Clone, Copy, PartialEq)]
enum Wrapper {
    /// The key is required, unless there is a default.
    None,
    Option,
    /// `model::channel::Change`: left out, `null` or given, which are three things.
    Change,
}

impl<'a> Declared<'a> {
    pub(crate) fn new(field: &'a Field, case: Case) -> syn::Result<Self> {
        let member = Member::parse(&field.attrs)?;
        let Some(name) = field.ident.clone().or_else(|| member.rename.as_ref().map(|_| format_ident!("value"))) else {
            return Err(syn::Error::new_spanned(field, "a field without a name needs `rename`"));
        };
        let (wrapper, ty) = unwrapped(&field.ty);
        if member.nullable && wrapper != Wrapper::Option && member.default.is_none() {
            return Err(syn::Error::new_spanned(&name, "`nullable` needs an `Option` or `default`"));
        }
        Ok(Self {
            is_first: member.first,
            key: member.rename.as_ref().map_or_else(|| case.apply(&name), syn::LitStr::value),
            name,
            about: description(&field.attrs),
            ty,
            wrapper,
            member,
        })
    }

    /// Reads the field into a local variable of its name.
    pub(crate) fn read(&self) -> TokenStream {
        let Self { name, key, ty, member, .. } = self;
        if member.skip {
            return quote!(let #name = ::std::default::Default::default(););
        }
        let value = match (&member.take, member.flatten) {
            (Some(take), _) => quote!(fields.with(#take)),
            (None, true) => quote!(<#ty>::read_fields(fields)),
            (None, false) => {
                let read = reader(ty, member);
                match (self.wrapper, self.is_required(), member.nullable) {
                    (Wrapper::Change, ..) => quote!(::model::channel::Change::read(fields, #key, #read)),
                    (_, true, _) => quote!(fields.required(#key, #read)),
                    (_, false, true) => quote!(fields.nullable(#key, #read)),
                    (_, false, false) => quote!(fields.optional(#key, #read)),
                }
            }
        };
        match &member.default {
            Some(DefaultValue::OfType) => quote!(let #name = #value.unwrap_or_default();),
            Some(DefaultValue::Given(default)) => quote!(let #name = #value.unwrap_or_else(|| #default);),
            None => quote!(let #name = #value;),
        }
    }

    /// The value that was read, in the literal of its struct.
    pub(crate) fn value(&self) -> TokenStream {
        let name = &self.name;
        match self.wrapper != Wrapper::None || self.member.default.is_some() || self.member.skip {
            true => quote!(#name),
            false => quote!(#name?),
        }
    }

    /// Prints the field, of which `value` is a reference, unless it is not set.
    pub(crate) fn print(&self, value: &TokenStream) -> TokenStream {
        let key = &self.key;
        if self.member.skip {
            return TokenStream::new();
        }
        let left_out = match &self.member.default {
            Some(DefaultValue::OfType) => Some(quote!(::std::default::Default::default())),
            Some(DefaultValue::Given(default)) => Some(quote!(#default)),
            None => None,
        };
        match (self.member.flatten, self.wrapper, left_out.filter(|_| !self.member.always)) {
            (true, ..) => quote!(::model::json::body::Print::print_into(#value, map)?;),
            (false, Wrapper::Option, _) if !self.member.always => {
                quote!(if let Some(value) = #value { map.serialize_entry(#key, value)?; })
            }
            (false, _, Some(default)) => quote! {
                if *#value != #default { map.serialize_entry(#key, #value)?; }
            },
            (false, _, None) => quote!(map.serialize_entry(#key, #value)?;),
        }
    }

    /// The field's entry in the table that its schema is made from.
    pub(crate) fn schema(&self) -> Option<TokenStream> {
        let Self { key, about, member, .. } = self;
        if member.skip {
            return None;
        }
        let schema = schema(self.ty, member, member.nullable || self.wrapper == Wrapper::Change);
        if member.flatten {
            let ty = self.ty;
            let schema = match &member.schema {
                Some(schema) => quote!(#schema),
                None => quote!(<#ty as ::schemars::JsonSchema>::json_schema),
            };
            return Some(quote!(::model::json::schema::Part::Flattened(#schema)));
        }
        let is_required = self.is_required();
        Some(quote!(::model::json::schema::Part::Key {
            key: #key, about: #about, is_required: #is_required, schema: #schema
        }))
    }

    const fn is_required(&self) -> bool {
        matches!(self.wrapper, Wrapper::None) && self.member.default.is_none()
    }
}

/// How a value of this type is read: a function or a closure.
pub(crate) fn reader(ty: &Type, member: &Member) -> TokenStream {
    match (&member.read, &member.within, &member.each) {
        (Some(read), ..) => quote!(#read),
        (None, within, Some(each)) => {
            let within = within.as_ref().map_or_else(|| quote!(0..=usize::MAX), |within| quote!(#within));
            quote!(|at| <#ty as ::model::json::body::Many>::read_each(at, #within, #each))
        }
        (None, Some(within), None) => quote!(|at| <#ty as ::model::json::body::Within>::read_within(at, #within)),
        (None, None, None) => quote!(<#ty as ::model::json::body::Read>::read),
    }
}

/// The function that describes a value of this type.
pub(crate) fn schema(ty: &Type, member: &Member, is_nullable: bool) -> TokenStream {
    let ty = member.like.as_ref().unwrap_or(ty);
    let shown = match is_nullable {
        true => quote!(::std::option::Option<#ty>),
        false => quote!(#ty),
    };
    let default = match &member.default {
        Some(DefaultValue::Given(default)) => Some(quote!(::model::json::schema::set_default(&mut schema, &#default);)),
        Some(DefaultValue::OfType) | None => None,
    };
    match (&member.schema, &member.within, &member.each, default) {
        (Some(schema), .., None) => quote!(#schema),
        (None, None, None, None) => quote!(|schemas| schemas.subschema_for::<#shown>()),
        (written, within, each, default) => {
            let schema = match written {
                Some(written) => quote!((#written)(schemas)),
                None => quote!(schemas.subschema_for::<#shown>()),
            };
            let within =
                within.iter().map(|within| quote!(<#ty as ::model::json::body::Limited>::limit(&mut schema, #within);));
            let each =
                each.iter().map(|each| quote!(<#ty as ::model::json::body::Many>::limit_each(&mut schema, #each);));
            quote!(|schemas| {
                let mut schema = #schema;
                #(#within)*
                #(#each)*
                #default
                schema
            })
        }
    }
}

/// The type, without the wrapper that says whether its key may be left out.
fn unwrapped(ty: &Type) -> (Wrapper, &Type) {
    let Type::Path(path) = ty else { return (Wrapper::None, ty) };
    let Some(last) = path.path.segments.last() else { return (Wrapper::None, ty) };
    let wrapper = match last.ident.to_string().as_str() {
        "Option" => Wrapper::Option,
        "Change" => Wrapper::Change,
        _ => return (Wrapper::None, ty),
    };
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(inside)) => (wrapper, inside),
            _ => (Wrapper::None, ty),
        },
        PathArguments::None | PathArguments::Parenthesized(_) => (Wrapper::None, ty),
    }
}
