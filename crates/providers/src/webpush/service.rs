//! The push services that browsers named: which of them are acceptable, and the state of each.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use http::Uri;
use http::uri::PathAndQuery;
use model::time::UtcMillis;
use parking_lot::Mutex;

use super::PushHosts;
use crate::endpoint::Endpoint;
use crate::http::{WebUrl, check_url};
use crate::network::Network;
use crate::token::TokenCache;
use crate::wire::{Origin, Wire};

/// Browsers use a handful of services. Registrations with made-up ones must not fill our memory.
const MOST_SERVICES: usize = 1024;

/// To one service at once; each carries a hundred messages and more.
const MOST_CONNECTIONS: usize = 4;

/// After this many requests in a row without any answer a service rests, for longer every time. One that nobody vouches for and
/// that has never answered gets fewer.
const SILENT: u32 = 8;
const SILENT_STRANGER: u32 = 2;
const FIRST_REST: Duration = Duration::from_secs(30);
const LONGEST_REST: Duration = Duration::from_secs(600);
/// This many subscriptions that took messages before are not all refused in a row, unless it is us.
const TOO_SUSPICIOUS: u32 = 20;
/// How long a service rests that refuses us.
const REFUSED_REST: Duration = Duration::from_secs(60);

/// One push service, which is one origin.
pub(super) struct Service {
    /// Scheme, host and, unless it is the usual one, port.
    pub(super) origin: String,
    pub(super) token: TokenCache,
    /// Which room it shares with others.
    pub(super) lane: usize,
    /// For encrypted connections only, because only TLS negotiates HTTP/2.
    wire: Option<Wire>,
    speaks_http1_only: AtomicBool,
    /// It asked to be left alone until then.
    rests_until: Mutex<UtcMillis>,
    /// Whether it is the own endpoint or a known service.
    is_listed: bool,
    has_answered: AtomicBool,
    /// Requests without an answer since the last one.
    n_silent: AtomicU32,
    /// Subscriptions that took messages before and were refused, since one took another message.
    n_suspicious: AtomicU32,
}

pub(super) struct Services {
    network: Network,
    hosts: PushHosts,
    /// All services together that nobody vouches for and that have never answered: there is no end of names for them.
    strangers: Service,
    /// Where every subscription leads instead of its own service, with its origin. Subscriptions may be at it themselves, and then
    /// need not be encrypted.
    own: Option<(String, Endpoint)>,
    known: Mutex<HashMap<String, Arc<Service>>>,
}

impl Services {
    pub(super) fn new(network: &Network, hosts: PushHosts, own: Option<&Endpoint>) -> Self {
        let own = own.and_then(|endpoint| Some((origin(endpoint.url.uri())?, endpoint.clone())));
        let strangers = Service::new(String::new(), hosts.n_listed() + 1, true, None);
        Self { network: network.clone(), hosts, strangers, own, known: Mutex::default() }
    }

    /// How many lanes there are: one for every known service, then one for the own endpoint, and the last for all others.
    pub(super) fn n_lanes(&self) -> usize {
        self.hosts.n_listed() + 2
    }

    /// The lane of services that nobody vouches for.
    pub(super) fn lane_of_others(&self) -> usize {
        self.hosts.n_listed() + 1
    }

    /// The lane of a subscription.
    pub(super) fn lane(&self, subscription: &Uri) -> usize {
        match self.hosts.number_of(subscription) {
            Some(number) => number,
            None if self.is_own(origin(subscription).as_deref()) => self.hosts.n_listed(),
            None => self.lane_of_others(),
        }
    }

    /// How long to leave a service alone, if it asked for that or does not answer.
    pub(super) fn rest(&self, service: &Service, now: UtcMillis) -> Option<Duration> {
        let of_strangers = service.is_stranger().then(|| self.strangers.rest(now)).flatten();
        service.rest(now).max(of_strangers)
    }

    /// A service gave no answer.
    pub(super) fn was_silent(&self, service: &Service, now: UtcMillis) {
        if service.is_stranger() {
            self.strangers.was_silent(now);
        }
        service.was_silent(now);
    }

