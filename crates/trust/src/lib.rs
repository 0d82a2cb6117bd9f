//! The certificate authorities that we trust as a client of TLS, and what is said of a server that none of them vouches for.

mod complaint;

pub use complaint::{Complaint, complaint};

use std::path::Path;
use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};

/// Variables of the environment that name other authorities than those of the machine.
const NAMING: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Trust {
    roots: Arc<RootCertStore>,
    is_built_in: bool,
}

impl Trust {
    /// The authorities that the machine trusts. `SSL_CERT_FILE` and `SSL_CERT_DIR` name others, as they do for most programs; if
    /// there are none where they lead, nobody is trusted. A machine without any, such as a container with nothing but the program,
    /// gets those that the program was built with: messages have to reach Apple and Google from there, too.
    #[expect(
        clippy::disallowed_methods,
        reason = "they are not settings of ours: what reads the authorities reads them, too"
    )]
    pub fn of_system() -> Self {
        let mut roots = RootCertStore::empty();
        // Certificates that cannot be read or are of no use are passed over, as everybody does.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let are_named = NAMING.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        if roots.is_empty() && !are_named {
            let built_in = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
            return Self { roots: Arc::new(built_in), is_built_in: true };
        }
        Self { roots: Arc::new(roots), is_built_in: false }
    }

    /// Only the authorities of a PEM file. The error says what is wrong with the file, and names it.
    pub fn only(file: &Path) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        add_file(&mut roots, file)?;
        Ok(Self { roots: Arc::new(roots), is_built_in: false })
    }

    /// And the authorities of a PEM file as well.
    pub fn and_file(mut self, file: &Path) -> Result<Self, String> {
        add_file(Arc::make_mut(&mut self.roots), file)?;
        Ok(self)
    }

    /// And other certificates as well. One that cannot be read is not trusted.
    pub fn and_certificates(mut self, certificates: Vec<CertificateDer<'static>>) -> Self {
        Arc::make_mut(&mut self.roots).add_parsable_certificates(certificates);
        self
    }

    /// Whether nobody is trusted, because the variables of the environment that name authorities lead nowhere.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Whether the machine has no authorities of its own.
    pub fn is_built_in(&self) -> bool {
        self.is_built_in
    }

    pub fn roots(&self) -> Arc<RootCertStore> {
        self.roots.clone()
    }

    /// The beginning of a configuration that trusts these.
    pub fn client(&self) -> ConfigBuilder<ClientConfig, WantsClientCert> {
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring supports the default protocol versions")
            .with_root_certificates(self.roots())
    }
}

fn add_file(roots: &mut RootCertStore, file: &Path) -> Result<(), String> {
    let unreadable = |reason: &dyn std::fmt::Display| format!("{} cannot be read: {reason}.", file.display());
    let text = std::fs::read(file).map_err(|error| unreadable(&error))?;
    let mut n_certificates = 0;
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        roots.add(certificate).map_err(|error| unreadable(&error))?;
        n_certificates += 1;
    }
    if n_certificates == 0 {
        let name = file.display();
        return Err(format!(
            "{name} has no certificate: it must be a PEM file, which has a line '-----BEGIN CERTIFICATE-----'."
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_adds_its_authorities_or_says_what_is_wrong_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        let absent = Trust::only(&file).unwrap_err();
        assert!(absent.contains("ca.pem cannot be read: No such file"), "{absent}");
        std::fs::write(&file, "hello").unwrap();
        assert!(Trust::only(&file).unwrap_err().contains("ca.pem has no certificate"));
        std::fs::write(&file, "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n").unwrap();
        assert!(Trust::only(&file).unwrap_err().contains("ca.pem cannot be read"));
        let own = rcgen::generate_simple_self_signed(["ca.example".to_owned()]).unwrap();
        std::fs::write(&file, own.cert.pem()).unwrap();
        assert_eq!(Trust::only(&file).unwrap().roots().len(), 1);
        let system = Trust::of_system();
        assert!(!system.roots().is_empty(), "those of the machine or those of the program");
        let n_before = system.roots().len();
        assert_eq!(system.and_file(&file).unwrap().roots().len(), n_before + 1);
    }
}
