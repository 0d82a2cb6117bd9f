//! The push services that browsers named: which of them are acceptable, and the state of each.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Uri;
use model::time::UtcMillis;
use parking_lot::Mutex;

use crate::endpoint::Endpoint;
use crate::http::{WebUrl, check_url};
use crate::network::Network;
use crate::token::TokenCache;
use crate::wire::{Origin, Wire};

/// Browsers use a handful of services. Registrations with made-up ones must not fill our memory.
const MOST_SERVICES: usize = 1024;

/// To one service at once; each carries a hundred messages and more.
const MOST_CONNECTIONS: usize = 4;

/// One push service, which is one origin.
pub(super) struct Service {
    /// Scheme, host and, unless it is the usual one, port.
    pub(super) origin: String,
    pub(super) token: TokenCache,
    /// For encrypted connections only, because only TLS negotiates HTTP/2.
    wire: Option<Wire>,
    speaks_http1_only: AtomicBool,
    /// It asked to be left alone until then.
    rests_until: Mutex<UtcMillis>,
}

pub(super) struct Services {
    network: Network,
    /// A service that is accepted although it may not be encrypted, and whose certificate we may know.
    own: Option<(String, Endpoint)>,
    known: Mutex<HashMap<String, Arc<Service>>>,
}

impl Services {
    pub(super) fn new(network: &Network, own: Option<&Endpoint>) -> Self {
        let own = own.and_then(|endpoint| Some((origin(endpoint.url.uri())?, endpoint.clone())));
        Self { network: network.clone(), own, known: Mutex::default() }
    }

    /// The service of a subscription; the error is a sentence.
    pub(super) fn of(&self, subscription: &Uri) -> Result<Arc<Service>, String> {
        let Some(origin) = origin(subscription) else {
            return Err("The address of the browser's subscription is not an absolute URL.".to_owned());
        };
        if let Some(service) = self.known.lock().get(&origin) {
            return Ok(service.clone());
        }
        let is_own = self.own.as_ref().is_some_and(|(own, _)| *own == origin);
        if subscription.scheme_str() != Some("https") && !is_own {
            return Err(format!("The address of the browser's subscription, at {origin}, is not an https URL."));
        }
        let url = check_url(&origin, self.network.policy()).map_err(|refusal| refusal.to_string())?;
        let service = Arc::new(self.connected(origin.clone(), &url));
        let mut known = self.known.lock();
        if known.len() >= MOST_SERVICES {
            known.clear();
        }
        Ok(known.entry(origin).or_insert(service).clone())
    }

    fn connected(&self, origin: String, url: &WebUrl) -> Service {
        let own = self.own.as_ref().filter(|(own, _)| *own == origin);
        let ca = own.and_then(|(_, endpoint)| endpoint.ca.as_deref());
        let wire = || self.network.wire_if_spoken(Origin::of(url), ca, MOST_CONNECTIONS);
        let is_encrypted = url.uri().scheme_str() == Some("https");
        Service::new(origin, is_encrypted.then(wire))
    }
}

impl Service {
    fn new(origin: String, wire: Option<Wire>) -> Self {
        Self {
            origin,
            token: TokenCache::default(),
            wire,
            speaks_http1_only: AtomicBool::new(false),
            rests_until: Mutex::default(),
        }
    }

    /// The connections with many messages under way on each, unless the service does not speak HTTP/2.
    pub(super) fn wire(&self) -> Option<&Wire> {
        self.wire.as_ref().filter(|_| !self.speaks_http1_only.load(Ordering::Relaxed))
    }

    /// Found out when it was tried.
    pub(super) fn speaks_http1_only(&self) {
        self.speaks_http1_only.store(true, Ordering::Relaxed);
    }

    /// How long to leave the service alone, if it asked for that.
    pub(super) fn rest(&self, now: UtcMillis) -> Option<Duration> {
        let until = *self.rests_until.lock();
        u64::try_from(until.0.saturating_sub(now.0)).ok().filter(|left| *left > 0).map(Duration::from_millis)
    }

    pub(super) fn rest_until(&self, until: UtcMillis) {
        let mut rests_until = self.rests_until.lock();
        *rests_until = (*rests_until).max(until);
    }
}

/// In the form of RFC 6454, which tokens use as well.
fn origin(uri: &Uri) -> Option<String> {
    let scheme = uri.scheme_str()?;
    let host = uri.host()?.to_ascii_lowercase();
    Some(match (scheme, uri.port_u16()) {
        (_, None) | ("https", Some(443)) | ("http", Some(80)) => format!("{scheme}://{host}"),
        (_, Some(port)) => format!("{scheme}://{host}:{port}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::AddressPolicy;

    fn network() -> Network {
        Network::new(AddressPolicy::ANY)
    }

    #[test]
    fn origins_as_tokens_name_them() {
        let table = [
            ("https://Push.Example/a/b?c", "https://push.example"),
            ("https://push.example:443/", "https://push.example"),
            ("https://push.example:8443/", "https://push.example:8443"),
            ("http://127.0.0.1:80/x", "http://127.0.0.1"),
            ("https://[::1]:9/x", "https://[::1]:9"),
        ];
        for (url, expected) in table {
            assert_eq!(origin(&url.parse().unwrap()).unwrap(), expected, "{url}");
        }
    }

    #[test]
    fn only_https_and_the_own_endpoint() {
        let own = Endpoint { url: WebUrl::try_from("http://127.0.0.1:8080/".to_owned()).unwrap(), ca: None };
        let services = Services::new(&network(), Some(&own));
        for url in ["https://push.example/a", "http://127.0.0.1:8080/webpush/1"] {
            assert!(services.of(&url.parse().unwrap()).is_ok(), "{url}");
        }
        for url in ["http://push.example/a", "http://127.0.0.1:8081/", "ftp://push.example/", "/relative"] {
            assert!(services.of(&url.parse().unwrap()).is_err(), "{url}");
        }
        assert!(Services::new(&network(), None).of(&"http://127.0.0.1:8080/".parse().unwrap()).is_err());
    }

    #[test]
    fn made_up_services_do_not_pile_up() {
        let services = Services::new(&network(), None);
        for n in 0..MOST_SERVICES + 10 {
            services.of(&format!("https://push{n}.example/").parse().unwrap()).unwrap();
        }
        assert!(services.known.lock().len() <= MOST_SERVICES);
        let uri = "https://push.example/".parse().unwrap();
        assert!(Arc::ptr_eq(&services.of(&uri).unwrap(), &services.of(&uri).unwrap()));
    }

    #[test]
    fn services_rest_as_long_as_they_ask() {
        let service = Service::new("https://push.example".to_owned(), None);
        assert_eq!(service.rest(UtcMillis(5)), None);
        service.rest_until(UtcMillis(1000));
        service.rest_until(UtcMillis(500));
        assert_eq!(service.rest(UtcMillis(400)), Some(Duration::from_millis(600)));
        assert_eq!(service.rest(UtcMillis(1000)), None);
    }
}
