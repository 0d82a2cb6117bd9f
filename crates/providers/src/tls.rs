//! TLS for outgoing connections: whom we trust, and our own certificate.

mod pinned;

pub(crate) use pinned::pinned_config;

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use trust::Trust;

use crate::keys;

/// Trusts the authorities of `ca` as well, which is PEM; shows `certificate` to servers that ask for one.
pub(crate) fn client_config(trust: &Trust, ca: Option<&str>, certificate: Option<CertifiedKey>) -> ClientConfig {
    // They were valid when they were set; one that cannot be read any more is not trusted.
    let builder = match ca.and_then(|pem| keys::certificates(pem).ok()) {
        Some(certificates) => trust.clone().and_certificates(certificates).client(),
        None => trust.client(),
    };
    match certificate {
        Some(certificate) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(certificate))),
        None => builder.with_no_client_auth(),
    }
}
