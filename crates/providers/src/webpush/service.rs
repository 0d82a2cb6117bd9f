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
const MOST_CONNECTIONS: usize = 5;

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

    /// Whether the host that a subscription leads to is known by its name, so that no device has made it up.
    pub(super) fn are_named(&self, subscription: &Uri) -> bool {
        self.own.is_some() || self.hosts.names(subscription)
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

    /// Whether it is in reach: if it rests all the same, it has asked for that.
    pub(super) fn is_heard(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed) && self.n_silent.load(Ordering::Relaxed) < SILENT
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
mod tests;
