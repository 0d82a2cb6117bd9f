//! TLS for outgoing connections: the authorities we trust, and our own certificate.

use std::sync::Arc;

use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, RootCertStore};

use crate::keys;

/// Trusts the public certificate authorities and those of `ca`, which is PEM; shows `certificate` to servers that ask for one.
pub(crate) fn client_config(ca: Option<&str>, certificate: Option<CertifiedKey>) -> ClientConfig {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    // They were valid when they were set; one that cannot be read any more is not trusted.
    roots.add_parsable_certificates(ca.and_then(|pem| keys::certificates(pem).ok()).unwrap_or_default());
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports the default protocol versions")
        .with_root_certificates(roots);
    match certificate {
        Some(certificate) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(certificate))),
        None => builder.with_no_client_auth(),
    }
}
