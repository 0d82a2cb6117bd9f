//! The console: pages for the people who send, support and operate. A page is drawn by the server from answers of the JSON API,
//! which it calls on behalf of the person who looks at it; what a form changes is changed by such a call, too. So a page can do
//! nothing that the API cannot, and every page can tell which calls it consists of.

mod answer;
mod assets;
mod calls;
mod chart;
mod cookies;
mod dates;
mod error;
mod form;
mod live;
mod pages;
mod parts;
mod protection;
mod routes;
mod shell;
mod visit;

use std::ops::Deref;
use std::sync::Arc;

use accounts::{Oidc, OidcSettings};
use api::{Inside, Pages};
use engine::Engine;
use model::network::Network;
use tokio::sync::Semaphore;

pub use routes::{Needs, PageRoute, routes};

/// Forms of strangers, such as logins, that are read at once.
const MOST_AT_DOOR: usize = 128;
/// Files that are read at once, each of which is in memory as a whole.
const MOST_UPLOADS: usize = 4;

/// Settings of the console.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Where people reach the service, if it is known. Cookies are for secure connections only if this begins with `https:`.
    pub public_url: Option<String>,
    /// The provider by which people may log in.
    pub oidc: Option<OidcSettings>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
}

/// The pages, for the server to serve below `/console`.
pub fn pages(engine: Engine, settings: Settings) -> Pages {
    Box::new(move |inside| {
        let is_public_https = settings.public_url.as_deref().is_some_and(|url| url.starts_with("https:"));
        let oidc = settings.oidc.map(|oidc| Oidc::new(engine.accounts(), oidc));
        routes::router(Console(Arc::new(Parts {
            public_url: settings.public_url,
            oidc,
            engine,
            inside,
            is_public_https,
            trusted_proxies: settings.trusted_proxies,
            live: live::LivePages::default(),
            door: Arc::new(Semaphore::new(MOST_AT_DOOR)),
            uploads: Arc::new(Semaphore::new(MOST_UPLOADS)),
        })))
    })
}

/// What every page can reach.
#[derive(Clone)]
pub(crate) struct Console(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) engine: Engine,
    pub(crate) inside: Inside,
    pub(crate) public_url: Option<String>,
    pub(crate) oidc: Option<Oidc>,
    /// Whether people come by way of a proxy that ends TLS.
    pub(crate) is_public_https: bool,
    pub(crate) trusted_proxies: Vec<Network>,
    pub(crate) live: live::LivePages,
    pub(crate) door: Arc<Semaphore>,
    pub(crate) uploads: Arc<Semaphore>,
}

impl Deref for Console {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
