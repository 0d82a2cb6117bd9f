//! Calls of the API from within the process. The pages of the console show what calls answer and change things by calls, on
//! behalf of the person who looks at them; so there is nothing that only a page can do, and one place that decides and records.

use std::sync::Arc;

use axum::RequestExt;
use axum::Router;
use axum::extract::{RawPathParams, Request};
use axum::response::Response;
use model::app::AppKey;
use tenancy::Caller;
use tower::ServiceExt;

use crate::auth::{Access, Admission, Calling};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::holder::Holder;

/// The API, for callers in the same process.
#[derive(Clone)]
pub struct Inside(Router);

/// The person on whose behalf a call is made. Requests from outside cannot have one.
#[derive(Clone, Debug)]
pub struct Actor(Arc<Standing>);

#[derive(Debug)]
struct Standing {
    credential: String,
    app: Option<AppKey>,
    is_owner: bool,
}

impl Actor {
    /// Somebody who acts in an app: by calls of its servers, and by those of the operator that name the app.
    pub fn in_app(credential: String, app: AppKey) -> Self {
        Self(Arc::new(Standing { credential, app: Some(app), is_owner: false }))
    }

    /// An owner of the installation, who acts as the operator does.
    pub fn owner(credential: String) -> Self {
        Self(Arc::new(Standing { credential, app: None, is_owner: true }))
    }

    /// What the audit log calls the person.
    pub(crate) fn credential(&self) -> &str {
        &self.0.credential
    }
}

impl Inside {
    pub(crate) fn new(api: Router) -> Self {
        Self(api)
    }

    /// Makes a call. What the actor may not do is refused as it is to callers from outside.
    pub async fn call(&self, actor: Actor, mut request: Request) -> Response {
        request.extensions_mut().insert(actor);
        match self.0.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// Lets the call of an actor pass to its handler, if the actor may make it.
pub(crate) async fn admit(edge: &Edge, access: Access, actor: &Actor, request: &mut Request) -> Result<Admission> {
    let Standing { app, is_owner, .. } = &*actor.0;
    match access {
        Access::Probe => return Ok(Admission::Free),
        Access::Public | Access::Open => {}
        Access::Device
        | Access::Channel
        | Access::OwnChannel
        | Access::Signed
        | Access::Contact
        | Access::Events
        | Access::Master => {
            let app = app.as_ref().ok_or_else(|| forbidden("This call belongs to an app."))?;
            request.extensions_mut().insert(Calling(caller(edge, app).await?));
        }
        Access::Inbox => return Err(forbidden("Inboxes are for devices.")),
        Access::Operator | Access::Scrape => {
            if !is_owner && !names(request, app.as_ref()).await {
                return Err(forbidden("This call is for the owners of the installation."));
            }
            return Ok(Admission::of_operator(edge.admit_operator()?));
        }
    }
    Ok(Admission::among_requests(edge.admit(Holder::of(request))?))
}

async fn caller(edge: &Edge, app: &AppKey) -> Result<Caller> {
    let caller = edge.engine.tenancy().caller_for_member(app.as_str()).await?;
    caller.ok_or_else(|| Error::NotFound("There is no such app.".to_owned()))
}

/// Whether the path of a call is about the app.
async fn names(request: &mut Request, app: Option<&AppKey>) -> bool {
    let Some(app) = app else { return false };
    let Ok(variables) = request.extract_parts::<RawPathParams>().await else { return false };
    variables.iter().any(|(name, value)| name == "key" && value == app.as_str())
}

fn forbidden(why: &str) -> Error {
    Error::Forbidden(why.to_owned())
}
