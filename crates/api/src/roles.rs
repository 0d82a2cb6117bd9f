//! What a role may call, of all that servers of an app may, and which scope a call belongs to. People have roles in the
//! console, and tokens have them, too.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::Method;
use http::request::Parts;
use model::account::Role;
use model::server_token::Scope;

use crate::auth::Calling;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::inside::Actor;

/// The role of a caller that has one: a person, or a server with a token. Whoever has the master secret may do everything.
pub(crate) struct OwnRole(Option<Role>);

impl OwnRole {
    /// For the part of an answer that not everybody may see who may make the call.
    pub(crate) fn may(&self, least: Role) -> bool {
        self.0.is_none_or(|own| own >= least)
    }

    /// For a call that needs more than its path tells.
    pub(crate) fn need(&self, least: Role) -> Result<()> {
        self.0.map_or(Ok(()), |own| permit(own, least))
    }
}

impl FromRequestParts<Edge> for OwnRole {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self, Infallible> {
        let of_person = parts.extensions.get().and_then(Actor::role);
        let of_token = || parts.extensions.get().and_then(|Calling(caller)| caller.token()).map(|token| token.role);
        Ok(Self(of_person.or_else(of_token)))
    }
}

/// The scopes of a caller that is limited to some.
pub(crate) struct OwnScopes(Option<Vec<Scope>>);

impl OwnScopes {
    /// Why a part of a call is refused that another scope is about than its path tells; `None` if the caller has that scope.
    pub(crate) fn refusal(&self, needed: Scope) -> Option<String> {
        let is_missing = self.0.as_ref().is_some_and(|own| !own.contains(&needed));
        is_missing.then(|| lacking(needed))
    }
}

impl FromRequestParts<Edge> for OwnScopes {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self, Infallible> {
        let token = parts.extensions.get().and_then(|Calling(caller)| caller.token());
        Ok(Self(token.and_then(|token| token.scopes.clone())))
    }
}

pub(crate) fn lacking(scope: Scope) -> String {
    format!("The token does not have the scope {}.", scope.word())
}

/// Calls whose answers are about single people, or let somebody speak for one.
const ABOUT_PEOPLE: &[&str] = &[
    "/api/channels",
    "/api/channel-tags-lookup",
    "/api/device_tokens",
    "/api/apids",
    "/api/device_pins",
    "/api/named_users",
    "/api/contacts",
    "/api/remote-data-contact",
    "/api/events",
    "/api/sandbox",
    "/api/requests",
    "/api/subscription_lists/channels",
    "/api/subscription_lists/contacts",
    "/api/subscription_lists/named_users",
];
/// What is sent is said elsewhere, or nothing is.
const ONLY_LOOK: &[&str] = &[
    "/api/audience/explain",
    "/api/push/preview",
    "/api/events",
    "/api/reports/perpush/detail",
    "/api/channel-tags-lookup",
];
/// Whole paths: a list or a tag may be called "validate", too.
const VALIDATE: &[&str] = &[
    "/api/push/validate",
    "/api/create-and-send/validate",
    "/api/bulk-send/validate",
    "/api/templates/push/validate",
    "/api/experiments/validate",
    "/api/pipelines/validate",
];
const DRAFTS: &[&str] =
    &["/api/segments", "/api/templates", "/api/content/templates", "/api/lists", "/api/drafts", "/api/sandbox"];
/// Below the paths of drafts, but these send.
const TEMPLATES_SENT: &[&str] = &["/api/templates/push", "/api/templates/schedules"];

/// The least role that may make a call of a server.
pub(crate) fn least_role(method: &Method, path: &str) -> Role {
    let validates_message = is_below(path, &["/api/in-app"]) && path.ends_with("/validate");
    let validates = *method == Method::POST && (VALIDATE.contains(&path) || validates_message);
    let changes_nothing = [Method::GET, Method::HEAD].contains(method) || validates || is_below(path, ONLY_LOOK);
    let decides = is_below(path, &["/api/drafts"]) && (path.ends_with("/approve") || path.ends_with("/send"));
    let is_draft = is_below(path, DRAFTS) && !is_below(path, TEMPLATES_SENT) && !decides;
    if is_below(path, &["/api/privacy", "/api/auth/proof-key"])
        || (!changes_nothing && is_below(path, &["/api/push/test-group"]))
    {
        Role::Admin
    } else if !changes_nothing && (is_draft || is_below(path, &["/api/push/test"])) {
        Role::Editor
    } else if !changes_nothing || is_below(path, &["/api/auth", "/live"]) {
        // The latter give out tokens of channels, which may change them, and what channels are sent.
        Role::Sender
    } else if is_below(path, ABOUT_PEOPLE) || is_about_recipients(path) {
        Role::Support
    } else {
        Role::Viewer
    }
}

