//! An attribute for the doors of a room: its public async methods become plain ones that return a boxed future.
//!
//! The body of an `async fn` is compiled where it is polled. Without this, every crate above a room would compile the room's work
//! again, and a change in one function would rebuild them all. A boxed future is compiled once, in its room, for one allocation a
//! call. Unlike an `async fn`, the future drops an argument that the body does not use when it is made, not when it ends.

mod lifetimes;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Block, FnArg, ImplItem, ImplItemFn, ItemImpl, ReturnType, Visibility, parse_macro_input, parse_quote};

/// Boxes the futures of all `pub async fn` of an `impl` block. Methods with type parameters stay as they are, since they are
/// compiled by their callers in any case.
#[proc_macro_attribute]
pub fn boxed(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as ItemImpl);
    for member in &mut item.items {
        if let ImplItem::Fn(method) = member
            && is_door(method)
        {
            box_future(method);
        }
    }
    quote!(#item).into()
}

fn is_door(method: &ImplItemFn) -> bool {
    let is_generic = method.sig.generics.type_params().next().is_some() || takes_impl_trait(method);
    matches!(method.vis, Visibility::Public(_)) && method.sig.asyncness.is_some() && !is_generic
}

fn takes_impl_trait(method: &ImplItemFn) -> bool {
    let is_impl = |input: &FnArg| matches!(input, FnArg::Typed(typed) if lifetimes::has_impl_trait(&typed.ty));
    method.sig.inputs.iter().any(is_impl)
}

fn box_future(method: &mut ImplItemFn) {
    let lifetime = lifetimes::name_elided(&mut method.sig);
    let output = match &method.sig.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, output) => quote!(#output),
    };
    let Block { stmts, .. } = &method.block;
    method.block = parse_quote!({ ::std::boxed::Box::pin(async move { #(#stmts)* }) });
    method.sig.asyncness = None;
    method.sig.output = parse_quote! {
        -> ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = #output> + ::std::marker::Send + #lifetime>>
    };
}
