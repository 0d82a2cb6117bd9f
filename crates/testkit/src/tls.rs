//! A certificate authority of a test: files for a service with TLS of its own, servers with its certificates, and connections that
//! trust it.

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use providers::Trust;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// The names of this machine, which certificates are for unless the test says otherwise.
pub const THIS_MACHINE: [&str; 2] = ["localhost", "127.0.0.1"];

pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// An authority with a file of its own, and none yet for a server.
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, new_key()).expect("a certificate can be made");
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        write(&folder.path().join("ca.pem"), &issuer.pem());
        Self { issuer, folder }
    }

    /// The certificate of the authority, as PEM.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    pub fn trust(&self) -> Trust {
        Trust::of_system().and_file(&self.file()).expect("the file can be read")
    }

    /// Where a server has its certificate and its key.
    pub fn server_files(&self) -> api::TlsFiles {
        let folder = self.folder.path();
        api::TlsFiles { certificate: folder.join("server.pem"), key: folder.join("server.key") }
    }

    /// Writes a new certificate with a new key into the files of the server.
    pub fn renew(&self, names: &[&str]) -> CertificateDer<'static> {
        self.put(self.issue(names))
    }

    /// The same with a certificate that ends when that day (year, month and day) begins.
    pub fn renew_until(&self, names: &[&str], (year, month, day): (i32, u8, u8)) -> CertificateDer<'static> {
        let mut params = params(names);
        params.not_after = date_time_ymd(year, month, day);
        self.put(self.sign(&params))
    }

    fn put(&self, (certificate, key): (String, String)) -> CertificateDer<'static> {
        let files = self.server_files();
        write(&files.certificate, &certificate);
        write(&files.key, &key);
        CertificateDer::from_pem_slice(certificate.as_bytes()).expect("a certificate")
    }

    /// A certificate and its key, as PEM.
    pub fn issue(&self, names: &[&str]) -> (String, String) {
        self.sign(&params(names))
    }

    fn sign(&self, params: &CertificateParams) -> (String, String) {
        let key = new_key();
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate can be made");
        (certificate.pem(), key.serialize_pem())
    }

    /// Ends TLS in front of a server of the test, until the runtime ends. Returns its port.
    pub async fn gate(&self, server: SocketAddr) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let port = listener.local_addr().expect("a listener has an address").port();
        let acceptor = self.acceptor();
        tokio::spawn(async move {
            while let Ok((outside, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let mut outside = acceptor.accept(outside).await?;
                    let mut inside = TcpStream::connect(server).await?;
                    tokio::io::copy_bidirectional(&mut outside, &mut inside).await
                });
            }
        });
        port
    }

    fn acceptor(&self) -> TlsAcceptor {
        let (certificate, key) = self.issue(&THIS_MACHINE);
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("a certificate");
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring supports the default protocol versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key);
        TlsAcceptor::from(Arc::new(config.expect("they fit")))
    }

    /// Connects to a server of this machine, and agrees on one of the protocols.
    pub async fn connect(&self, address: &str, protocols: &[&[u8]]) -> std::io::Result<TlsStream<TcpStream>> {
        let mut config = self.trust().client().with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let name = ServerName::try_from("localhost").expect("a name");
        TlsConnector::from(Arc::new(config)).connect(name, TcpStream::connect(address).await?).await
    }
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    CertificateParams::new(names).expect("names of hosts")
}

fn new_key() -> KeyPair {
    KeyPair::generate().expect("a key can be made")
}

/// For nobody else to read: some of it is a key.
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file can be written");
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).expect("a file can be kept from others");
}
