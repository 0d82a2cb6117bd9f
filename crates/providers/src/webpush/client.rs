//! Sending to browsers: each message encrypted for its browser and posted to the push service the browser named.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use model::time::UtcMillis;

use super::encryption::{BrowserKeys, CannotEncrypt, Encryption};
use super::outcome::outcome;
use super::service::{Service, Services};
use super::vapid::Vapid;
use super::{WebPush, WebPushCredentials};
use crate::http as web;
use crate::http::{Refusal, SendError};
use crate::network::Network;
use crate::outcome::Outcome;
use crate::recipient::Recipient;
use crate::room::Room;
use crate::wire::WireError;

/// Messages under way: at first, and at most.
const ROOM: (usize, usize) = (64, 1000);

/// The way to the browsers of one app; clones share connections and tokens.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    http: web::Client,
    vapid: Vapid,
    encryption: Encryption,
    services: Services,
    room: Room,
}

impl Client {
    pub fn new(credentials: &WebPushCredentials, network: &Network) -> Self {
        let endpoint = credentials.endpoint.as_ref();
        Self(Arc::new(Inner {
            http: network.http_for(endpoint),
            vapid: Vapid::new(credentials),
            encryption: Encryption::new(),
            services: Services::new(network, endpoint),
            room: Room::new(ROOM.0, ROOM.1),
        }))
    }

    pub async fn send(&self, push: &WebPush, recipient: &Recipient<'_>, now: UtcMillis) -> Outcome {
        match self.try_send(push, recipient, now).await {
            Ok(outcome) | Err(outcome) => outcome,
        }
    }

    pub fn room(&self) -> usize {
        self.0.room.allowed()
    }

    /// A key pair is proved by signing; push services show a wrong one only by refusing subscriptions made with another.
    pub fn check(&self, now: UtcMillis) -> Result<(), String> {
        self.0.vapid.token("https://push.example", now).map(|_| ())
    }

    /// Ends early with the first obstacle to a request.
    async fn try_send(&self, push: &WebPush, recipient: &Recipient<'_>, now: UtcMillis) -> Result<Outcome, Outcome> {
        let inner = &*self.0;
        let rejected = |reason: String| Outcome::Rejected { reason };
        let uri: Uri = recipient
            .address
            .parse()
            .map_err(|_| rejected("The address of the browser's subscription is not a URL.".to_owned()))?;
        let service = inner.services.of(&uri).map_err(rejected)?;
        if let Some(rest) = service.rest(now) {
            let reason = format!("The push service at {} asked to be left alone for a while.", service.origin);
            return Err(Outcome::Retry { after: Some(rest), reason, everybody: false });
        }
        let sign = async || inner.vapid.token(&service.origin, now).map_err(|reason| Outcome::Unauthorized { reason });
        let token = service.token.get(now, sign).await?;
        let body = inner.encrypted(push, recipient)?;
        let outcome = inner.exchange(&service, &head(push, uri, token), body.into(), now).await;
        inner.room.learn(&outcome);
        Ok(outcome)
    }
}

impl Inner {
    fn encrypted(&self, push: &WebPush, recipient: &Recipient<'_>) -> Result<Vec<u8>, Outcome> {
        let Some(subscription) = recipient.web_keys else {
            let reason = "The browser registered without the keys of its subscription, so that nothing can be encrypted \
                          for it.";
            return Err(Outcome::Rejected { reason: reason.to_owned() });
        };
        let encrypted =
            BrowserKeys::new(subscription).and_then(|keys| self.encryption.encrypt(&push.message(recipient), &keys));
        encrypted.map_err(|why| match why {
            CannotEncrypt::Keys | CannotEncrypt::TooLong => Outcome::Rejected { reason: why.to_string() },
            CannotEncrypt::NoRandomness => Outcome::Retry { after: None, reason: why.to_string(), everybody: true },
        })
    }

    async fn exchange(&self, service: &Service, head: &Request<()>, body: Bytes, now: UtcMillis) -> Outcome {
        let answer = match self.answer(service, head, body).await {
            Ok(answer) => answer,
            Err(outcome) => return outcome,
        };
        let outcome = outcome(&answer, &service.origin, now);
        // Only this status is about the service as a whole; others may be about one browser.
        if let (StatusCode::SERVICE_UNAVAILABLE, Outcome::Retry { after: Some(after), .. }) =
            (answer.status(), &outcome)
        {
            service.rest_until(now.plus(*after));
        }
        outcome
    }

    /// The address came from a browser, so any fault of it or its service is not ours and no reason to let other browsers wait.
    async fn answer(&self, service: &Service, head: &Request<()>, body: Bytes) -> Result<Response<Bytes>, Outcome> {
        let rejected = |refusal: &Refusal| Outcome::Rejected { reason: refusal.to_string() };
        let retry = |error: &dyn Error| Outcome::Retry { after: None, reason: error.to_string(), everybody: false };
        if let Some(wire) = service.wire() {
            match wire.send(|| head.clone(), body.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(WireError::NoHttp2) => service.speaks_http1_only(),
                Err(WireError::Refused(refusal)) => return Err(rejected(&refusal)),
                Err(
                    error @ (WireError::Unreachable { .. }
                    | WireError::Timeout
                    | WireError::Lost(_)
                    | WireError::TooMuch
                    | WireError::Certificate(_)),
                ) => return Err(retry(&error)),
            }
        }
        self.http.send(head.clone().map(|()| body)).await.map_err(|error| match error {
            SendError::Refused(refusal) => rejected(&refusal),
            SendError::Timeout | SendError::Connection(_) => retry(&error),
        })
    }
}

fn head(push: &WebPush, uri: Uri, token: HeaderValue) -> Request<()> {
    let mut request = Request::new(());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    *headers = push.headers().clone();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("aes128gcm"));
    headers.insert(AUTHORIZATION, token);
    request
}
