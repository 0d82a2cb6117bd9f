//! The open connections: how many there may be in all and from one address, and which of them wait for nothing but their caller.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use engine::Metrics;
use http::HeaderMap;
use http::header::FORWARDED;
use parking_lot::Mutex;
use tokio::task::AbortHandle;

use super::peer::Peer;
use crate::fair_share::{FairShare, Permit};
use crate::limits::Limits;

/// The address of the caller, added to every request. One host usually has all addresses of an IPv6 network of 64 bits, so that
/// stands for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallerAddress(pub IpAddr);

impl CallerAddress {
    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                const HOST_BITS: u32 = 64;
                Self(Ipv6Addr::from_bits(address.to_bits() >> HOST_BITS << HOST_BITS).into())
            }
            address @ IpAddr::V4(_) => Self(address),
        }
    }

    /// Whether a request was made on the machine of the service. A proxy there brings callers from elsewhere, and says so.
    pub(crate) fn is_here(self, headers: &HeaderMap) -> bool {
        let Self(peer) = self;
        let is_proxied = headers.contains_key("x-forwarded-for") || headers.contains_key(FORWARDED);
        // What is kept of the address of an IPv6 host leaves nothing of the loopback address.
        (peer.is_loopback() || peer.is_unspecified()) && !is_proxied
    }
}

/// How often a server that stops looks for callers that have done nothing.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A caller of a server that stops sends or reads at least this much between two looks.
const LEAST_BYTES: u64 = 16 * 1024;

#[derive(Clone)]
pub(super) struct Connections(Arc<Parts>);

struct Parts {
    share: FairShare<CallerAddress>,
    /// Live connections, which are beside those of callers: thousands of devices may come through the address of one proxy, and
    /// must not keep its callers out.
    live: FairShare<CallerAddress>,
    open: Mutex<Open>,
    metrics: Metrics,
}

#[derive(Default)]
struct Open {
    last_number: u64,
    by_number: HashMap<u64, (Peer, AbortHandle)>,
}

/// The place of one connection while it speaks HTTP, until it is dropped.
struct Place {
    of: Connections,
    number: u64,
    _seat: Seat,
}

/// What a socket counts as, until the last clone is dropped. It is added to requests that ask for another protocol, so that the
/// socket is still counted when it no longer speaks HTTP.
#[derive(Clone)]
pub(crate) struct Seat(Arc<SeatParts>);

struct SeatParts {
    of: Connections,
    address: CallerAddress,
    _permit: Permit<CallerAddress>,
}

impl Seat {
    /// The place of a live connection from the same address; `None` when the address has its share of these.
    pub(crate) fn admit_live(&self) -> Option<Permit<CallerAddress>> {
        self.0.of.0.live.take(self.0.address)
    }
}

impl Connections {
    pub(super) fn new(limits: &Limits, metrics: Metrics) -> Self {
        let share = FairShare::capped(limits.connections, limits.connections_per_address);
        let live = FairShare::new(limits.live_connections);
        metrics.live_connections_lack(limits.live_connections_lacking);
        Self(Arc::new(Parts { share, live, open: Mutex::default(), metrics }))
    }

    /// The seat of a connection; `None` when the address has its share.
    pub(super) fn admit(&self, address: CallerAddress) -> Option<Seat> {
        let permit = self.0.share.take(address);
        if permit.is_none() {
            self.0.metrics.connection_refused();
        }
        Some(Seat(Arc::new(SeatParts { of: self.clone(), address, _permit: permit? })))
    }

    /// Runs a connection until it ends.
    pub(super) fn run(&self, seat: Seat, peer: Peer, connection: impl Future<Output = ()> + Send + 'static) {
        // The task removes its entry when it ends, for which it has to wait until the entry is there.
        let mut open = self.0.open.lock();
        open.last_number += 1;
        let number = open.last_number;
        self.0.metrics.connection_begins();
        let place = Place { of: self.clone(), number, _seat: seat };
        let task = tokio::spawn(async move {
            let _place = place;
            connection.await;
        });
        open.by_number.insert(number, (peer, task.abort_handle()));
    }

    /// Ends connections again and again that wait for their caller, who does next to nothing.
    pub(super) async fn cut_off_idlers(&self) {
        let mut before = self.awaited();
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let now = self.awaited();
            for (number, (n_bytes, task)) in &now {
                if before.get(number).is_some_and(|(n_before, _)| n_bytes - n_before < LEAST_BYTES) {
                    task.abort();
                }
            }
            before = now;
        }
    }

    /// The connections that wait for their caller, with how many bytes have passed on each.
    fn awaited(&self) -> HashMap<u64, (u64, AbortHandle)> {
        let open = self.0.open.lock();
        let awaited = open.by_number.iter().filter(|(_, (peer, _))| peer.is_awaited());
        awaited.map(|(number, (peer, task))| (*number, (peer.n_bytes(), task.clone()))).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.of.0.open.lock().by_number.remove(&self.number);
        self.of.0.metrics.connection_ends();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let of = |text: &str| CallerAddress::of(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
