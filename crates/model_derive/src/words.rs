//! `#[derive(Words)]`: a closed set of words, each a variant.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Fields, LitStr};

use crate::body;
use crate::names::{Case, description};

/// What `#[words(…)]` says of an enum or of a variant.
#[derive(Default)]
struct Said {
    rename_all: Option<Case>,
    rename: Option<LitStr>,
    /// Other spellings that are read as well.
    aliases: Vec<LitStr>,
    not_printed: bool,
    /// The name of the schema, if it is not the name of the type.
    name: Option<LitStr>,
}

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let ty = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(syn::Error::new_spanned(ty, "words are the variants of an enum"));
    };
    let container = said(&input.attrs)?;
    let case = container.rename_all.unwrap_or(Case::Snake);
    let mut known = Vec::new();
    let mut printed = Vec::new();
    let mut about = Vec::new();
    for variant in &data.variants {
        let name = &variant.ident;
        if !matches!(variant.fields, Fields::Unit) {
            return Err(syn::Error::new_spanned(name, "a word has no fields"));
        }
        let said = said(&variant.attrs)?;
        let word = said.rename.map_or_else(|| case.apply(name), |word| word.value());
        known.push(quote!((#word, Self::#name)));
        known.extend(said.aliases.iter().map(|alias| quote!((#alias, Self::#name))));
        printed.push(quote!(Self::#name => #word));
        let description = description(&variant.attrs);
        about.push(quote!((#word, #description)));
    }
    let (visibility, description, own_name) = (&input.vis, description(&input.attrs), ty.to_string());
    let name = container.name.as_ref().map_or_else(|| own_name.clone(), LitStr::value);
    let reading = body::read_by_parse(ty);
    let printing = (!container.not_printed).then(|| {
        quote! {
            impl ::serde::Serialize for #ty {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.word())
                }
            }
        }
    });
    Ok(quote! {
        impl #ty {
            /// Every word that is read, with its meaning.
            #visibility const WORDS: &'static [(&'static str, Self)] = &[#(#known),*];

            #visibility fn parse(at: &::model::json::At<'_>) -> Option<Self> {
                at.choice(Self::WORDS)
            }

            /// The word in JSON.
            #visibility const fn word(self) -> &'static str {
                match self {
                    #(#printed),*
                }
            }
        }

        #reading

        #printing

        impl ::schemars::JsonSchema for #ty {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                #name.into()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", #own_name).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::model::json::schema::words(#description, &[#(#about),*])
            }
        }
    })
}

fn said(attributes: &[Attribute]) -> syn::Result<Said> {
    let mut said = Said::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("words")) {
        attribute.parse_nested_meta(|meta| {
            match meta.path.get_ident().map(ToString::to_string).as_deref() {
                Some("rename_all") => said.rename_all = Some(Case::parse(&meta.value()?.parse()?)?),
                Some("rename") => said.rename = Some(meta.value()?.parse()?),
                Some("alias") => said.aliases.push(meta.value()?.parse()?),
                Some("not_printed") => said.not_printed = true,
                Some("name") => said.name = Some(meta.value()?.parse()?),
                _ => return Err(meta.error("this is not known here")),
            }
            Ok(())
        })?;
    }
    Ok(said)
}
