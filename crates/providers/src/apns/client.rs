//! The way to Apple with one set of credentials.

use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::uri::{Parts, PathAndQuery};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, Version};
use model::ids::DeliveryId;
use model::time::UtcMillis;

use super::body::{ID, TOPIC};
use super::outcome::judge;
use super::token::ProviderToken;
use super::{ApnsAuth, ApnsCredentials, ApnsPush, Environment};
use crate::network::{Network, WireTo};
use crate::outcome::{AddressFault, Outcome, Verdict};
use crate::recipient::Recipient;
use crate::request::path_segment;
use crate::room::Room;
use crate::wire::{Origin, Wire};

const CONNECTIONS: usize = 9;
const FIRST_ROOM: usize = 100;
const MOST_ROOM: usize = 4000;

/// No device has a token of this form.
const NO_DEVICE: &str = "none";

/// Cheap to clone; clones share connections and tokens.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    wire: Wire,
    /// The prefix of the path at a custom endpoint.
    prefix: String,
    topic: HeaderValue,
    /// For Live Activities.
    live_topic: HeaderValue,
    /// `None`: the certificate of the connection says who we are.
    token: Option<ProviderToken>,
    /// A certificate that cannot be used any more, in a sentence.
    damaged: Option<String>,
    room: Room,
}

impl Client {
    pub(crate) fn new(credentials: &ApnsCredentials, network: &Network) -> Self {
        let origin = match (&credentials.endpoint, credentials.environment) {
            (Some(endpoint), _) => Origin::of(&endpoint.url),
            (None, Environment::Production) => Origin::https("api.push.apple.com"),
            (None, Environment::Sandbox) => Origin::https("api.sandbox.push.apple.com"),
        };
        let (certificate, damaged) = match credentials.auth.client_certificate() {
            None => (None, None),
            Some(Ok(certificate)) => (Some(certificate), None),
            Some(Err(reason)) => (None, Some(reason)),
        };
        let token = match &credentials.auth {
            ApnsAuth::Token { team_id, key_id, key: _ } => {
                credentials.auth.signing_key().map(|key| ProviderToken::new(team_id.clone(), key_id.clone(), key))
            }
            ApnsAuth::Certificate { .. } => None,
        };
        let ca = credentials.endpoint.as_ref().and_then(|endpoint| endpoint.ca.as_deref());
        // With tokens Apple permits one request until it has believed the first.
        let one_stream_first = token.is_some();
        let wire = network.wire(WireTo { origin, ca, certificate, connections: CONNECTIONS, one_stream_first });
        let prefix = credentials.endpoint.as_ref().map(|endpoint| endpoint.url.uri().path().trim_end_matches('/'));
        Self(Arc::new(Inner {
            wire,
            prefix: prefix.unwrap_or_default().to_owned(),
            topic: topic(&credentials.topic),
            live_topic: topic(&format!("{}.push-type.liveactivity", credentials.topic)),
            token,
            damaged,
            room: Room::new(FIRST_ROOM, MOST_ROOM),
        }))
    }

    pub(crate) fn room(&self) -> usize {
        self.0.room.allowed().min(self.0.wire.room())
    }

    pub(crate) async fn send(&self, push: &ApnsPush, recipient: &Recipient<'_>, now: UtcMillis) -> Outcome {
        if push.is_live_activity() {
            return self.send_live_activity(push, recipient, now).await.of_live_activity();
        }
        self.send_with_topic(&self.0.topic, push, recipient, now).await
    }

    async fn send_live_activity(&self, push: &ApnsPush, recipient: &Recipient<'_>, now: UtcMillis) -> Outcome {
        if self.0.token.is_none() {
            return Outcome::Rejected { reason: NEEDS_KEY.to_owned() };
        }
        self.send_with_topic(&self.0.live_topic, push, recipient, now).await
    }

    async fn send_with_topic(
        &self,
        topic: &HeaderValue,
        push: &ApnsPush,
        recipient: &Recipient<'_>,
        now: UtcMillis,
    ) -> Outcome {
        let inner = &*self.0;
        let Some(path) = inner.path(recipient.address) else {
            return Outcome::Refused {
                reason: "The address of the device is not a token.".to_owned(),
                fault: AddressFault::Unknown,
            };
        };
        let headers = || push.headers_for(recipient);
        let outcome = inner.deliver(path, (headers, topic), push.body_for(recipient), now).await;
        inner.room.learn(&outcome);
        outcome
    }

