//! One name for all the lifetimes that a signature leaves out: the future borrows from every argument.

use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, GenericParam, Lifetime, ReceiverKind, Signature, Type, TypeImplTrait, TypeReference, parse_quote, visit,
};

/// Names the elided lifetimes of the arguments, and returns what the future lives for.
pub(crate) fn name_elided(signature: &mut Signature) -> Lifetime {
    if let Some(GenericParam::Lifetime(given)) = signature.generics.params.first() {
        return given.lifetime.clone();
    }
    let mut naming = Naming { lifetime: parse_quote!('door), is_used: false };
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(receiver) => match &mut receiver.kind {
                ReceiverKind::Reference(_, lifetime, _) => naming.name(lifetime),
                ReceiverKind::Typed(_, ty) => naming.visit_type_mut(ty),
                _ => {}
            },
            FnArg::Typed(typed) => naming.visit_type_mut(&mut typed.ty),
        }
    }
    if !naming.is_used {
        return parse_quote!('static);
    }
    let lifetime = naming.lifetime;
    signature.generics.params.insert(0, parse_quote!(#lifetime));
    lifetime
}

pub(crate) fn has_impl_trait(ty: &Type) -> bool {
    struct Search(bool);
    impl visit::Visit<'_> for Search {
        fn visit_type_impl_trait(&mut self, _: &TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut search = Search(false);
    visit::Visit::visit_type(&mut search, ty);
    search.0
}

struct Naming {
    lifetime: Lifetime,
    is_used: bool,
}

impl Naming {
    fn name(&mut self, lifetime: &mut Option<Lifetime>) {
        *lifetime = Some(self.lifetime.clone());
        self.is_used = true;
    }
}

impl VisitMut for Naming {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            self.name(&mut reference.lifetime);
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.lifetime.clone();
            self.is_used = true;
        }
    }
}
