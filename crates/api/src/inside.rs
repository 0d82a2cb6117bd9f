//! Calls of the API from within the process. The pages of the console show what calls answer and change things by calls, on
//! behalf of the person who looks at them; so there is nothing that only a page can do, and one place that decides and records.

use std::convert::Infallible;
use std::sync::Arc;

use axum::RequestExt;
use axum::Router;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::response::Response;
use bytes::Bytes;
use http::Method;
use http::request::Parts;
use model::account::Role;
use model::app::AppKey;
use model::payload::Push;
use tenancy::{App, Caller};
use tower::ServiceExt;

use crate::auth::{Access, Admission, Calling};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::holder::Holder;
use crate::roles::{least_role, permit};

/// The API, for callers in the same process.
#[derive(Clone)]
pub struct Inside(Router);

/// The person on whose behalf a call is made. Requests from outside cannot have one.
#[derive(Clone, Debug)]
pub struct Actor(Arc<Standing>);

#[derive(Debug)]
struct Standing {
    credential: Arc<str>,
    reach: Reach,
}

#[derive(Debug)]
enum Reach {
    App(AppKey, Role),
    Installation,
}

impl Actor {
    /// Somebody who acts in an app, as far as a role goes: by calls of its servers, and by those of the operator that name the app.
    pub fn in_app(credential: String, app: AppKey, role: Role) -> Self {
        Self(Arc::new(Standing { credential: credential.into(), reach: Reach::App(app, role) }))
    }

    /// An owner of the installation, who acts as the operator does.
    pub fn owner(credential: String) -> Self {
        Self(Arc::new(Standing { credential: credential.into(), reach: Reach::Installation }))
    }

    /// What the person may do in the app; `None` for somebody who may do everything.
    pub(crate) fn role(&self) -> Option<Role> {
        match &self.0.reach {
            Reach::App(_, role) => Some(*role),
            Reach::Installation => None,
        }
    }

    /// What the audit log calls the person.
    pub(crate) fn credential(&self) -> &Arc<str> {
        &self.0.credential
    }
}

/// What a call with an idempotency key asks for, if its body says that otherwise when it is repeated, as with a time that is
/// counted from then. Repeats are known by this, and not by the body. Requests from outside cannot have one.
#[derive(Clone, Debug)]
pub struct RepeatedAs(pub Bytes);

/// The person on whose behalf a call is made, as the audit log calls them; nobody if a server calls. People may need the approval
/// of others, servers do not.
pub(crate) struct Person(pub(crate) Option<Arc<str>>);

impl Person {
    /// Refuses pushes that the person may not send alone.
    pub(crate) async fn may_send(
        &self,
        edge: &Edge,
        app: &Arc<App>,
        pushes: impl Iterator<Item = &Push>,
    ) -> Result<()> {
        if self.0.is_none() || app.approval_above.is_none() {
            return Ok(());
        }
        Ok(edge.engine.campaigns().refuse_unapproved(app, pushes.cloned().collect()).await?)
    }
}

impl FromRequestParts<Edge> for Person {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get().map(|actor: &Actor| Arc::clone(actor.credential()))))
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
    let reach = &actor.0.reach;
    match access {
        Access::Probe => return Ok(Admission::Free),
        Access::Public | Access::Open => {}
        Access::Device
        | Access::Channel
        | Access::OwnChannel
        | Access::Page
        | Access::Signed
        | Access::Contact
        | Access::Events
        | Access::Master => {
            let Reach::App(app, role) = reach else { return Err(forbidden("This call belongs to an app.")) };
            permit(*role, least_role(request.method(), request.uri().path()))?;
            request.extensions_mut().insert(Calling(caller(edge, app).await?));
        }
        Access::Inbox => return Err(forbidden("Inboxes are for devices.")),
        Access::Operator | Access::Scrape => {
            if let Reach::App(app, role) = reach {
                permit(*role, Role::Admin)?;
                let deletes_app = request.method() == Method::DELETE && request.uri().path().split('/').count() == 4;
                if deletes_app || !names(request, app).await {
                    return Err(forbidden("This call is for the owners of the installation."));
                }
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
async fn names(request: &mut Request, app: &AppKey) -> bool {
    let Ok(variables) = request.extract_parts::<RawPathParams>().await else { return false };
    variables.iter().any(|(name, value)| name == "key" && value == app.as_str())
}

fn forbidden(why: &str) -> Error {
    Error::Forbidden(why.to_owned())
}