    /// Where a message to a subscription is sent: there, or to the same path of the endpoint.
    pub(super) fn destination(&self, subscription: Uri) -> Uri {
        let Some((_, endpoint)) = &self.own else { return subscription };
        let mut parts = subscription.into_parts();
        let own = endpoint.url.uri();
        parts.scheme = own.scheme().cloned();
        parts.authority = own.authority().cloned();
        parts.path_and_query.get_or_insert(PathAndQuery::from_static("/"));
        // Made of the parts of two absolute URLs.
        Uri::from_parts(parts).unwrap_or_default()
    }

    fn is_own(&self, origin: Option<&str>) -> bool {
        self.own.as_ref().is_some_and(|(own, _)| Some(own.as_str()) == origin)
    }

    /// The service of a subscription; the error is a sentence.
    pub(super) fn of(&self, subscription: &Uri) -> Result<Arc<Service>, String> {
        let Some(origin) = origin(subscription) else {
            return Err("The address of the subscription is not an absolute URL.".to_owned());
        };
        if let Some(service) = self.known.lock().get(&origin) {
            return Ok(service.clone());
        }
        let (is_own, lane) = (self.is_own(Some(&origin)), self.lane(subscription));
        if subscription.scheme_str() != Some("https") && !is_own {
            return Err(format!("The address of the subscription, at {origin}, is not an https URL."));
        }
        if lane == self.lane_of_others() && !self.hosts.accepts_others() {
            return Err(format!("{origin} is not a known push service; the setting push_hosts can add it."));
        }
        let checked = |origin: &str| check_url(origin, self.network.policy()).map_err(|refusal| refusal.to_string());
        let url = match (checked(&origin)?, &self.own) {
            (_, Some((own, _))) => checked(own)?,
            (url, None) => url,
        };
        let service = Arc::new(self.connected(origin.clone(), &url, lane));
        let mut known = self.known.lock();
        if known.len() >= MOST_SERVICES {
            // Those of browsers are a handful, and have a state worth keeping.
            let others = self.lane_of_others();
            known.retain(|_, service| service.lane != others);
        }
        Ok(known.entry(origin).or_insert(service).clone())
    }

    fn connected(&self, origin: String, url: &WebUrl, lane: usize) -> Service {
        let ca = self.own.as_ref().and_then(|(_, endpoint)| endpoint.ca.as_deref());
        let wire = || self.network.wire_if_spoken(Origin::of(url), ca, MOST_CONNECTIONS);
        let is_encrypted = url.uri().scheme_str() == Some("https");
        Service::new(origin, lane, lane != self.lane_of_others(), is_encrypted.then(wire))
    }
}

