//! Facts about the caller, for handlers.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use devices::{Author, Devices};
use http::Extensions;
use http::request::Parts;
use model::app::AppKey;
use model::ids::ChannelId;
use sending::InboxCaller;
use tenancy::{App, Caller, Rights};

use super::{CHANNEL_ID, NOT_MASTER};
use crate::edge::Edge;
use crate::error::{Error, Result};

/// The caller, added to every request with credentials: long requests use it to check now and then that the caller is still
/// allowed.
#[derive(Clone)]
pub(crate) struct Calling(pub(crate) Caller);

/// The app that an authenticated caller belongs to. Only routes that require credentials have one.
#[derive(Clone)]
pub(crate) struct CallingApp(pub(crate) Arc<App>);

/// The rights of the caller, by its secret: routes that take either secret may let servers do more.
#[derive(Clone, Copy)]
pub(crate) struct CallingRights(pub(crate) Rights);

impl CallingRights {
    /// For the part of a route that only servers may use.
    pub(crate) fn need_master(self) -> Result<()> {
        match self.0 {
            Rights::Master => Ok(()),
            Rights::Device | Rights::Channel(_) | Rights::Contact(_) | Rights::KeyOnly => Err(NOT_MASTER),
        }
    }

    /// The devices of the app, for changes by this caller: what devices create is limited.
    pub(crate) fn devices(self, edge: &Edge) -> Devices {
        edge.engine.devices().by(match self.0 {
            Rights::Master => Author::Servers,
            Rights::Device | Rights::Channel(_) | Rights::Contact(_) | Rights::KeyOnly => Author::Devices,
        })
    }
}

/// The channel that is calling, on routes that name none in their path.
pub(crate) struct CallingChannel(pub(crate) ChannelId);

/// The user of the inbox that a request is about.
#[derive(Clone)]
pub(crate) struct CallingInbox(pub(crate) InboxCaller);

/// The key of the app that an admitted request is for, if it is for one.
pub(crate) fn calling_key(admitted: &Extensions) -> Option<&AppKey> {
    let by_app = admitted.get().map(|Calling(caller)| &caller.app().key);
    by_app.or_else(|| admitted.get().map(|CallingInbox(inbox)| &inbox.app_key))
}

impl FromRequestParts<Edge> for Calling {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self> {
        Ok(calling(parts)?.clone())
    }
}

impl FromRequestParts<Edge> for CallingApp {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self> {
        Ok(Self(calling(parts)?.0.app().clone()))
    }
}

impl FromRequestParts<Edge> for CallingRights {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self> {
        Ok(Self(calling(parts)?.0.rights))
    }
}

pub(super) fn calling(parts: &Parts) -> Result<&Calling> {
    parts
        .extensions
        .get()
        .ok_or_else(|| Error::internal("a handler asks who is calling on a route without credentials"))
}

impl FromRequestParts<Edge> for CallingChannel {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, edge: &Edge) -> Result<Self> {
        let CallingRights(rights) = CallingRights::from_request_parts(parts, edge).await?;
        let channel = match rights {
            Rights::Channel(channel) => Some(channel),
            Rights::Contact(_) | Rights::KeyOnly => None,
            Rights::Master | Rights::Device => {
                parts.headers.get(CHANNEL_ID).and_then(|id| id.to_str().ok()?.parse().ok())
            }
        };
        let message = "A channel has to be named: by its token, or by its id in this header.";
        channel.map(Self).ok_or_else(|| Error::invalid(CHANNEL_ID, message))
    }
}

impl FromRequestParts<Edge> for CallingInbox {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self> {
        let inbox = parts.extensions.get::<CallingInbox>().cloned();
        inbox.ok_or_else(|| Error::internal("a handler asks for an inbox on a route without one"))
    }
}
