//! Authentication of callers. The guard runs before a handler and before any of the body is read; the route table says what it
//! enforces for a route.

mod basic;
mod calling;
mod subprotocol;
pub(crate) mod token_limits;
mod user_rights;
mod web_page;

use axum::RequestExt;
use axum::extract::{RawPathParams, Request};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use model::app::AppKey;
use model::ids::{AppId, Id};
use sending::InboxCaller;
use tenancy::{Bearer, Caller, KnownBy, Refusal, Rights};
use tokio::sync::OwnedSemaphorePermit;

use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::fair_share::Permit;
use crate::holder::Holder;
use crate::inside::{self, Actor};

pub(crate) use calling::{Calling, CallingApp, CallingChannel, CallingInbox, CallingRights, calling_key};
pub(crate) use subprotocol::LIVE_PROTOCOL;
pub(crate) use user_rights::UserRights;

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody, on every node and under any load: an orchestrator must not restart a service for being busy.
    Probe,
    /// Everybody.
    Public,
    /// Everybody, from web pages too: requests that devices make before they have credentials.
    Open,
    /// Devices with the app secret or a signature made with it, and servers with the master secret. Browsers too: this and the
    /// following routes of devices have CORS.
    Device,
    /// As `Device`, and with a token of a channel, which the path names.
    Channel,
    /// As `Device`, and with a token of a channel, though the path names none: the handler acts on the calling channel only.
    OwnChannel,
    /// As `OwnChannel`, and web pages of the origins that the app allows, with its key alone: here browsers get their channels.
    Page,
    /// As `Device`, and with the signature or the secret of a channel, but with no token: here tokens are issued, and a token that
    /// could renew itself would never expire.
    Signed,
    /// As `Device`, and with a token of a contact, which the path names, or a header where the path names none.
    Contact,
    /// Devices that report events. Most of their libraries send no credentials with them, only the key of the app, so the key
    /// is enough; nothing can be read this way. Credentials that are sent have to be right.
    Events,
    /// The user of the inbox that the path names, with the password of the inbox. Browsers too.
    Inbox,
    /// Servers, with the master secret.
    Master,
    /// The operator, with the bearer token.
    Operator,
    /// The operator, on every node: how it and the installation are.
    Scrape,
}

/// The header in which devices name their channel.
pub(crate) const CHANNEL_ID: &str = "x-ua-channel-id";
/// The header in which they name their contact.
const CONTACT_ID: &str = "x-ua-contact-id";
const OF_OTHERS: &str = "The token belongs to another channel or contact than the one that the request names.";
const BASIC: &str = "Basic realm=\"aerogram\"";
const BEARER: &str = "Bearer realm=\"aerogram operator\"";

const NO_APP: Error = Error::Unauthorized {
    why: "Credentials are missing; send the app key and a secret by HTTP Basic authentication.",
    challenge: BASIC,
    is_guess: false,
};
const WRONG_APP: Error =
    Error::Unauthorized { why: "The app key or the secret is wrong.", challenge: BASIC, is_guess: true };
const WRONG_CHANNEL: Error = Error::Unauthorized {
    why: "The channel or its secret is wrong, or the channel is uninstalled; register a new one.",
    challenge: BASIC,
    is_guess: true,
};
const NOT_MASTER: Error = Error::Unauthorized {
    why: "The app secret is not enough for this; use the master secret.",
    challenge: BASIC,
    is_guess: false,
};
const NOT_SIGNED: Error = Error::Unauthorized {
    why: "A token is not enough for this; sign the request with the app secret.",
    challenge: BASIC,
    is_guess: false,
};
const NOT_INBOX: Error = Error::Unauthorized {
    why: "This needs the user and the password of the inbox, by HTTP Basic authentication.",
    challenge: BASIC,
    is_guess: true,
};
const NOT_OPERATOR: Error = Error::Unauthorized {
    why: "This needs the operator token, as 'Authorization: Bearer <token>'.",
    challenge: BEARER,
    is_guess: false,
};
const WRONG_OPERATOR: Error =
    Error::Unauthorized { why: "The operator token is wrong.", challenge: BEARER, is_guess: true };

impl Access {
    /// Whether nodes that do not serve the API answer too.
    pub const fn is_on_every_node(self) -> bool {
        matches!(self, Access::Probe | Access::Scrape)
    }

    /// Whether web pages of any origin may call.
    pub const fn is_for_browsers(self) -> bool {
        match self {
            Access::Open
            | Access::Device
            | Access::Channel
            | Access::OwnChannel
            | Access::Page
            | Access::Signed
            | Access::Contact
            | Access::Inbox
            | Access::Events => true,
            Access::Probe | Access::Public | Access::Master | Access::Operator | Access::Scrape => false,
        }
    }
}

/// The permit that an admitted request holds until it is answered.
pub(crate) enum Admission {
    /// Nothing: probes are always answered.
    Free,
    AmongRequests {
        _permit: Permit<Holder>,
    },
    AmongUnproven {
        _permit: Permit<AppId>,
    },
    OfOperator {
        _permit: OwnedSemaphorePermit,
    },
}