impl Service {
    fn new(origin: String, lane: usize, is_listed: bool, wire: Option<Wire>) -> Self {
        Self {
            origin,
            token: TokenCache::default(),
            lane,
            wire,
            speaks_http1_only: AtomicBool::new(false),
            rests_until: Mutex::default(),
            is_listed,
            has_answered: AtomicBool::new(false),
            n_silent: AtomicU32::new(0),
            n_suspicious: AtomicU32::new(0),
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
    fn rest(&self, now: UtcMillis) -> Option<Duration> {
        let until = self.rests_until.lock().end_of_wait(now);
        u64::try_from(until.0.saturating_sub(now.0)).ok().filter(|left| *left > 0).map(Duration::from_millis)
    }

    pub(super) fn rest_until(&self, until: UtcMillis) {
        let mut rests_until = self.rests_until.lock();
        *rests_until = rests_until.end_of_wait(until).max(until);
    }
}

impl Service {
    /// It gave an answer, whatever it says.
    pub(super) fn answered(&self) {
        self.has_answered.store(true, Ordering::Relaxed);
        self.n_silent.store(0, Ordering::Relaxed);
    }

    /// Whether nobody vouches for it, and it has never answered.
    pub(super) fn is_stranger(&self) -> bool {
        !self.is_listed && !self.has_answered.load(Ordering::Relaxed)
    }

    /// It gave none. After some of those it rests, so that others do not wait for it.
    fn was_silent(&self, now: UtcMillis) {
        let n_silent = self.n_silent.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let most = if self.is_stranger() { SILENT_STRANGER } else { SILENT };
        if let Some(beyond) = n_silent.checked_sub(most) {
            let n_rests = (beyond / SILENT).min(10);
            self.rest_until(now.plus((FIRST_REST * (1 << n_rests)).min(LONGEST_REST)));
        }
    }

    pub(super) fn served(&self) {
        self.n_suspicious.store(0, Ordering::Relaxed);
    }

    /// It refuses a subscription that took a message before. Returns how long it rests if it refuses them all, which is due to our
    /// key pair: then it is this service that has to wait for the operator, and no other.
    pub(super) fn suspect(&self, now: UtcMillis) -> Option<Duration> {
        if self.n_suspicious.fetch_add(1, Ordering::Relaxed).saturating_add(1) < TOO_SUSPICIOUS {
            return None;
        }
        self.rest_until(now.plus(REFUSED_REST));
        Some(REFUSED_REST)
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

    fn any() -> PushHosts {
        PushHosts::default().and_others()
    }

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
        let services = Services::new(&network(), any(), Some(&own));
        for url in ["https://push.example/a", "http://127.0.0.1:8080/webpush/1"] {
            assert!(services.of(&url.parse().unwrap()).is_ok(), "{url}");
        }
        for url in ["http://push.example/a", "http://127.0.0.1:8081/", "ftp://push.example/", "/relative"] {
            assert!(services.of(&url.parse().unwrap()).is_err(), "{url}");
        }
        assert!(Services::new(&network(), any(), None).of(&"http://127.0.0.1:8080/".parse().unwrap()).is_err());
    }

    #[test]
    fn the_endpoint_takes_the_place_of_every_service() {
        let own = Endpoint { url: WebUrl::try_from("http://127.0.0.1:8080/".to_owned()).unwrap(), ca: None };
        let services = Services::new(&network(), PushHosts::default(), Some(&own));
        let table = [
            ("https://fcm.googleapis.com/fcm/send/a?b=c", "http://127.0.0.1:8080/fcm/send/a?b=c"),
            ("https://web.push.apple.com/", "http://127.0.0.1:8080/"),
            ("http://127.0.0.1:8080/webpush/1", "http://127.0.0.1:8080/webpush/1"),
        ];
        for (subscription, destination) in table {
            let subscription: Uri = subscription.parse().unwrap();
            assert_eq!(services.of(&subscription).unwrap().origin, origin(&subscription).unwrap());
            assert_eq!(services.destination(subscription).to_string(), destination);
        }
        let refused = services.of(&"https://evil.example/".parse().unwrap()).err().unwrap();
        assert!(refused.contains("not a known push service"), "{refused}");
        let without = Services::new(&network(), PushHosts::default(), None);
        let subscription: Uri = "https://fcm.googleapis.com/fcm/send/a".parse().unwrap();
        assert_eq!(without.destination(subscription.clone()), subscription);
    }

    #[test]
    fn a_private_endpoint_needs_the_policy_of_the_operator() {
        let own = Endpoint { url: WebUrl::try_from("https://10.0.0.1/".to_owned()).unwrap(), ca: None };
        let public = Network::new(AddressPolicy::PUBLIC_ONLY);
        let services = Services::new(&public, PushHosts::default(), Some(&own));
        assert!(services.of(&"https://fcm.googleapis.com/a".parse().unwrap()).is_err());
    }

    #[test]
    fn made_up_services_do_not_pile_up() {
        let services = Services::new(&network(), any(), None);
        for n in 0..MOST_SERVICES + 10 {
            services.of(&format!("https://push{n}.example/").parse().unwrap()).unwrap();
        }
        assert!(services.known.lock().len() <= MOST_SERVICES);
        let uri = "https://push.example/".parse().unwrap();
        assert!(Arc::ptr_eq(&services.of(&uri).unwrap(), &services.of(&uri).unwrap()));
    }

    #[test]
    fn services_rest_as_long_as_they_ask() {
        let service = Service::new("https://push.example".to_owned(), 0, true, None);
        assert_eq!(service.rest(UtcMillis(5)), None);
        service.rest_until(UtcMillis(1000));
        service.rest_until(UtcMillis(500));
        assert_eq!(service.rest(UtcMillis(400)), Some(Duration::from_millis(600)));
        assert_eq!(service.rest(UtcMillis(1000)), None);
    }

    #[test]
    fn known_services_have_a_lane_each_and_others_share_one() {
        let own = Endpoint { url: WebUrl::try_from("http://127.0.0.1:8080/".to_owned()).unwrap(), ca: None };
        let services = Services::new(&network(), PushHosts::default(), Some(&own));
        let lane = |url: &str| services.lane(&url.parse().unwrap());
        assert_eq!(lane("https://fcm.googleapis.com/a"), lane("https://fcm.googleapis.com/b"));
        assert_ne!(lane("https://fcm.googleapis.com/a"), lane("https://web.push.apple.com/a"));
        assert_eq!(lane("http://127.0.0.1:8080/x"), services.n_lanes() - 2);
        assert_eq!((lane("https://evil.example/"), services.lane_of_others()), (7, 7));
        assert!(services.of(&"https://fcm.googleapis.com/a".parse().unwrap()).is_ok());
        let refused = services.of(&"https://evil.example/".parse().unwrap()).err().unwrap();
        assert!(refused.contains("evil.example"), "{refused}");
    }

    #[test]
    fn silent_services_rest_for_longer_every_time() {
        let (service, now) = (Service::new("https://push.example".to_owned(), 0, true, None), UtcMillis(0));
        let silent = |n| (0..n).for_each(|_| service.was_silent(now));
        silent(SILENT - 1);
        assert_eq!(service.rest(now), None);
        service.answered();
        silent(SILENT - 1);
        assert_eq!(service.rest(now), None, "it answered in between");
        silent(1);
        assert_eq!(service.rest(now), Some(FIRST_REST));
        silent(SILENT);
        assert_eq!(service.rest(now), Some(FIRST_REST * 2));
        silent(100 * SILENT);
        assert_eq!(service.rest(now), Some(LONGEST_REST));
    }

    #[test]
    fn a_service_that_refuses_subscriptions_that_worked_rests_alone() {
        let (service, now) = (Service::new("https://push.example".to_owned(), 0, true, None), UtcMillis(0));
        for _ in 1..TOO_SUSPICIOUS {
            assert_eq!(service.suspect(now), None);
        }
        service.served();
        for _ in 1..TOO_SUSPICIOUS {
            assert_eq!((service.suspect(now), service.rest(now)), (None, None));
        }
        assert_eq!((service.suspect(now), service.rest(now)), (Some(REFUSED_REST), Some(REFUSED_REST)));
    }

    #[test]
    fn services_that_never_answered_rest_together() {
        let services = Services::new(&network(), any(), None);
        let (one, now) = (services.of(&"https://a.evil.example/".parse().unwrap()).unwrap(), UtcMillis(0));
        let another = services.of(&"https://b.evil.example/".parse().unwrap()).unwrap();
        let known = services.of(&"https://fcm.googleapis.com/".parse().unwrap()).unwrap();
        services.was_silent(&one, now);
        assert_eq!(services.rest(&one, now), None);
        services.was_silent(&one, now);
        assert_eq!((services.rest(&one, now), services.rest(&another, now)), (Some(FIRST_REST), None));
        for n in 0..SILENT {
            let made_up = services.of(&format!("https://{n}.evil.example/").parse().unwrap()).unwrap();
            services.was_silent(&made_up, now);
        }
        assert_eq!((services.rest(&another, now), services.rest(&known, now)), (Some(FIRST_REST), None));
        another.answered();
        assert_eq!(services.rest(&another, now), None);
    }
}
