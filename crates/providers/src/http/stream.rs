//! Answers that are read piece by piece: streams that do not end, and bodies that are wanted whole.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Either};
use hyper::body::Incoming;

use super::{Client, Outgoing, SendError, classify, url, whole};

/// The body of an answer, as it arrives.
#[derive(Debug)]
pub struct Streaming(Incoming);

impl Client {
    /// Like [`Client::send`], but answers as soon as the head of the answer is there. Only that is bounded in time.
    pub async fn open(&self, request: Request<Bytes>) -> Result<Response<Streaming>, SendError> {
        url::check_uri(request.uri(), self.policy).map_err(SendError::Refused)?;
        let answer = tokio::time::timeout(self.timeouts.total, self.inner.request(request.map(whole))).await;
        let answer = answer.map_err(|_| SendError::Timeout)?.map_err(|error| classify(&error))?;
        Ok(answer.map(Streaming))
    }

    /// Like [`Client::open`], for a body of any size. Bounded is the time in which nothing of it is sent, and the time from its end
    /// to the head of the answer.
    pub async fn upload(&self, request: Request<Outgoing>) -> Result<Response<Streaming>, SendError> {
        url::check_uri(request.uri(), self.policy).map_err(SendError::Refused)?;
        let sent = request.body().sent();
        let mut answer = self.inner.request(request.map(Either::Right));
        loop {
            let n_before = sent.get();
            match tokio::time::timeout(self.timeouts.total, &mut answer).await {
                Ok(answer) => return Ok(answer.map_err(|error| classify(&error))?.map(Streaming)),
                Err(_) if sent.get() > n_before => {}
                Err(_) => return Err(SendError::Timeout),
            }
        }
    }
}

impl Streaming {
    /// The next piece, or `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, SendError> {
        while let Some(frame) = self.0.frame().await {
            let frame = frame.map_err(|error| classify(&error))?;
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}
