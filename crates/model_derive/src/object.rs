//! A struct as an object, each field a key; and the fields of one variant of an enum, which are the same.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Fields;

use crate::field::Declared;
use crate::names::Case;

/// The fields in the order of their declaration.
pub(crate) struct Object<'a> {
    fields: Vec<Declared<'a>>,
    /// A struct around a single value, which has no name.
    is_tuple: bool,
}

impl<'a> Object<'a> {
    pub(crate) fn new(fields: &'a Fields, case: Case) -> syn::Result<Self> {
        let is_tuple = matches!(fields, Fields::Unnamed(_));
        if is_tuple && fields.len() != 1 {
            return Err(syn::Error::new_spanned(fields, "several fields need names"));
        }
        let fields = fields.iter().map(|field| Declared::new(field, case)).collect::<syn::Result<_>>()?;
        Ok(Self { fields, is_tuple })
    }

    /// Statements that read every field into a variable of its name.
    pub(crate) fn reads(&self) -> TokenStream {
        let (first, others): (Vec<_>, Vec<_>) = self.fields.iter().partition(|field| field.is_first);
        first.into_iter().chain(others).map(Declared::read).collect()
    }

    /// What follows the name of the struct or variant to make a value of those variables.
    pub(crate) fn literal(&self) -> TokenStream {
        let values = self.fields.iter().map(Declared::value);
        let names = self.fields.iter().map(|field| &field.name);
        match self.is_tuple {
            true => quote!((#(#values),*)),
            false => quote!({ #(#names: #values),* }),
        }
    }

    /// What follows the name of a variant to take it apart.
    pub(crate) fn pattern(&self) -> TokenStream {
        let names = self.fields.iter().map(|field| &field.name);
        match self.is_tuple {
            true => quote!((#(#names),*)),
            false => quote!({ #(#names),* }),
        }
    }

    /// Statements that print the fields of `self`.
    pub(crate) fn prints_of_self(&self) -> TokenStream {
        let print = |field: &Declared<'_>| match self.is_tuple {
            true => field.print(&quote!((&self.0))),
            false => {
                let name = &field.name;
                field.print(&quote!((&self.#name)))
            }
        };
        self.fields.iter().map(print).collect()
    }

    /// Statements that print the variables of a pattern.
    pub(crate) fn prints_of_pattern(&self) -> TokenStream {
        let print = |field: &Declared<'_>| {
            let name = &field.name;
            field.print(&quote!(#name))
        };
        self.fields.iter().map(print).collect()
    }

    /// The table that the schema is made from.
    pub(crate) fn schemas(&self) -> TokenStream {
        let fields = self.fields.iter().filter_map(Declared::schema);
        quote!(&[#(#fields),*])
    }
}
