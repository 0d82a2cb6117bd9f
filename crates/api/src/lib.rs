//! The HTTP edge: authentication, parsing, and answers in the form that client libraries expect.

mod accept;
mod answer;
mod asset;
mod audit;
mod auth;
mod body;
mod browser_rate;
mod cors;
mod edge;
mod error;
mod fair_share;
mod form;
mod holder;
mod host;
mod input;
mod inside;
mod limits;
mod links;
mod not_offered;
mod openapi;
mod page_size;
mod pages;
mod path;
mod path_vars;
mod query;
mod recent_requests;
mod request_log;
mod roles;
mod router;
mod routes;
mod serve;
mod stopping;
mod tls;
mod turns;
mod upload;
mod wrong_credentials;

use std::time::Duration;

use model::network::Network;

pub use audit::Audited;
pub use auth::Access;
pub use auth::token_limits::address_behind;
pub use body::BodyPatience;
pub use form::form_decoded;
pub use inside::{Actor, Inside, RepeatedAs};
pub use limits::Limits;
pub use openapi::document as openapi_document;
pub use pages::{Pages, RequestId};
pub use routes::{Route, routes};
pub use serve::{CallerAddress, serve};
pub use stopping::Stopping;
pub use tls::{Tls, TlsFiles};

/// Often enough for clients and proxies not to take a quiet stream for a dead one.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Settings of the edge beyond the engine.
pub struct Settings {
    /// The base URL clients see, for absolute links. Without it links follow the `Host` header of each request.
    pub public_url: Option<String>,
    /// The bearer token of the operator API.
    pub operator_token: String,
    /// Whether the API is served; a node that only works shows no more than its health and metrics.
    pub serves_api: bool,
    /// How often a stream on which nothing happens shows that it is alive.
    pub keep_alive: Duration,
    /// How long callers that keep their connection are still served after the node was told to stop.
    pub drain: Duration,
    pub limits: Limits,
    /// The certificate of the server; without one, TLS is the business of a proxy in front.
    pub tls: Option<Tls>,
    /// Proxies whose `X-Forwarded-For` is believed where the address of a caller decides.
    pub trusted_proxies: Vec<Network>,
    /// Whether the demonstration is shown to others than those on the same machine.
    pub demo: bool,
    /// The pages of the console, if they are served.
    pub pages: Option<Pages>,
}
