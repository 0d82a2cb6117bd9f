//! TLS on the way to PostgreSQL.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use trust::Trust as Authorities;

use crate::error::{Cause, Error, Result};

/// Which server a connection accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Any server: nobody can listen in, but an impostor could pretend to be the server.
    Anyone,
    /// A server with a certificate of an authority we trust, for any name.
    Issuer,
    /// A server with a certificate of an authority we trust, for the name in the URL.
    Name,
}

/// How connections are encrypted.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the authorities of the PEM file that the URL names, or else those that the machine trusts and those of `ca_file`.
    pub(super) fn new(trust: Trust, authorities: Option<&Path>, ca_file: Option<&Path>) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring supports the default protocol versions");
        let issuers = match trust {
            Trust::Anyone => None,
            Trust::Issuer | Trust::Name => Some(trusted(authorities, ca_file, &provider)?),
        };
        let config = match (trust, issuers) {
            (Trust::Name, Some(issuers)) => builder.dangerous().with_custom_certificate_verifier(issuers),
            (_, issuers) => {
                let verifier = Arc::new(AnyName { issuers, provider });
                builder.dangerous().with_custom_certificate_verifier(verifier)
            }
        };
        Ok(Self(Arc::new(config.with_no_client_auth())))
    }
}

fn trusted(
    authorities: Option<&Path>,
    ca_file: Option<&Path>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>> {
    let unusable = |name: &'static str| move |why: String| Error::unavailable(format!("{name}: {why}"));
    let trusted = match (authorities, ca_file) {
        (Some(file), _) => Authorities::only(file).map_err(unusable("sslrootcert"))?,
        (None, Some(file)) => Authorities::of_system().and_file(file).map_err(unusable("ca_file"))?,
        (None, None) => Authorities::of_system(),
    };
    let verifier = WebPkiServerVerifier::builder_with_provider(trusted.roots(), Arc::clone(provider)).build();
    verifier.map_err(|error| Error::Unavailable(Cause::new("no certificate authority can be used", error)))
}

/// Accepts a certificate for any name, and without issuers from any authority.
#[derive(Debug)]
struct AnyName {
    issuers: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(issuers) = &self.issuers else { return Ok(ServerCertVerified::assertion()) };
        // The name is checked last: if only the name is wrong, everything else is right.
        match issuers.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// TLS with a server of this name.
pub(super) struct Handshake {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Handshake;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> std::result::Result<Handshake, Self::Error> {
        // Sockets of this machine have no host, and no handshake is made over them.
        let host = if host.is_empty() { "localhost" } else { host };
        Ok(Handshake { config: Arc::clone(&self.0), name: ServerName::try_from(host.to_owned())? })
    }
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Stream;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Stream>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { Ok(Stream(TlsConnector::from(self.config).connect(self.name, socket).await?)) })
    }
}

/// An encrypted connection.
pub(super) struct Stream(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
