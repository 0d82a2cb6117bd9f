//! The same requests from a loop on the `h2` crate that does nothing else: the least that sending costs. For browsers it encrypts.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use h2::client::SendRequest;
use http::{HeaderValue, Method, Request, Version};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sim::{Protocol, device_address};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use uuid::Uuid;

use super::Work;
use super::encrypting::Browser;
use super::provider::Provider;
use crate::usage::thread_cpu;

/// As many as the service uses at most, and enough streams to keep the server busy.
const CONNECTIONS: usize = 4;
const STREAMS: usize = 250;

pub(super) async fn run(provider: &Provider, protocol: Protocol, n_messages: u32) -> Result<Work> {
    let requests = Requests::like(provider, protocol)?;
    let mut senders = VecDeque::new();
    for _ in 0..CONNECTIONS {
        let mut sender = connect(provider, &requests.authority).await?;
        // Apple permits one request at a time until it has accepted the first.
        exchange(&mut sender, &requests, 0).await?;
        senders.push_back(sender);
    }
    let (began, cpu) = (Instant::now(), thread_cpu()?);
    let mut flying = FuturesUnordered::new();
    let mut next = 1;
    let mut n_answers = 0;
    while n_answers < n_messages {
        while next <= n_messages && flying.len() < CONNECTIONS * STREAMS {
            let mut sender = senders[next as usize % CONNECTIONS].clone();
            let requests = &requests;
            let n = next;
            flying.push(async move { exchange(&mut sender, requests, n).await });
            next += 1;
        }
        flying.next().await.context("nothing is under way")??;
        n_answers += 1;
    }
    // The connections run on this thread too.
    Ok(Work { n_messages, elapsed: began.elapsed(), cpu: thread_cpu()? - cpu })
}

async fn exchange(sender: &mut SendRequest<Bytes>, requests: &Requests, n: u32) -> Result<()> {
    let (answer, mut stream) = sender.send_request(requests.head(n)?, false)?;
    stream.send_data(requests.body(n)?, true)?;
    let answer = answer.await?;
    ensure!(answer.status().is_success(), "The simulator answered {}.", answer.status());
    let mut body = answer.into_body();
    while let Some(piece) = body.data().await {
        let n_bytes = piece?.len();
        body.flow_control().release_capacity(n_bytes)?;
    }
    Ok(())
}

/// Requests like the first one of the service.
struct Requests {
    protocol: Protocol,
    root: String,
    authority: String,
    sample: Request<()>,
    body: Bytes,
    /// The range of the device's address in the body, if it is there.
    address: Option<Range<usize>>,
    /// For whom bodies are encrypted, if they are.
    browser: Option<Browser>,
}

impl Requests {
    fn like(provider: &Provider, protocol: Protocol) -> Result<Self> {
        let specimen = provider.sim.specimen(protocol).context("the service has sent nothing")?;
        let root = provider.sim.url(protocol);
        let authority = root.strip_prefix("https://").context("the simulator has no address")?.to_owned();
        let mut sample = Request::new(());
        *sample.method_mut() = Method::POST;
        *sample.version_mut() = Version::HTTP_2;
        *sample.uri_mut() = format!("{root}{}", specimen.path).parse()?;
        *sample.headers_mut() = specimen.headers.clone();
        let first = device_address(protocol, 0, &root);
        let start = specimen.body.windows(first.len()).position(|bytes| bytes == first.as_bytes());
        let address = start.map(|start| start..start + first.len());
        let browser = (protocol == Protocol::WebPush).then(Browser::new).transpose()?;
        Ok(Self { protocol, root, authority, sample, body: specimen.body.clone(), address, browser })
    }

    fn body(&self, n: u32) -> Result<Bytes> {
        if let Some(browser) = &self.browser {
            return browser.message(self.body.len());
        }
        let Some(place) = &self.address else { return Ok(self.body.clone()) };
        let address = device_address(self.protocol, u64::from(n), &self.root);
        Ok([&self.body[..place.start], address.as_bytes(), &self.body[place.end..]].concat().into())
    }

    fn head(&self, n: u32) -> Result<Request<()>> {
        let mut head = self.sample.clone();
        let address = device_address(self.protocol, u64::from(n), &self.root);
        match self.protocol {
            Protocol::Apns => {
                *head.uri_mut() = format!("{}/3/device/{address}", self.root).parse()?;
                let id = Uuid::from_u128(u128::from(n) + 1).hyphenated().to_string();
                head.headers_mut().insert("apns-id", HeaderValue::from_str(&id)?);
            }
            Protocol::WebPush => *head.uri_mut() = address.parse()?,
            Protocol::Fcm | Protocol::Adm | Protocol::Wns | Protocol::UnifiedPush | Protocol::Open => {}
        }
        Ok(head)
    }
}

async fn connect(provider: &Provider, authority: &str) -> Result<SendRequest<Bytes>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(provider.sim.ca_pem().as_bytes())?)?;
    let mut tls = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let tcp = TcpStream::connect(authority).await?;
    tcp.set_nodelay(true)?;
    let (host, _) = authority.rsplit_once(':').context("the simulator has no port")?;
    let stream = TlsConnector::from(Arc::new(tls)).connect(ServerName::try_from(host.to_owned())?, tcp).await?;
    let (sender, connection) = h2::client::handshake(stream).await?;
    tokio::spawn(connection);
    Ok(sender.ready().await?)
}
