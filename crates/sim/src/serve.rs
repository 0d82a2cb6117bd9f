//! Listening: connections in clear and over TLS, HTTP/1.1 and HTTP/2.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ServerConfig;
use rustls::server::{Acceptor, ClientHello, WebPkiClientVerifier};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::LazyConfigAcceptor;

use crate::browsers::{self, MCS_VERSION};
use crate::keys::{Keys, Pair};
use crate::shared::Shared;
use crate::{serve_h1, serve_h2};

/// The client, as far as the connection tells.
pub(crate) struct Client {
    pub(crate) scheme: &'static str,
    pub(crate) has_certificate: bool,
    /// Connections are numbered from 1.
    pub(crate) serial: u64,
}

/// The ways to shake hands over TLS.
#[derive(Clone)]
pub(crate) struct Tls {
    /// Asks for a certificate of the client, as Apple does.
    asking: Arc<ServerConfig>,
    /// Does not: the push connection of a browser ends when it is asked.
    plain: Arc<ServerConfig>,
}

const HTTP2: &[u8] = b"h2";
/// How every HTTP/2 connection in clear begins, as far as needed to tell it from a method of HTTP/1.1.
const PREFACE: &[u8; N_FIRST] = b"PRI ";
/// So many bytes tell what is spoken on a connection.
const N_FIRST: usize = 4;

/// Serves connections until it is dropped, and with it all of them.
pub(crate) async fn accept(listener: TcpListener, tls: Option<Tls>, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        // Running out of files is temporary: connections close.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let serial = {
            let mut book = shared.book();
            book.connections += 1;
            book.connections
        };
        let shared = shared.clone();
        match tls.clone() {
            Some(tls) => connections.spawn(async move { drop(encrypted(stream, tls, shared, serial).await) }),
            None => connections.spawn(async move { drop(clear(stream, shared, serial).await) }),
        };
    }
}

pub(crate) fn tls(keys: &Keys, pair: &Pair) -> io::Result<Tls> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(keys.ca_certificate()?).map_err(io::Error::other)?;
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone())
        .allow_unauthenticated()
        .build()
        .map_err(io::Error::other)?;
    let builder = || {
        let builder = ServerConfig::builder_with_provider(provider.clone());
        builder.with_safe_default_protocol_versions().map_err(io::Error::other)
    };
    let mut asking = builder()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![pair.certificate_der()?], pair.key_der()?)
        .map_err(io::Error::other)?;
    asking.alpn_protocols = vec![HTTP2.to_vec()];
    let mut plain = builder()?
        .with_no_client_auth()
        .with_single_cert(vec![pair.certificate_der()?], pair.key_der()?)
        .map_err(io::Error::other)?;
    plain.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
    Ok(Tls { asking: Arc::new(asking), plain: Arc::new(plain) })
}

impl Tls {
    /// Clients of Apple speak HTTP/2 and nothing else, unlike browsers and the senders of web push.
    fn config(&self, hello: &ClientHello<'_>) -> Arc<ServerConfig> {
        let mut offers = hello.alpn().into_iter().flatten();
        let is_http2_alone = offers.next() == Some(HTTP2) && offers.next().is_none();
        if is_http2_alone { self.asking.clone() } else { self.plain.clone() }
    }
}

async fn encrypted(stream: TcpStream, tls: Tls, shared: Arc<Shared>, serial: u64) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let handshake = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let config = tls.config(&handshake.client_hello());
    let stream = handshake.into_stream(config).await?;
    let (_, session) = stream.get_ref();
    let is_h2 = session.alpn_protocol() == Some(HTTP2);
    let has_certificate = session.peer_certificates().is_some();
    let client = Client { scheme: "https", has_certificate, serial };
    if is_h2 {
        serve_h2::serve(stream, shared, client).await;
        return Ok(());
    }
    let stream = Rewound::reading(stream).await?;
    if stream.beginning[0] == MCS_VERSION {
        return browsers::serve_google(stream, &shared).await;
    }
    serve_h1::serve(stream, shared, client).await;
    Ok(())
}

async fn clear(stream: TcpStream, shared: Arc<Shared>, serial: u64) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let stream = Rewound::reading(stream).await?;
    let client = Client { scheme: "http", has_certificate: false, serial };
    if stream.beginning == *PREFACE {
        serve_h2::serve(stream, shared, client).await;
    } else {
        serve_h1::serve(stream, shared, client).await;
    }
    Ok(())
}

/// A connection whose first bytes have been read already.
struct Rewound<S> {
    beginning: [u8; N_FIRST],
    n_read: usize,
    stream: S,
}

impl<S: AsyncRead + Unpin> Rewound<S> {
    async fn reading(mut stream: S) -> io::Result<Self> {
        let mut beginning = [0; N_FIRST];
        stream.read_exact(&mut beginning).await?;
        Ok(Self { beginning, n_read: 0, stream })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Rewound<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let n = (N_FIRST - self.n_read).min(buf.remaining());
        if n == 0 {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        buf.put_slice(&self.beginning[self.n_read..self.n_read + n]);
        self.n_read += n;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Rewound<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
