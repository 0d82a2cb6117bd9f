//! `#[derive(Body)]`: the parser, the printer and the schema of one object, put together from its parts.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Ident};

use crate::attributes::Container;
use crate::choice;
use crate::names::{Case, description};
use crate::object::Object;

/// What the two kinds of declarations, structs and enums, differ in.
pub(crate) struct Parts {
    /// An expression of type `Option<Self>` over `fields`.
    pub(crate) read: TokenStream,
    /// Statements that print `self` into `map`.
    pub(crate) print: TokenStream,
    /// An expression of type `Schema` over `schemas`.
    pub(crate) schema: TokenStream,
}

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let container = Container::parse(&input.attrs)?;
    let case = container.rename_all.unwrap_or(Case::Snake);
    let parts = match &input.data {
        Data::Struct(data) => of_struct(&Object::new(&data.fields, case)?, &container),
        Data::Enum(data) => match (&container.tag, &container.one_of, container.by_keys) {
            (Some(tag), None, false) => choice::tagged(data, tag, case)?,
            (None, Some(message), false) => choice::one_of(data, message, container.missing.as_ref(), case)?,
            (None, None, true) => choice::by_keys(data)?,
            _ => return Err(syn::Error::new_spanned(&input.ident, "an enum says `tag`, `one_of` or `by_keys`")),
        },
        Data::Union(_) => return Err(syn::Error::new_spanned(&input.ident, "a body is a struct or an enum")),
    };
    let reading = reading(input, &container, &parts);
    let printing = if container.not_printed { TokenStream::new() } else { printing(input, &parts) };
    let schema = schema(input, &container, &parts.schema);
    Ok(quote!(#reading #printing #schema))
}

fn of_struct(object: &Object<'_>, container: &Container) -> Parts {
    let (reads, literal, schemas) = (object.reads(), object.literal(), object.schemas());
    let ignored = container.ignored.iter().map(|keys| quote!(fields.ignore(&#keys);));
    let keys = container.keys.iter().map(|keys| quote!(fields.inspect(#keys);));
    Parts {
        read: quote!(#reads #(#ignored)* #(#keys)* Some(Self #literal)),
        print: object.prints_of_self(),
        schema: quote!(::model::json::schema::object(schemas, #schemas)),
    }
}

/// `parse`, and `read_fields` for objects whose keys stand among those of another.
fn reading(input: &DeriveInput, container: &Container, parts: &Parts) -> TokenStream {
    let (ty, visibility, read) = (&input.ident, &input.vis, &parts.read);
    let parse = container.parse.clone().unwrap_or_else(|| format_ident!("parse"));
    let (declared, passed) = container.arguments();
    let not_empty = container.not_empty.iter().map(|message| quote!(at.refuse_empty(#message)?;));
    let skipping = container.lenient.then(|| quote!(fields.pass_over_rest::<Self>();));
    let check = container.check.iter().map(|check| quote!(let value = at.check(value, #check);));
    let trait_impl = container.given.is_none().then(|| read_by(ty, &parse));
    quote! {
        impl #ty {
            #visibility fn #parse(at: &::model::json::At<'_> #declared) -> Option<Self> {
                let mut fields = at.object()?;
                #(#not_empty)*
                let value = Self::read_fields(&mut fields #passed);
                #skipping
                fields.finish();
                #(#check)*
                value
            }

            #visibility fn read_fields(fields: &mut ::model::json::Fields<'_> #declared) -> Option<Self> {
                #read
            }
        }
        #trait_impl
    }
}

/// `#[derive(Read)]`: the parser is written by hand, and the schema may be given as an expression.
pub(crate) fn derive_read(input: &DeriveInput) -> syn::Result<TokenStream> {
    let container = Container::parse(&input.attrs)?;
    let reading = read_by_parse(&input.ident);
    let schema = container.schema.as_ref().map(|given| schema(input, &container, &quote!(#given)));
    Ok(quote!(#reading #schema))
}

pub(crate) fn read_by_parse(ty: &Ident) -> TokenStream {
    read_by(ty, &format_ident!("parse"))
}

fn read_by(ty: &Ident, parse: &Ident) -> TokenStream {
    quote! {
        impl ::model::json::body::Read for #ty {
            fn read(at: &::model::json::At<'_>) -> Option<Self> {
                Self::#parse(at)
            }
        }
    }
}

fn printing(input: &DeriveInput, parts: &Parts) -> TokenStream {
    let (ty, print) = (&input.ident, &parts.print);
    quote! {
        impl ::model::json::body::Print for #ty {
            fn print_into<M: ::serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                #print
                Ok(())
            }
        }
        impl ::serde::Serialize for #ty {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                ::model::json::body::print(self, serializer)
            }
        }
    }
}

fn schema(input: &DeriveInput, container: &Container, schema: &TokenStream) -> TokenStream {
    let (ty, about) = (&input.ident, description(&input.attrs));
    let name = container.name.as_ref().map_or_else(|| ty.to_string(), syn::LitStr::value);
    let not_empty = container.not_empty.iter().map(|_| quote!(schema.insert("minProperties".to_owned(), 1.into());));
    let lenient = container
        .lenient
        .then(|| quote!(schema.remove("additionalProperties"); schema.remove("unevaluatedProperties");));
    quote! {
        impl ::schemars::JsonSchema for #ty {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                #name.into()
            }

            // Two types may have one name, in modules of their own.
            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!(#ty)).into()
            }

            fn json_schema(schemas: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                let mut schema = #schema;
                ::model::json::schema::describe(&mut schema, #about);
                #(#not_empty)*
                #lenient
                schema
            }
        }
    }
}
