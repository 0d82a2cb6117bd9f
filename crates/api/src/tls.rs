//! Our own TLS: the certificate of the server and its key, from two PEM files that are read again when they change.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use engine::Engine;
use model::time::UtcMillis;
use parking_lot::{Mutex, RwLock};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

pub(crate) const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";
/// How often it is looked whether the files have changed.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Cheap to clone; clones share the certificate.
#[derive(Clone)]
pub struct Tls(Arc<Parts>);

struct Parts {
    files: TlsFiles,
    identity: Arc<Identity>,
    config: Arc<ServerConfig>,
    /// The files as they were when they were last read.
    last: Mutex<Stamp>,
}

/// Where the certificate and its key are.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate of the server and then those of the authorities between it and the root.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// What new connections are shown.
#[derive(Debug)]
struct Identity(RwLock<Shown>);

#[derive(Debug)]
struct Shown {
    key: Arc<CertifiedKey>,
    ends: UtcMillis,
}

/// By what a file that was replaced is recognized.
type Stamp = [Option<(SystemTime, u64)>; 2];

impl ResolvesServerCert for Identity {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().key.clone())
    }
}

impl Tls {
    /// The error is a sentence that names the file.
    pub fn read(files: TlsFiles) -> Result<Self, String> {
        // Before they are read: what is replaced meanwhile is read again.
        let last = Mutex::new(files.stamp());
        let identity = Arc::new(Identity(RwLock::new(files.read()?)));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring supports the default protocol versions")
            .with_no_client_auth()
            .with_cert_resolver(identity.clone());
        config.alpn_protocols = vec![HTTP2.to_vec(), HTTP1.to_vec()];
        // A device that comes back goes on with its last session, which takes no signature; nothing is kept for it here.
        config.ticketer = ring::Ticketer::new().map_err(|error| format!("Sessions of TLS have no key: {error}."))?;
        Ok(Self(Arc::new(Parts { files, identity, config: Arc::new(config), last })))
    }

    /// Reads the files again, changed or not. Files that cannot be used change nothing.
    pub async fn reload(&self) {
        let files = self.0.files.clone();
        // A disk may be far away.
        let read = tokio::task::spawn_blocking(move || (files.stamp(), files.read())).await;
        match read {
            Ok((stamp, read)) => {
                *self.0.last.lock() = stamp;
                match read {
                    Ok(shown) => {
                        *self.0.identity.0.write() = shown;
                        tracing::info!(
                            event = "tls.reloaded",
                            "new connections are shown the certificate as it is now"
                        );
                    }
                    Err(reason) => {
                        tracing::error!(event = "tls.unusable", reason, "the certificate from before stays in use");
                    }
                }
            }
            Err(error) => tracing::error!(event = "tls.unusable", reason = %error, "the certificate was not read"),
        }
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        self.0.config.clone()
    }

    /// Reads the files again whenever they change, and tells when the certificate ends.
    pub(crate) async fn follow(&self, engine: &Engine) -> Infallible {
        loop {
            let ends = self.0.identity.0.read().ends;
            engine.tell_own_certificate(ends);
            tokio::time::sleep(LOOK_EVERY).await;
            let files = self.0.files.clone();
            let now = tokio::task::spawn_blocking(move || files.stamp()).await;
            if now.is_ok_and(|now| now != *self.0.last.lock()) {
                self.reload().await;
            }
        }
    }
}

impl TlsFiles {
    fn read(&self) -> Result<Shown, String> {
        let (certificate, key) = (text(&self.certificate)?, text(&self.key)?);
        let shown = providers::certified_key(&certificate, &key)
            .and_then(|key| Ok(Shown { key: Arc::new(key), ends: providers::leaf_expiry(&certificate)? }));
        shown.map_err(|reason| {
            format!("{} and {} cannot be used. {reason}", self.certificate.display(), self.key.display())
        })
    }

    fn stamp(&self) -> Stamp {
        [&self.certificate, &self.key].map(|file| stamp(file))
    }
}

fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}.", path.display()))
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    // Follows links: tools that renew certificates mostly replace one.
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
