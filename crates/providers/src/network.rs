//! The parts that all senders share: the address policy, the timeouts, and the HTTP client.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::sign::CertifiedKey;
use trust::Trust;

use crate::endpoint::Endpoint;
use crate::http::{AddressPolicy, Client, Timeouts};
use crate::tls;
use crate::webpush::PushHosts;
use crate::wire::{Origin, Wire, WireOptions};

const HTTP2: &[u8] = b"h2";

/// Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Network {
    http: Client,
    trust: Trust,
    timeouts: Timeouts,
    push_hosts: PushHosts,
}

/// What connections to a provider are made with.
pub(crate) struct WireTo<'c> {
    pub(crate) origin: Origin,
    /// Certificate authorities to trust beside the usual ones, as PEM.
    pub(crate) ca: Option<&'c str>,
    /// Shown to a provider that asks for one.
    pub(crate) certificate: Option<CertifiedKey>,
    /// The most connections.
    pub(crate) connections: usize,
    /// Wait for the first answer on a new connection before sending more on it.
    pub(crate) one_stream_first: bool,
}

impl Network {
    pub fn new(policy: AddressPolicy) -> Self {
        Self::with_timeouts(policy, Timeouts::default())
    }

    /// Trusts the authorities that the machine trusts.
    pub fn with_timeouts(policy: AddressPolicy, timeouts: Timeouts) -> Self {
        Self::trusting(Trust::of_system(), policy, timeouts)
    }

    pub fn trusting(trust: Trust, policy: AddressPolicy, timeouts: Timeouts) -> Self {
        let http = Client::trusting(&trust, policy, timeouts);
        Self { http, trust, timeouts, push_hosts: PushHosts::default() }
    }

    /// The same with other hosts for the push services of browsers.
    pub fn with_push_hosts(self, push_hosts: PushHosts) -> Self {
        Self { push_hosts, ..self }
    }

    pub fn push_hosts(&self) -> &PushHosts {
        &self.push_hosts
    }

    /// The client for servers that the trusted certificate authorities vouch for.
    pub fn http(&self) -> &Client {
        &self.http
    }

    pub fn policy(&self) -> AddressPolicy {
        self.http.policy()
    }

    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The client for a provider that may be somewhere else; it trusts the certificate authority that comes with that.
    pub(crate) fn http_for(&self, endpoint: Option<&Endpoint>) -> Client {
        match endpoint.and_then(|endpoint| endpoint.ca.as_deref()) {
            Some(ca) => Client::with_tls(self.policy(), self.timeouts, tls::client_config(&self.trust, Some(ca), None)),
            None => self.http.clone(),
        }
    }

    /// HTTP/2 connections to one provider.
    pub(crate) fn wire(&self, to: WireTo<'_>) -> Wire {
        let WireTo { origin, ca, certificate, connections, one_stream_first } = to;
        let mut tls = tls::client_config(&self.trust, ca, certificate);
        tls.alpn_protocols = vec![HTTP2.to_vec()];
        self.wire_over(tls, origin, connections, one_stream_first)
    }

    /// As [`Network::wire`], to a server that may speak HTTP/1.1 only, which is an error then.
    pub(crate) fn wire_if_spoken(&self, origin: Origin, ca: Option<&str>, connections: usize) -> Wire {
        let mut tls = tls::client_config(&self.trust, ca, None);
        tls.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
        self.wire_over(tls, origin, connections, false)
    }

    fn wire_over(&self, tls: ClientConfig, origin: Origin, connections: usize, one_stream_first: bool) -> Wire {
        let options = WireOptions {
            connections,
            one_stream_first,
            connect_timeout: self.timeouts.total,
            timeout: self.timeouts.total,
        };
        Wire::new(origin, Arc::new(tls), self.policy(), options)
    }
}
