//! Clients that only post ready-made bodies to the receiver: with the HTTP library that the service uses, and on bare sockets. All
//! clients of one kind run on one thread.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue, Method, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::Work;
use crate::http::{Connection, request};
use crate::usage::thread_cpu;

/// As many as the service uses.
const CONNECTIONS: usize = 32;

/// As the library is meant to be used: a task for every connection, a request from ready parts for every event.
pub(super) fn with_library(address: SocketAddr, n_events: u32, body: &Bytes) -> Result<Work> {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_str(&address.to_string())?);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=UTF-8"));
    headers.insert(AUTHORIZATION, HeaderValue::from_static("Basic dTpw"));
    measured(n_events, async move |n_calls: usize| {
        let stream = TcpStream::connect(address).await.context("the receiver does not answer")?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        for _ in 0..n_calls {
            post(&mut sender, &headers, body.clone()).await?;
        }
        Ok(())
    })
}

async fn post(sender: &mut SendRequest<Full<Bytes>>, headers: &HeaderMap, body: Bytes) -> Result<()> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = Uri::from_static("/events");
    *request.headers_mut() = headers.clone();
    sender.ready().await?;
    let answer = sender.send_request(request).await?;
    ensure!(answer.status() == 200, "The receiver refuses an event.");
    answer.into_body().collect().await?;
    Ok(())
}

/// The least that a request can cost: ready-made bytes, and a look at the status of the answer.
pub(super) fn on_sockets(address: SocketAddr, n_events: u32, body: &Bytes) -> Result<Work> {
    let request = request("POST", "/events", "Basic dTpw", std::str::from_utf8(body)?);
    measured(n_events, async move |n_calls: usize| {
        let mut connection = Connection::open(address).await?;
        for _ in 0..n_calls {
            ensure!(connection.call(&request).await?.status == 200, "The receiver refuses an event.");
        }
        Ok(())
    })
}

/// Lets as many clients as there are connections share the work, on a thread of their own.
fn measured(n_events: u32, client: impl AsyncFn(usize) -> Result<()> + Send) -> Result<Work> {
    let run = move || -> Result<Work> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (began, cpu) = (Instant::now(), thread_cpu()?);
        let shares = (0..CONNECTIONS).map(|i| client((n_events as usize + CONNECTIONS - 1 - i) / CONNECTIONS));
        runtime.block_on(futures_util::future::try_join_all(shares))?;
        Ok(Work { n_events, elapsed: began.elapsed(), cpu: thread_cpu()? - cpu })
    };
    std::thread::scope(|scope| scope.spawn(run).join()).map_err(|_| anyhow::anyhow!("a client has panicked"))?
}
