//! Listening: connections in clear and over TLS, HTTP/1.1 and HTTP/2.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::keys::Keys;
use crate::shared::Shared;
use crate::{serve_h1, serve_h2};

/// The client, as far as the connection tells.
pub(crate) struct Client {
    pub(crate) scheme: &'static str,
    pub(crate) has_certificate: bool,
    /// Connections are numbered from 1.
    pub(crate) serial: u64,
}

/// How every HTTP/2 connection in clear begins, as far as needed to tell it from a method of HTTP/1.1.
const PREFACE: &[u8] = b"PRI ";

/// Serves connections until it is dropped, and with it all of them.
pub(crate) async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, shared: Arc<Shared>) {
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

pub(crate) fn tls(keys: &Keys, names: &[String]) -> io::Result<TlsAcceptor> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(keys.ca_certificate()?).map_err(io::Error::other)?;
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone())
        .allow_unauthenticated()
        .build()
        .map_err(io::Error::other)?;
    let pair = keys.server(names)?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![pair.certificate_der()?], pair.key_der()?)
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn encrypted(stream: TcpStream, tls: TlsAcceptor, shared: Arc<Shared>, serial: u64) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let stream = tls.accept(stream).await?;
    let (_, session) = stream.get_ref();
    let is_h2 = session.alpn_protocol() == Some(b"h2");
    let has_certificate = session.peer_certificates().is_some();
    let client = Client { scheme: "https", has_certificate, serial };
    if is_h2 {
        serve_h2::serve(stream, shared, client).await;
    } else {
        serve_h1::serve(stream, shared, client).await;
    }
    Ok(())
}

async fn clear(mut stream: TcpStream, shared: Arc<Shared>, serial: u64) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut beginning = [0; PREFACE.len()];
    stream.read_exact(&mut beginning).await?;
    let client = Client { scheme: "http", has_certificate: false, serial };
    let is_h2 = beginning == *PREFACE;
    let stream = Rewound { beginning, n_read: 0, stream };
    if is_h2 {
        serve_h2::serve(stream, shared, client).await;
    } else {
        serve_h1::serve(stream, shared, client).await;
    }
    Ok(())
}

/// A connection whose first bytes have been read already.
struct Rewound {
    beginning: [u8; PREFACE.len()],
    n_read: usize,
    stream: TcpStream,
}

impl AsyncRead for Rewound {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let n = (PREFACE.len() - self.n_read).min(buf.remaining());
        if n == 0 {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        buf.put_slice(&self.beginning[self.n_read..self.n_read + n]);
        self.n_read += n;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Rewound {
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
