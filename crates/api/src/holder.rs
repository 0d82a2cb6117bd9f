//! The parties that share what the edge has to give: permits of requests and memory of bodies.

use axum::extract::Request;
use http::Extensions;
use model::ids::AppId;
use tenancy::Rights;

use crate::auth::{Calling, CallingInbox};

/// Devices of an app and its servers are two parties: anybody may have the app secret, which ships inside apps, and must not be
/// able to keep the app's servers out with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    Servers(AppId),
    Devices(AppId),
    /// Callers of routes that need no credentials.
    Public,
    /// People at the pages of the console, with or without an account.
    Console,
}

impl Holder {
    /// The party that an authenticated request belongs to.
    pub(crate) fn of(request: &Request) -> Self {
        Self::among(request.extensions())
    }

    pub(crate) fn among(extensions: &Extensions) -> Self {
        if let Some(Calling(caller)) = extensions.get() {
            let app = caller.app().id;
            return match caller.rights {
                Rights::Master => Self::Servers(app),
                Rights::Device | Rights::Channel(_) | Rights::Contact(_) | Rights::KeyOnly => Self::Devices(app),
            };
        }
        extensions.get().map_or(Self::Public, |CallingInbox(inbox)| Self::Devices(inbox.app))
    }
}
