//! Variables in the path of a request, read into types.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use model::contact::ContactName;
use model::content_template::ContentTemplateKind;
use model::ids::{
    AccountKind, ChannelKind, ContactKind, DraftKind, ExperimentKind, Id, PipelineKind, PrivacyKind, PushKind,
    ScheduleKind, SegmentKind, ServerTokenKind, SignInKind, WebhookKind,
};
use model::payload::template::TemplateKind;
use model::remote_data::{FlagKind, HoldoutKind, InAppMessageKind};
use serde::de::DeserializeOwned;

use crate::edge::Edge;
use crate::error::{Error, Result};

/// The variables as texts, one or a tuple of them. A path that is no text leads nowhere.
pub(crate) struct PathVars<T>(pub(crate) T);

/// The only variable of a path, which is an id. A malformed id is answered with 404.
pub(crate) struct PathId<Kind>(pub(crate) Id<Kind>);

/// The only variable of a path, which names a contact. What cannot name one is answered with 404.
pub(crate) struct PathContact(pub(crate) ContactName);

/// A type whose objects a path can name by an id.
pub(crate) trait Named {
    /// As in "There is no such segment."
    const NOUN: &'static str;
}

/// An id that is one of several variables.
pub(crate) fn id_in_path<Kind: Named>(text: &str) -> Result<Id<Kind>> {
    text.parse().map_err(|_| Error::NotFound(format!("There is no such {}.", Kind::NOUN)))
}

/// A contact that one of several variables names.
pub(crate) fn contact_in_path(text: &str) -> Result<ContactName> {
    ContactName::new(text).map_err(|_| Error::NotFound(format!("There is no such {}.", ContactKind::NOUN)))
}

impl<T: DeserializeOwned + Send> FromRequestParts<Edge> for PathVars<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, edge: &Edge) -> Result<Self> {
        let path = Path::from_request_parts(parts, edge).await;
        path.map(|Path(variables)| Self(variables)).map_err(|_| Error::NoSuchPath)
    }
}

impl<Kind: Named> FromRequestParts<Edge> for PathId<Kind> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, edge: &Edge) -> Result<Self> {
        let PathVars(text) = PathVars::<String>::from_request_parts(parts, edge).await?;
        id_in_path(&text).map(Self)
    }
}

impl FromRequestParts<Edge> for PathContact {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, edge: &Edge) -> Result<Self> {
        let PathVars(text) = PathVars::<String>::from_request_parts(parts, edge).await?;
        contact_in_path(&text).map(Self)
    }
}

impl Named for AccountKind {
    const NOUN: &'static str = "account";
}

impl Named for ServerTokenKind {
    const NOUN: &'static str = "token or client";
}

impl Named for SignInKind {
    const NOUN: &'static str = "sign-in";
}

impl Named for ChannelKind {
    const NOUN: &'static str = "channel";
}

impl Named for ContactKind {
    const NOUN: &'static str = "contact";
}

impl Named for PrivacyKind {
    const NOUN: &'static str = "privacy request";
}

impl Named for DraftKind {
    const NOUN: &'static str = "draft";
}

impl Named for ExperimentKind {
    const NOUN: &'static str = "experiment";
}

impl Named for PipelineKind {
    const NOUN: &'static str = "pipeline";
}

impl Named for PushKind {
    const NOUN: &'static str = "push";
}

impl Named for ScheduleKind {
    const NOUN: &'static str = "schedule";
}

impl Named for SegmentKind {
    const NOUN: &'static str = "segment";
}

impl Named for TemplateKind {
    const NOUN: &'static str = "template";
}

impl Named for ContentTemplateKind {
    const NOUN: &'static str = "content template";
}

impl Named for InAppMessageKind {
    const NOUN: &'static str = "in-app message";
}

impl Named for FlagKind {
    const NOUN: &'static str = "feature flag";
}

impl Named for HoldoutKind {
    const NOUN: &'static str = "holdout group";
}

impl Named for WebhookKind {
    const NOUN: &'static str = "webhook";
}