    /// Apple checks who we are before it looks at the device, and there is no such device.
    pub(crate) async fn check(&self, now: UtcMillis) -> Result<(), String> {
        let inner = &*self.0;
        let id =
            HeaderValue::from_str(&DeliveryId::random().to_string()).expect("a UUID is made of digits and hyphens");
        let headers = || {
            let fixed = [("apns-push-type", "background"), ("apns-priority", "5"), ("apns-expiration", "0")];
            let fixed = fixed.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            HeaderMap::from_iter(fixed.into_iter().chain([(ID, id.clone())]))
        };
        let path = inner.path(NO_DEVICE).ok_or("The path of the endpoint is not usable.")?;
        let body = Bytes::from_static(br#"{"aps":{"content-available":1}}"#);
        match inner.deliver(path, (headers, &inner.topic), body, now).await {
            Outcome::Delivered | Outcome::Moved { .. } | Outcome::Gone { .. } => Ok(()),
            Outcome::Refused { fault: AddressFault::Unknown, .. } => Ok(()),
            Outcome::Refused { reason, fault: AddressFault::Foreign }
            | Outcome::Retry { reason, .. }
            | Outcome::ActivityEnded { reason }
            | Outcome::Rejected { reason }
            | Outcome::Unauthorized { reason } => Err(reason),
        }
    }
}

impl Inner {
    /// `headers` makes those of the message, whenever it is sent; the topic and our authorization are added here.
    async fn deliver(
        &self,
        path: PathAndQuery,
        (headers, topic): (impl Fn() -> HeaderMap, &HeaderValue),
        body: Bytes,
        now: UtcMillis,
    ) -> Outcome {
        if let Some(reason) = &self.damaged {
            return Outcome::Unauthorized { reason: reason.clone() };
        }
        let mut has_renewed = false;
        loop {
            let authorization = match &self.token {
                None => None,
                Some(token) => match token.header(now).await {
                    Ok(header) => Some(header),
                    Err(outcome) => return outcome,
                },
            };
            let request = || self.request(path.clone(), (headers(), topic), authorization.as_ref());
            let answer = match self.wire.send(request, body.clone()).await {
                Ok(answer) => answer,
                Err(error) => return error.outcome(),
            };
            let (verdict, outcome) = judge(&answer, now);
            let renews = match (&self.token, &authorization) {
                (Some(token), Some(refused)) => {
                    verdict == Verdict::Renew && !has_renewed && token.expired(refused, now)
                }
                (None, _) | (_, None) => false,
            };
            if !renews {
                return outcome;
            }
            has_renewed = true;
        }
    }

    fn request(
        &self,
        path: PathAndQuery,
        (mut headers, topic): (HeaderMap, &HeaderValue),
        authorization: Option<&HeaderValue>,
    ) -> Request<()> {
        headers.insert(TOPIC, topic.clone());
        match authorization {
            Some(authorization) => headers.insert(AUTHORIZATION, authorization.clone()),
            None => headers.remove(AUTHORIZATION),
        };
        let mut request = Request::new(());
        *request.method_mut() = Method::POST;
        *request.version_mut() = Version::HTTP_2;
        *request.uri_mut() = self.uri(path);
        *request.headers_mut() = headers;
        request
    }

    fn path(&self, address: &str) -> Option<PathAndQuery> {
        let mut path = String::with_capacity(self.prefix.len() + PATH.len() + address.len());
        path.push_str(&self.prefix);
        path.push_str(PATH);
        match address.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            true => path.push_str(address),
            false => path.push_str(&path_segment(address)),
        }
        PathAndQuery::from_maybe_shared(Bytes::from(path)).ok()
    }

    fn uri(&self, path: PathAndQuery) -> Uri {
        let origin = self.wire.origin();
        let mut parts = Parts::default();
        parts.scheme = Some(origin.scheme.clone());
        parts.authority = Some(origin.authority.clone());
        parts.path_and_query = Some(path);
        Uri::from_parts(parts).expect("an origin and a path make a URL")
    }
}

/// Credentials are checked when they are set.
fn topic(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

const NEEDS_KEY: &str =
    "Apple takes changes of Live Activities with a signing key (.p8) only, and the app has a certificate.";
const PATH: &str = "/3/device/";
