//! Name resolution that applies the address policy to the address of the connection, so that a name cannot be pointed elsewhere
//! after it was checked.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::Name;
use tower::Service;

use super::{AddressPolicy, Refusal};

#[derive(Clone, Debug)]
pub(crate) struct PolicyResolver {
    pub(super) policy: AddressPolicy,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error(transparent)]
    Lookup(#[from] io::Error),
    #[error(transparent)]
    Refused(Refusal),
}

impl Service<Name> for PolicyResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = ResolveError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ResolveError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ResolveError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let policy = self.policy;
        Box::pin(async move { Ok(lookup(name.as_str(), 0, policy).await?.into_iter()) })
    }
}

/// Where a name or an address leads, as far as the policy permits it.
pub(crate) async fn lookup(host: &str, port: u16, policy: AddressPolicy) -> Result<Vec<SocketAddr>, ResolveError> {
    permitted(host, tokio::net::lookup_host((host, port)).await?, policy)
}

/// The addresses that may be connected to. A name that has only others is refused.
fn permitted(
    name: &str,
    found: impl Iterator<Item = SocketAddr>,
    policy: AddressPolicy,
) -> Result<Vec<SocketAddr>, ResolveError> {
    let mut addresses = Vec::new();
    let mut refused = None;
    for address in found {
        match policy.check(address.ip()) {
            Ok(()) => addresses.push(address),
            Err(kind) => refused = Some(Refusal::Address { host: name.to_owned(), kind }),
        }
    }
    match refused {
        Some(refusal) if addresses.is_empty() => Err(ResolveError::Refused(refusal)),
        _ => Ok(addresses),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(addresses: &[&str]) -> Result<Vec<String>, String> {
        let found = addresses.iter().map(|address| SocketAddr::new(address.parse().unwrap(), 0));
        let permitted = permitted("name.example", found, AddressPolicy::PUBLIC_ONLY);
        permitted.map(|some| some.iter().map(|a| a.ip().to_string()).collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn only_public_addresses_of_a_name_are_used() {
        assert_eq!(resolved(&["10.0.0.1", "1.1.1.1", "::1"]), Ok(vec!["1.1.1.1".to_owned()]));
        assert_eq!(resolved(&[]), Ok(vec![]));
        let refusal = resolved(&["127.0.0.1", "fd00::1"]).unwrap_err();
        assert!(refusal.contains("name.example") && refusal.contains("private"), "{refusal}");
    }
}