/// The scope that lets a token with scopes make a call; `None` for calls that no scope is about.
pub(crate) fn scope(method: &Method, path: &str) -> Option<Scope> {
    let scopes: &[(Scope, &[&str])] = &[
        (Scope::Push, &["/api/push", "/api/pushes", "/api/create-and-send", "/api/bulk-send", "/api/bulk"]),
        (Scope::Push, &["/api/schedules/create-and-send", "/api/schedules/bulk-send"]),
        (Scope::Push, &["/api/templates/push", "/api/templates/schedules"]),
        (Scope::Schedules, &["/api/schedules"]),
        (Scope::NamedUsers, &["/api/named_users", "/api/subscription_lists/named_users"]),
        (
            Scope::Channels,
            &["/api/channels", "/api/web-channels", "/api/channel-tags-lookup", "/api/subscription_lists/channels"],
        ),
        (Scope::Contacts, &["/api/contacts"]),
        (Scope::Lists, &["/api/lists", "/api/tag-lists", "/api/attribute-lists", "/api/subscription_lists"]),
        (Scope::CustomEvents, &["/api/custom-events"]),
        (Scope::Pipelines, &["/api/pipelines"]),
        (Scope::Reports, &["/api/reports"]),
        (Scope::ContentTemplates, &["/api/content/templates"]),
        (Scope::Attachments, &["/api/attachments"]),
        (Scope::Journeys, &["/api/journeys"]),
        (Scope::RemoteConfig, &["/api/remote-config"]),
    ];
    // Either has a push in its body, and another push in a schedule is as good as a new one.
    let writes_schedule = (*method == Method::POST && path == "/api/schedules")
        || (*method == Method::PUT && is_below(path, &["/api/schedules"]));
    if writes_schedule {
        return Some(Scope::Push);
    }
    scopes.iter().find(|(_, paths)| is_below(path, paths)).map(|(scope, _)| *scope)
}

pub(crate) fn permit(own: Role, least: Role) -> Result<()> {
    if own >= least {
        return Ok(());
    }
    Err(Error::Forbidden(format!("This needs the role {} in the app.", least.word())))
}

