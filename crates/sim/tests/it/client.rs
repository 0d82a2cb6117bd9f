//! A plain client: HTTP/2 by the `h2` crate, HTTP/1.1 by hand.

use std::sync::Arc;

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{Ping, PingPong};
use http::{HeaderMap, Method, Request, StatusCode};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use sim::{Protocol, Simulator};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Names and values.
pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// One HTTP/2 connection.
#[derive(Clone)]
pub(crate) struct Connection {
    send: SendRequest<Bytes>,
    ping: Arc<Mutex<PingPong>>,
    root: String,
}

impl Connection {
    pub(crate) async fn tls(simulator: &Simulator) -> Self {
        let root = simulator.url(Protocol::Apns);
        Self::over(handshake(simulator, b"h2", None).await, root).await
    }

    pub(crate) async fn with_certificate(simulator: &Simulator) -> Self {
        let root = simulator.url(Protocol::Apns);
        Self::over(handshake(simulator, b"h2", Some(simulator.apns_certificate())).await, root).await
    }

    pub(crate) async fn plain(simulator: &Simulator) -> Self {
        let root = simulator.plain_url(Protocol::Apns);
        let stream = TcpStream::connect(root.strip_prefix("http://").unwrap()).await.unwrap();
        Self::over(stream, root).await
    }

    async fn over<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S, root: String) -> Self {
        let (send, mut connection) = h2::client::handshake(stream).await.unwrap();
        let ping = Arc::new(Mutex::new(connection.ping_pong().unwrap()));
        tokio::spawn(async move { drop(connection.await) });
        Self { send, ping, root }
    }

    /// How many requests the server allows at the same time.
    pub(crate) fn streams(&self) -> usize {
        self.send.current_max_send_streams()
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        headers: Headers<'_>,
        body: impl Into<Bytes>,
    ) -> Result<Answer, h2::Error> {
        self.request(Method::POST, path, headers, body.into()).await
    }

    /// A body that comes in pieces, each after the server has seen all before it.
    pub(crate) async fn post_slowly(
        &self,
        path: &str,
        headers: Headers<'_>,
        pieces: &[&'static str],
    ) -> Result<Answer, h2::Error> {
        let pieces = pieces.iter().map(|piece| Bytes::from_static(piece.as_bytes())).collect();
        self.exchange(Method::POST, path, headers, pieces, Bytes::new()).await
    }

    pub(crate) async fn request(
        &self,
        method: Method,
        path: &str,
        headers: Headers<'_>,
        body: Bytes,
    ) -> Result<Answer, h2::Error> {
        self.exchange(method, path, headers, Vec::new(), body).await
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        headers: Headers<'_>,
        pieces: Vec<Bytes>,
        body: Bytes,
    ) -> Result<Answer, h2::Error> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.root));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut send = self.send.clone().ready().await?;
        let (answer, mut stream) = send.send_request(request.body(()).unwrap(), false)?;
        for piece in pieces {
            // The server has seen what came before when it answers this.
            self.ping.lock().await.ping(Ping::opaque()).await?;
            stream.send_data(piece, false)?;
        }
        stream.send_data(body, true)?;
        let (head, mut stream) = answer.await?.into_parts();
        let mut body = Vec::new();
        while let Some(chunk) = stream.data().await {
            body.extend_from_slice(&chunk?);
        }
        Ok(Answer { status: head.status, headers: head.headers, body: body.into() })
    }
}

/// One HTTP/1.1 exchange over TLS; `None` when the connection broke instead.
pub(crate) async fn http1(
    simulator: &Simulator,
    method: &str,
    path: &str,
    headers: Headers<'_>,
    body: &[u8],
) -> Option<Answer> {
    let mut stream = handshake(simulator, b"http/1.1", None).await;
    let authority = simulator.url(Protocol::Apns).strip_prefix("https://").unwrap().to_owned();
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n");
    if method != "GET" {
        head += &format!("content-length: {}\r\n", body.len());
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    let mut answer = Vec::new();
    // A missing farewell of TLS is no matter: the length says whether all is there.
    drop(stream.read_to_end(&mut answer).await);
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = str::from_utf8(&answer[..end]).unwrap();
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().unwrap();
    let mut headers = HeaderMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        headers.insert(http::HeaderName::try_from(name).unwrap(), value.trim().parse().unwrap());
    }
    Some(Answer { status, headers, body: Bytes::copy_from_slice(&answer[end + 4..]) })
}

/// A connection over TLS that does not say what will be spoken on it.
pub(crate) async fn raw_tls(simulator: &Simulator) -> TlsStream<TcpStream> {
    handshake(simulator, b"", None).await
}

async fn handshake(simulator: &Simulator, alpn: &[u8], identity: Option<(&str, &str)>) -> TlsStream<TcpStream> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(simulator.ca_pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap()).unwrap()
        }
    };
    config.alpn_protocols = if alpn.is_empty() { Vec::new() } else { vec![alpn.to_vec()] };
    let root = simulator.url(Protocol::Apns);
    let address = root.strip_prefix("https://").unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}
