//! An enum as an object: a key says which variant it is (`tag`), each variant is a key of its own (`one_of`),
//! or the keys that are given tell the variants apart (`by_keys`).

use quote::quote;
use syn::{DataEnum, Fields, LitStr, Type, Variant};

use crate::attributes::Member;
use crate::body::Parts;
use crate::field;
use crate::names::{Case, description};
use crate::object::Object;

/// Variants that the word under a key tells apart. Their fields are keys beside it.
pub(crate) fn tagged(data: &DataEnum, tag: &LitStr, case: Case) -> syn::Result<Parts> {
    let mut words = Vec::new();
    let mut reads = Vec::new();
    let mut prints = Vec::new();
    let mut schemas = Vec::new();
    for (n, variant) in data.variants.iter().enumerate() {
        let (name, about) = (&variant.ident, description(&variant.attrs));
        let word = word(variant, case)?;
        words.push(quote!((#word, #n)));
        let object = Object::new(&variant.fields, Case::Snake)?;
        let (read, literal, pattern) = (object.reads(), object.literal(), object.pattern());
        let (print, schema) = (object.prints_of_pattern(), object.schemas());
        reads.push(quote!(Some(#n) => { #read Some(Self::#name #literal) }));
        prints.push(quote!(Self::#name #pattern => { map.serialize_entry(#tag, #word)?; #print }));
        schemas
            .push(quote!(::model::json::schema::Variant { about: #about, tag: Some((#tag, #word)), parts: #schema }));
    }
    Ok(Parts {
        read: quote! {
            match fields.required(#tag, |at| at.choice(&[#(#words),*])) {
                #(#reads)*
                // Without the variant, nobody can say which keys belong here.
                _ => fields.pass_over_rest(),
            }
        },
        print: quote!(match self { #(#prints)* }),
        schema: quote!(::model::json::schema::variants(schemas, &[#(#schemas),*])),
    })
}

/// Variants with one value each, under a key of their own.
pub(crate) fn one_of(data: &DataEnum, message: &LitStr, missing: Option<&LitStr>, case: Case) -> syn::Result<Parts> {
    let missing = missing.map_or_else(|| quote!(None), |key| quote!(Some(#key)));
    let mut keys = Vec::new();
    let mut reads = Vec::new();
    let mut prints = Vec::new();
    let mut schemas = Vec::new();
    for variant in &data.variants {
        let (name, about, member) = (&variant.ident, description(&variant.attrs), Member::parse(&variant.attrs)?);
        let (key, ty) = (word(variant, case)?, only_type(variant)?);
        let (read, schema) = (field::reader(ty, &member), field::schema(ty, &member, false));
        reads.push(quote!(let value = fields.optional(#key, #read).map(Self::#name).or(value);));
        prints.push(quote!(Self::#name(value) => map.serialize_entry(#key, value)?,));
        schemas.push(quote!(::model::json::schema::Variant {
            about: "",
            tag: None,
            parts: &[::model::json::schema::Part::Key { key: #key, about: #about, is_required: true, schema: #schema }],
        }));
        keys.push(key);
    }
    Ok(Parts {
        read: quote! {
            fields.exactly_one(&[#(#keys),*], #message, #missing);
            let value = None;
            #(#reads)*
            value
        },
        print: quote!(match self { #(#prints)* }),
        schema: quote!(::model::json::schema::variants(schemas, &[#(#schemas),*])),
    })
}

/// Variants with several keys each: the first that has one of its `when` keys, or else the last, which says none.
pub(crate) fn by_keys(data: &DataEnum) -> syn::Result<Parts> {
    let mut reads = Vec::new();
    let mut prints = Vec::new();
    let mut schemas = Vec::new();
    for (n, variant) in data.variants.iter().enumerate() {
        let (name, about, member) = (&variant.ident, description(&variant.attrs), Member::parse(&variant.attrs)?);
        let object = Object::new(&variant.fields, Case::Snake)?;
        let (read, literal, pattern) = (object.reads(), object.literal(), object.pattern());
        let (print, schema) = (object.prints_of_pattern(), object.schemas());
        let is_last = n + 1 == data.variants.len();
        reads.push(match (&member.when, is_last) {
            (Some(keys), false) => quote!(if fields.has_any(&#keys) { #read Some(Self::#name #literal) } else),
            (None, true) => quote!({ #read Some(Self::#name #literal) }),
            _ => return Err(syn::Error::new_spanned(name, "all variants but the last say `when`")),
        });
        prints.push(quote!(Self::#name #pattern => { #print }));
        schemas.push(quote!(::model::json::schema::Variant { about: #about, tag: None, parts: #schema }));
    }
    Ok(Parts {
        read: quote!(#(#reads)*),
        print: quote!(match self { #(#prints)* }),
        schema: quote!(::model::json::schema::variants(schemas, &[#(#schemas),*])),
    })
}

fn word(variant: &Variant, case: Case) -> syn::Result<String> {
    Ok(Member::parse(&variant.attrs)?.rename.map_or_else(|| case.apply(&variant.ident), |word| word.value()))
}

fn only_type(variant: &Variant) -> syn::Result<&Type> {
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Ok(&fields.unnamed[0].ty),
        _ => Err(syn::Error::new_spanned(variant, "a variant that is a key has exactly one value")),
    }
}