impl Admission {
    pub(crate) fn among_requests(permit: Permit<Holder>) -> Self {
        Self::AmongRequests { _permit: permit }
    }

    pub(crate) fn of_operator(permit: OwnedSemaphorePermit) -> Self {
        Self::OfOperator { _permit: permit }
    }
}

/// Lets a request pass to its handler if its credentials are good enough and its party has not too much in work.
pub(crate) async fn admit(edge: &Edge, access: Access, request: &mut Request) -> Result<Admission> {
    if let Some(actor) = request.extensions().get::<Actor>().cloned() {
        return inside::admit(edge, access, &actor, request).await;
    }
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
            let _authentication = edge.begin_authentication()?;
            if access == Access::OwnChannel {
                subprotocol::adopt_token(request.headers_mut());
            }
            let caller = match access {
                Access::Events => telling(edge, request.headers()).await?,
                Access::Page => {
                    let address = token_limits::calling_address(edge, request);
                    web_page::page(edge, request.headers(), address).await?
                }
                _ => caller(edge, request.headers()).await?,
            };
            permit(access, &caller, request).await?;
            if let Some(token) = caller.token() {
                token_limits::enforce(edge, token, request)?;
            }
            let (rights, app) = (caller.rights, caller.app().id);
            request.extensions_mut().insert(Calling(caller));
            if rights == Rights::KeyOnly {
                // Anybody can know the key of an app, and could use up the permits of all its devices with it.
                return Ok(Admission::AmongUnproven { _permit: edge.admit_unproven(app)? });
            }
        }
        Access::Inbox => {
            let _authentication = edge.begin_authentication()?;
            let inbox = inbox(edge, request.headers(), request.uri().path()).await?;
            request.extensions_mut().insert(CallingInbox(inbox));
        }
        Access::Operator | Access::Scrape => {
            let token = credentials(request.headers(), "bearer").ok_or(NOT_OPERATOR)?;
            edge.is_operator(token).then_some(()).ok_or(WRONG_OPERATOR)?;
            return Ok(Admission::OfOperator { _permit: edge.admit_operator()? });
        }
    }
    Ok(Admission::AmongRequests { _permit: edge.admit(Holder::of(request))? })
}

/// The app that a refused caller names, if there is one: whose server has the wrong secret is found by it. A key that is none of
/// ours may be anything, a secret that was put into the wrong place as well.
pub(crate) fn presented_key(edge: &Edge, headers: &HeaderMap) -> Option<AppKey> {
    let basic = basic_credentials(headers);
    let by_basic = basic.as_ref().map(|(key, _)| key.as_str());
    let key = by_basic.or_else(|| named_key(headers).map(str::trim))?;
    edge.engine.tenancy().remembered_app(key).map(|app| app.key.clone())
}

/// If the app of a caller was deleted meanwhile, the answer is the same as to a new request.
pub(crate) fn refuse_late(access: Access) -> Result<()> {
    match access {
        Access::Device
        | Access::Channel
        | Access::OwnChannel
        | Access::Page
        | Access::Signed
        | Access::Contact
        | Access::Events
        | Access::Master => Err(WRONG_APP),
        Access::Inbox => Err(NOT_INBOX),
        Access::Probe | Access::Public | Access::Open | Access::Operator | Access::Scrape => Ok(()),
    }
}

/// Whether a caller may call a route: a token is only good for its own channel or contact, wherever a path names one, so that
/// handlers need not check it.
async fn permit(access: Access, caller: &Caller, request: &mut Request) -> Result<()> {
    let rights = caller.rights;
    let for_others = || Err(Error::Forbidden("The token of a channel or contact is not for this.".to_owned()));
    match access {
        Access::Probe | Access::Public | Access::Open => Ok(()),
        Access::Device => match rights {
            Rights::Master | Rights::Device => Ok(()),
            Rights::Channel(_) | Rights::Contact(_) => for_others(),
            Rights::KeyOnly => Err(NO_APP),
        },
        Access::Channel => match rights {
            Rights::Master | Rights::Device => Ok(()),
            Rights::Channel(channel) => is_named(request, "channel_id", channel).await,
            Rights::Contact(_) => for_others(),
            Rights::KeyOnly => Err(NO_APP),
        },
        Access::Signed if caller.known_by == KnownBy::Token => Err(NOT_SIGNED),
        Access::OwnChannel | Access::Signed => match rights {
            Rights::Master | Rights::Device | Rights::Channel(_) => Ok(()),
            Rights::Contact(_) => for_others(),
            Rights::KeyOnly => Err(NO_APP),
        },
        Access::Page => match rights {
            Rights::Master | Rights::Device | Rights::Channel(_) | Rights::KeyOnly => Ok(()),
            Rights::Contact(_) => for_others(),
        },
        Access::Contact => match rights {
            Rights::Master | Rights::Device => Ok(()),
            Rights::Contact(contact) => {
                if names(request, "contact_id").await {
                    return is_named(request, "contact_id", contact).await;
                }
                let named = request.headers().get(CONTACT_ID).and_then(|id| id.to_str().ok()?.parse().ok());
                if named == Some(contact) { Ok(()) } else { Err(Error::Forbidden(OF_OTHERS.to_owned())) }
            }
            Rights::Channel(_) => for_others(),
            Rights::KeyOnly => Err(NO_APP),
        },
        Access::Events => match rights {
            Rights::Master | Rights::Device | Rights::Channel(_) | Rights::KeyOnly => Ok(()),
            Rights::Contact(_) => for_others(),
        },
        Access::Master => CallingRights(rights).need_master(),
        Access::Inbox => Err(NOT_INBOX),
        Access::Operator | Access::Scrape => Err(NOT_OPERATOR),
    }
}

