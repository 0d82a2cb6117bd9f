//! One connection to a webhook: requests in HTTP/1.1, one after the other.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::http::{MOST_ANSWER_BYTES, SendError, classify};

/// Encrypted or not.
pub(super) type Stream = hyper_rustls::MaybeHttpsStream<TokioIo<TcpStream>>;

/// The connection is driven by the task that waits for an answer on it, so that a request and its answer stay in one task. An
/// unused connection is not driven at all: that the webhook has closed it shows when it is to be used again.
pub(super) struct Line {
    sender: http1::SendRequest<Full<Bytes>>,
    connection: http1::Connection<Stream, Full<Bytes>>,
    is_ended: bool,
}

/// How much of an answer is looked at.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
}

pub(super) enum Failure {
    /// Nothing of the request was sent. Here it is again.
    Unsent(Box<Request<Full<Bytes>>>),
    /// The webhook may have got it.
    Lost(SendError),
}

impl Line {
    pub(super) async fn open(stream: Stream) -> Result<Self, SendError> {
        let (sender, connection) = http1::handshake(stream).await.map_err(|error| classify(&error))?;
        Ok(Self { sender, connection, is_ended: false })
    }

    pub(super) async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Failure> {
        let Self { sender, connection, is_ended } = self;
        if driven(connection, is_ended, sender.ready()).await.is_err() {
            return Err(Failure::Unsent(Box::new(request)));
        }
        let answer = driven(connection, is_ended, sender.try_send_request(request)).await.map_err(|mut failed| {
            match failed.take_message() {
                Some(request) => Failure::Unsent(Box::new(request)),
                None => Failure::Lost(classify(failed.error())),
            }
        });
        let (head, body) = answer?.into_parts();
        if !body.is_end_stream() {
            let is_whole = driven(connection, is_ended, read(body)).await.map_err(Failure::Lost)?;
            *is_ended |= !is_whole;
        }
        Ok(Answer { status: head.status, headers: head.headers })
    }

    /// Whether it can take another request.
    pub(super) fn is_open(&self) -> bool {
        !self.is_ended && !self.sender.is_closed()
    }
}

/// Drives a connection until something that depends on it is there.
async fn driven<T>(
    connection: &mut http1::Connection<Stream, Full<Bytes>>,
    is_ended: &mut bool,
    awaited: impl Future<Output = T>,
) -> T {
    let mut awaited = pin!(awaited);
    poll_fn(|cx| {
        // The reason is reported to the waiting request.
        *is_ended = *is_ended || Pin::new(&mut *connection).poll(cx).is_ready();
        awaited.as_mut().poll(cx)
    })
    .await
}

/// Reads a body, whose content is ignored, and returns whether that was all of it.
async fn read(mut body: Incoming) -> Result<bool, SendError> {
    let mut n_bytes = 0;
    while let Some(frame) = body.frame().await {
        n_bytes += frame.map_err(|error| classify(&error))?.data_ref().map_or(0, Bytes::len);
        if n_bytes > MOST_ANSWER_BYTES {
            return Ok(false);
        }
    }
    Ok(true)
}
