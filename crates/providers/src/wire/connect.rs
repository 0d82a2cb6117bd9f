//! From an origin to an HTTP/2 connection: name, address policy, TCP, TLS, first frames.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{self, Connection, SendRequest};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::stream::Stream;
use super::{Origin, WireError};
use crate::http::{AddressPolicy, ResolveError, lookup};

/// A name can have an address that does not answer; the next one gets its chance before the whole attempt is over.
const PER_ADDRESS: Duration = Duration::from_secs(3);

/// Room for the answers of all streams at once. `h2` also derives from it how many small answers may lie unread.
const RECEIVE_WINDOW: u32 = 4 * 1024 * 1024;

const HTTP2: &[u8] = b"h2";

pub(super) type NewConnection = (SendRequest<Bytes>, Connection<Stream, Bytes>);

pub(super) async fn open(
    origin: &Origin,
    tls: &Arc<rustls::ClientConfig>,
    policy: AddressPolicy,
) -> Result<NewConnection, WireError> {
    let addresses = lookup(origin.host(), origin.port(), policy).await.map_err(|error| match error {
        ResolveError::Refused(refusal) => WireError::Refused(refusal),
        ResolveError::Lookup(error) => unreachable(origin, &error),
    })?;
    let tcp = first_to_answer(origin, &addresses).await?;
    let stream = if origin.secure { encrypted(origin, tls, tcp).await? } else { Stream::Plain(tcp) };
    let handshake = client::Builder::new()
        .enable_push(false)
        .initial_connection_window_size(RECEIVE_WINDOW)
        .handshake(stream)
        .await;
    handshake.map_err(|error| unreachable(origin, &error))
}

async fn first_to_answer(origin: &Origin, addresses: &[SocketAddr]) -> Result<TcpStream, WireError> {
    let mut failure = unreachable(origin, &"the name has no address");
    for address in addresses {
        match tokio::time::timeout(PER_ADDRESS, TcpStream::connect(address)).await {
            Ok(Ok(tcp)) => {
                // Without this, small requests wait for the acknowledgement of earlier ones.
                tcp.set_nodelay(true).map_err(|error| unreachable(origin, &error))?;
                return Ok(tcp);
            }
            Ok(Err(error)) => failure = unreachable(origin, &error),
            Err(_) => failure = unreachable(origin, &"it does not answer"),
        }
    }
    Err(failure)
}

async fn encrypted(origin: &Origin, tls: &Arc<rustls::ClientConfig>, tcp: TcpStream) -> Result<Stream, WireError> {
    let name = ServerName::try_from(origin.host().to_owned()).map_err(|error| unreachable(origin, &error))?;
    let stream = TlsConnector::from(tls.clone()).connect(name, tcp).await.map_err(|error| {
        if objects_to_certificate(&error.to_string()) {
            return WireError::Certificate(error.to_string());
        }
        match trust::complaint(&error) {
            Some(complaint) => unreachable(origin, &format!("its certificate is not trusted: {complaint}")),
            None => unreachable(origin, &error),
        }
    })?;
    match stream.get_ref().1.alpn_protocol() {
        Some(HTTP2) => Ok(Stream::Tls(Box::new(stream))),
        Some(_) | None => Err(WireError::NoHttp2),
    }
}

/// Whether an error says that the other side does not like the certificate we showed. With TLS 1.3 that becomes known only
/// after the handshake, and `h2` keeps no more of it than the text.
pub(super) fn objects_to_certificate(error: &str) -> bool {
    const ALERTS: [&str; 9] = [
        "BadCertificate",
        "UnsupportedCertificate",
        "CertificateRevoked",
        "CertificateExpired",
        "CertificateUnknown",
        "CertificateRequired",
        "UnknownCA",
        "AccessDenied",
        "DecryptError",
    ];
    error.split_once("received fatal alert: ").is_some_and(|(_, alert)| ALERTS.iter().any(|name| alert.contains(name)))
}

fn unreachable(origin: &Origin, why: &(impl ToString + ?Sized)) -> WireError {
    WireError::Unreachable { reason: format!("{}: {}", origin.authority, why.to_string()), again_in: Duration::ZERO }
}