/// Whether the path of a request has a variable.
async fn names(request: &mut Request, variable: &str) -> bool {
    let path = request.extract_parts::<RawPathParams>().await.ok();
    path.is_some_and(|path| path.iter().any(|(known, _)| known == variable))
}

async fn is_named<Kind>(request: &mut Request, name: &str, own: Id<Kind>) -> Result<()> {
    let path = request.extract_parts::<RawPathParams>().await.ok();
    let named = path.as_ref().and_then(|path| path.iter().find(|(variable, _)| *variable == name));
    // A path that names no channel or contact matches no token.
    let is_own = named.is_some_and(|(_, value)| value.parse().is_ok_and(|id: Id<Kind>| id == own));
    if is_own { Ok(()) } else { Err(Error::Forbidden(OF_OTHERS.to_owned())) }
}

/// The caller, by any of the credentials of an app.
pub(crate) async fn caller(edge: &Edge, headers: &HeaderMap) -> Result<Caller> {
    if let Some(token) = credentials(headers, "bearer") {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = Bearer {
            token,
            app_key: named_key(headers),
            channel_id: header(CHANNEL_ID),
            nonce: header("x-ua-nonce"),
            timestamp: header("x-ua-timestamp"),
        };
        return edge.engine.tenancy().authenticate_bearer(bearer).await?.map_err(refused);
    }
    let (name, secret) = &basic_credentials(headers).ok_or(NO_APP)?;
    if let Ok(channel) = name.parse() {
        let found = edge.engine.tenancy().authenticate_channel(named_key(headers), channel, secret).await?;
        return found.ok_or(WRONG_CHANNEL);
    }
    edge.engine.tenancy().authenticate(name, secret).await?.ok_or(WRONG_APP)
}

/// The caller that reports events of a device.
async fn telling(edge: &Edge, headers: &HeaderMap) -> Result<Caller> {
    match named_key(headers) {
        Some(key) if !headers.contains_key(AUTHORIZATION) => {
            edge.engine.tenancy().caller_by_key(key.trim()).await?.ok_or(WRONG_APP)
        }
        Some(_) | None => caller(edge, headers).await,
    }
}

/// The key of the app in the headers of device libraries, which spell it in two ways.
fn named_key(headers: &HeaderMap) -> Option<&str> {
    ["x-ua-appkey", "x-ua-app-key"].iter().find_map(|name| headers.get(*name)?.to_str().ok())
}

fn refused(refusal: Refusal) -> Error {
    let why = match refusal {
        Refusal::Wrong => "The token is wrong, was revoked, or was signed with another secret.",
        Refusal::NoAppSecret => {
            "Signatures of this app cannot be checked before a device has presented the app secret by HTTP Basic \
             authentication once, or the secret was replaced."
        }
        Refusal::Skewed => "X-UA-Timestamp must be in UTC and within ten minutes of the time of the service.",
        Refusal::Repeated => "This signed request was sent before; sign every request anew.",
        Refusal::Expired => "The token has expired; get a new one.",
        Refusal::OfAnotherApp => "The token belongs to another app than the one that X-UA-Appkey names.",
    };
    Error::Unauthorized { why, challenge: BASIC, is_guess: refusal == Refusal::Wrong }
}

/// The path of every such route is `/api/user/` and the user.
async fn inbox(edge: &Edge, headers: &HeaderMap, path: &str) -> Result<InboxCaller> {
    let (user, password) = &basic_credentials(headers).ok_or(NOT_INBOX)?;
    let named = path.strip_prefix("/api/user/").and_then(|rest| rest.split('/').next());
    if named != Some(user.as_str()) {
        return Err(NOT_INBOX);
    }
    edge.engine.sending().authenticate_inbox(user, password).await?.ok_or(NOT_INBOX)
}

/// The token or signature of a caller.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    credentials(headers, "bearer")
}

/// The credentials after the name of the scheme in the only `Authorization` header.
fn credentials<'h>(headers: &'h HeaderMap, wanted: &str) -> Option<&'h str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let (scheme, credentials) = value.trim().split_once(' ')?;
    (values.next().is_none() && scheme.eq_ignore_ascii_case(wanted)).then(|| credentials.trim())
}

/// The name and the secret of HTTP Basic authentication.
pub(crate) fn basic_credentials(headers: &HeaderMap) -> Option<(String, String)> {
    credentials(headers, "basic").and_then(basic::name_and_secret)
}