/// Whether a path is one of these, or goes on after one of them.
fn is_below(path: &str, beginnings: &[&str]) -> bool {
    beginnings
        .iter()
        .any(|beginning| path.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Of a push, who got it and why; of a list, who is in it.
fn is_about_recipients(path: &str) -> bool {
    let is = |ending: &str| path.ends_with(ending);
    (is_below(path, &["/api/push"]) && (is("/recipients") || is("/recipients/csv") || is("/why")))
        || (is_below(path, &["/api/lists", "/api/tag-lists", "/api/attribute-lists"]) && (is("/csv") || is("/errors")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_a_least_role() {
        for (method, path, role) in [
            (Method::GET, "/api/pushes", Role::Viewer),
            (Method::GET, "/api/push/x", Role::Viewer),
            (Method::POST, "/api/push/validate", Role::Viewer),
            (Method::POST, "/api/create-and-send/validate", Role::Viewer),
            (Method::POST, "/api/templates/push/validate", Role::Viewer),
            (Method::POST, "/api/experiments/validate", Role::Viewer),
            (Method::POST, "/api/pipelines/validate", Role::Viewer),
            (Method::POST, "/api/in-app/key/validate", Role::Viewer),
            (Method::GET, "/api/in-app/key", Role::Viewer),
            (Method::POST, "/api/in-app/key", Role::Sender),
            (Method::POST, "/api/feature-flags", Role::Sender),
            (Method::DELETE, "/api/preference-forms/key/news", Role::Sender),
            (Method::DELETE, "/api/lists/validate", Role::Editor),
            (Method::PUT, "/api/tags/validate", Role::Sender),
            (Method::DELETE, "/api/tags/validate", Role::Sender),
            (Method::POST, "/api/named_users/validate", Role::Sender),
            (Method::DELETE, "/api/experiments/validate", Role::Sender),
            (Method::GET, "/live", Role::Sender),
            (Method::POST, "/live/ack", Role::Sender),
            (Method::GET, "/api/live", Role::Viewer),
            (Method::POST, "/api/reports/perpush/detail", Role::Viewer),
            (Method::GET, "/api/lists/vip", Role::Viewer),
            (Method::GET, "/api/push/x/recipients", Role::Support),
            (Method::GET, "/api/push/x/recipients/csv", Role::Support),
            (Method::GET, "/api/push/x/why", Role::Support),
            (Method::GET, "/api/channels", Role::Support),
            (Method::GET, "/api/channels/x/timeline", Role::Support),
            (Method::GET, "/api/named_users", Role::Support),
            (Method::GET, "/api/search", Role::Viewer),
            (Method::GET, "/api/lists/vip/csv", Role::Support),
            (Method::POST, "/api/events", Role::Support),
            (Method::GET, "/api/requests", Role::Support),
            (Method::POST, "/api/segments", Role::Editor),
            (Method::PUT, "/api/sandbox/faults", Role::Editor),
            (Method::POST, "/api/templates/x", Role::Editor),
            (Method::PUT, "/api/drafts/x", Role::Editor),
            (Method::POST, "/api/drafts/x/submit", Role::Editor),
            (Method::POST, "/api/drafts/x/approve", Role::Sender),
            (Method::POST, "/api/drafts/x/send", Role::Sender),
            (Method::POST, "/api/push/test", Role::Editor),
            (Method::GET, "/api/push/test-group", Role::Viewer),
            (Method::PUT, "/api/push/test-group", Role::Admin),
            (Method::POST, "/api/templates/push", Role::Sender),
            (Method::POST, "/api/templates/schedules", Role::Sender),
            (Method::POST, "/api/push", Role::Sender),
            (Method::POST, "/api/channels/tags", Role::Sender),
            (Method::DELETE, "/api/schedules/x", Role::Sender),
            (Method::GET, "/api/auth/device", Role::Sender),
            (Method::GET, "/api/auth/proof-key", Role::Admin),
            (Method::POST, "/api/privacy/erase", Role::Admin),
            (Method::GET, "/api/privacy/x/result", Role::Admin),
        ] {
            assert_eq!(least_role(&method, path), role, "{method} {path}");
        }
        assert!(permit(Role::Sender, Role::Admin).is_err() && permit(Role::Admin, Role::Sender).is_ok());
    }

    #[test]
    fn scopes_are_about_whole_paths() {
        for (method, path, expected) in [
            (Method::POST, "/api/push", Some(Scope::Push)),
            (Method::GET, "/api/pushes", Some(Scope::Push)),
            (Method::POST, "/api/schedules", Some(Scope::Push)),
            (Method::GET, "/api/schedules", Some(Scope::Schedules)),
            (Method::PUT, "/api/schedules/x", Some(Scope::Push)),
            (Method::GET, "/api/schedules/x", Some(Scope::Schedules)),
            (Method::DELETE, "/api/schedules/x", Some(Scope::Schedules)),
            (Method::POST, "/api/schedules/x/pause", Some(Scope::Schedules)),
            (Method::POST, "/api/schedules/bulk-send", Some(Scope::Push)),
            (Method::GET, "/api/named_users", Some(Scope::NamedUsers)),
            (Method::GET, "/api/subscription_lists", Some(Scope::Lists)),
            (Method::GET, "/api/subscription_lists/named_users/jo", Some(Scope::NamedUsers)),
            (Method::GET, "/api/pushed", None),
            (Method::GET, "/api/segments", None),
            (Method::POST, "/api/privacy/erase", None),
        ] {
            assert_eq!(scope(&method, path), expected, "{method} {path}");
        }
    }
}
