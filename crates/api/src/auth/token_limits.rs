//! Enforces what a server with a token may do: its role, its scopes, and from where it calls.

use std::net::IpAddr;

use axum::extract::Request;
use http::HeaderMap;
use model::network::Network;
use tenancy::TokenLimits;

use super::BASIC;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::roles::{lacking, least_role, permit, scope};
use crate::serve::CallerAddress;

const NOT_FROM_HERE: Error = Error::Unauthorized {
    why: "This token cannot be used from this address; its list of addresses says from where.",
    challenge: BASIC,
    is_guess: false,
};

pub(super) fn enforce(edge: &Edge, token: &TokenLimits, request: &Request) -> Result<()> {
    if !token.allows_address(calling_address(edge, request)) {
        return Err(NOT_FROM_HERE);
    }
    let (method, path) = (request.method(), request.uri().path());
    permit(token.role, least_role(method, path))?;
    let Some(own) = &token.scopes else { return Ok(()) };
    match scope(method, path) {
        Some(needed) if own.contains(&needed) => Ok(()),
        Some(needed) => Err(Error::Forbidden(lacking(needed))),
        None => Err(Error::Forbidden("The token is limited to scopes, and none of them is about this.".to_owned())),
    }
}

/// Where a request comes from.
pub(crate) fn calling_address(edge: &Edge, request: &Request) -> Option<IpAddr> {
    address_behind(&edge.trusted_proxies, *request.extensions().get()?, request.headers())
}

/// Where a request comes from that a peer has sent. A proxy that is trusted tells, last in the list, the address that it has seen
/// itself.
pub fn address_behind(trusted: &[Network], CallerAddress(peer): CallerAddress, headers: &HeaderMap) -> Option<IpAddr> {
    let is_trusted = |address| trusted.iter().any(|network| network.contains(address));
    if is_trusted(peer) { forwarded(headers, is_trusted) } else { Some(peer) }
}

/// The last address that is not of a trusted proxy; `None` if the list cannot be read that far.
fn forwarded(headers: &HeaderMap, is_trusted: impl Fn(IpAddr) -> bool) -> Option<IpAddr> {
    let lists: Option<Vec<&str>> = headers.get_all("x-forwarded-for").iter().map(|list| list.to_str().ok()).collect();
    let lists = lists?;
    let mut addresses = lists.iter().rev().flat_map(|list| list.rsplit(',')).map(|address| address.trim().parse());
    loop {
        let CallerAddress(address) = CallerAddress::of(addresses.next()?.ok()?);
        if !is_trusted(address) {
            return Some(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_caller_makes_up_before_the_proxy_does_not_count() {
        let told = |lists: &[&str]| {
            let mut headers = HeaderMap::new();
            for list in lists {
                headers.append("x-forwarded-for", list.parse().unwrap());
            }
            forwarded(&headers, |address| address == IpAddr::from([10, 0, 0, 1])).map(|address| address.to_string())
        };
        assert_eq!(told(&["192.0.2.7"]).as_deref(), Some("192.0.2.7"));
        assert_eq!(told(&["198.51.100.1, 192.0.2.7"]).as_deref(), Some("192.0.2.7"));
        assert_eq!(told(&["198.51.100.1", "192.0.2.7, 10.0.0.1"]).as_deref(), Some("192.0.2.7"));
        assert_eq!(told(&["198.51.100.1, nonsense"]), None);
        assert_eq!(told(&["10.0.0.1"]), None);
        assert_eq!(told(&[]), None);
        assert_eq!(told(&["2001:db8::7"]).as_deref(), Some("2001:db8::"), "one host has 64 bits");
    }
}
