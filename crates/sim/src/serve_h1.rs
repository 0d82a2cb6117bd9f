//! One HTTP/1.1 connection, which may become the WebSocket of a browser.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use http::header::{CONNECTION, HOST};
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;

use crate::answer::Action;
use crate::browsers;
use crate::call::{Call, ShownCredentials};
use crate::serve::Client;
use crate::shared::Shared;

const MOST_BODY_BYTES: usize = 16 * 1024 * 1024;

pub(crate) async fn serve<S>(stream: S, shared: Arc<Shared>, client: Client)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shown = Mutex::new(ShownCredentials { has_certificate: client.has_certificate, ..ShownCredentials::default() });
    let n_requests = AtomicU32::new(0);
    let upgrade = Mutex::new(None);
    let service = service_fn(async |mut request: Request<Incoming>| {
        if let Some(response) = browsers::accept_mozilla(request.uri().path(), request.headers()) {
            *upgrade.lock().await = Some(hyper::upgrade::on(&mut request));
            return Ok(response.map(Full::new));
        }
        let n_requests = n_requests.fetch_add(1, Ordering::Relaxed) + 1;
        let mut response = answer(&shared, &shown, &client, request).await?;
        let goaway_every = shared.faults().goaway_every;
        if goaway_every > 0 && n_requests >= goaway_every {
            shared.book().goaways += 1;
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Ok::<_, io::Error>(response)
    });
    // A client that goes away early is none of the simulator's business.
    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await);
    if let Some(upgrade) = upgrade.into_inner()
        && let Ok(upgraded) = upgrade.await
    {
        // Nor is a browser that goes away.
        drop(browsers::serve_mozilla(TokioIo::new(upgraded), &shared).await);
    }
}

/// An error breaks the connection: there is no other way to leave one request without an answer.
async fn answer(
    shared: &Shared,
    shown: &Mutex<ShownCredentials>,
    client: &Client,
    request: Request<Incoming>,
) -> io::Result<Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MOST_BODY_BYTES).collect().await.map_err(io::Error::other)?.to_bytes();
    let call = Call {
        method: &head.method,
        path: head.uri.path(),
        query: head.uri.query().unwrap_or_default(),
        headers: &head.headers,
        body: &body,
        scheme: client.scheme,
        authority: head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default(),
        is_h2: false,
    };
    let verdict = shared.judge(&mut *shown.lock().await, &call);
    if !verdict.delay.is_zero() {
        tokio::time::sleep(verdict.delay).await;
    }
    match verdict.action {
        Action::Answer(response) => Ok(response.map(Full::new)),
        Action::Silence => std::future::pending().await,
        Action::Reset { .. } | Action::Cut => Err(io::ErrorKind::ConnectionReset.into()),
    }
}
