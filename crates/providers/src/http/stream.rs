//! Answers that are read piece by piece: streams that do not end, and bodies that are wanted whole.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;

use super::{Client, SendError, classify, url};

/// The body of an answer, as it arrives.
#[derive(Debug)]
pub struct Streaming(Incoming);

impl Client {
    /// Like [`Client::send`], but answers as soon as the head of the answer is there. Only that is bounded in time.
    pub async fn open(&self, request: Request<Bytes>) -> Result<Response<Streaming>, SendError> {
        url::check_uri(request.uri(), self.policy).map_err(SendError::Refused)?;
        let answer = tokio::time::timeout(self.timeouts.total, self.inner.request(request.map(Full::new))).await;
        let answer = answer.map_err(|_| SendError::Timeout)?.map_err(|error| classify(&error))?;
        Ok(answer.map(Streaming))
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
