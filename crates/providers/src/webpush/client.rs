//! Sending to browsers, and to phones by UnifiedPush: each message encrypted for its device and posted to the push service that the
//! device named.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use model::time::UtcMillis;

use super::encryption::{BrowserKeys, CannotEncrypt, Encryption};
use super::outcome::outcome;
use super::service::{Service, Services};
use super::vapid::Vapid;
use super::{PushHosts, WebPush, WebPushCredentials};
use crate::http as web;
use crate::http::{Refusal, SendError};
use crate::network::Network;
use crate::outcome::{Contact, Outcome};
use crate::recipient::Recipient;
use crate::room::Room;
use crate::wire::WireError;

/// Messages under way to a known service: at first, and at most.
const ROOM: (usize, usize) = (64, 1000);
/// The same for all services together that nobody vouches for, and how long each of them may take.
const ROOM_OF_OTHERS: (usize, usize) = (8, 32);
const TIME_OF_OTHERS: Duration = Duration::from_secs(5);
/// As long as it has never answered.
const TIME_OF_STRANGERS: Duration = Duration::from_secs(2);

/// The way to the browsers of one app; clones share connections and tokens.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    http: web::Client,
    vapid: Vapid,
    encryption: Encryption,
    services: Services,
    /// By lane, so that a slow service takes no room from others.
    rooms: Vec<Room>,
}

impl Client {
    /// For subscriptions at some hosts. The endpoint of the credentials, if they have one, takes the place of all of them.
    pub fn new(credentials: &WebPushCredentials, network: &Network, hosts: PushHosts) -> Self {
        let endpoint = credentials.endpoint.as_ref();
        let services = Services::new(network, hosts, endpoint);
        let others = services.lane_of_others();
        let room = |lane| if lane == others { ROOM_OF_OTHERS } else { ROOM };
        let rooms = (0..services.n_lanes()).map(|lane| Room::new(room(lane).0, room(lane).1)).collect();
        Self(Arc::new(Inner {
            http: network.http_for(endpoint),
            vapid: Vapid::new(credentials),
            encryption: Encryption::new(),
            services,
            rooms,
        }))
    }

    pub async fn send(&self, push: &WebPush, recipient: &Recipient<'_>, now: UtcMillis) -> Outcome {
        match self.try_send(push, recipient, now).await {
            Ok(outcome) | Err(outcome) => outcome,
        }
    }

    pub fn room(&self, lane: usize) -> usize {
        self.0.rooms.get(lane).map_or(1, Room::allowed)
    }

    pub fn n_lanes(&self) -> usize {
        self.0.rooms.len()
    }

    /// The lane of a subscription. One that cannot be read is refused in the lane of others.
    pub fn lane(&self, address: &str) -> usize {
        let services = &self.0.services;
        address.parse().map_or_else(|_| services.lane_of_others(), |url| services.lane(&url))
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
            .map_err(|_| rejected("The address of the subscription is not a URL.".to_owned()))?;
        let service = inner.services.of(&uri).map_err(rejected)?;
        if let Some(rest) = inner.services.rest(&service, now) {
            let reason = format!("The push service at {} is left alone for a while.", service.origin);
            let contact = match service.lane == inner.services.lane_of_others() && service.is_heard() {
                // The answer that asked for the rest counted as nothing either.
                true => Contact::Unclear,
                false => inner.without_contact(recipient),
            };
            return Err(Outcome::Retry { after: Some(rest), reason, everybody: false, contact });
        }
        let sign = async || inner.vapid.token(&service.origin, now).map_err(|reason| Outcome::Unauthorized { reason });
        let token = service.token.get(now, sign).await?;
        let body = inner.encrypted(push, recipient)?;
        let head = head(push, inner.services.destination(uri), token);
        let outcome = inner.exchange(&service, &head, body.into(), now).await;
        if let Some(room) = inner.rooms.get(service.lane) {
            room.learn(&outcome);
        }
        let outcome = match outcome {
            Outcome::Delivered if recipient.is_proven => {
                service.served();
                Outcome::Delivered
            }
            Outcome::Refused { reason, fault } if recipient.is_proven => match service.suspect(now) {
                Some(rest) => Outcome::Retry { after: Some(rest), reason, everybody: false, contact: Contact::Made },
                None => Outcome::Refused { reason, fault },
            },
            outcome => outcome,
        };
        Ok(match outcome {
            Outcome::Retry { after, reason, everybody, contact } => {
                let contact = match contact {
                    Contact::NotMade => inner.without_contact(recipient),
                    // It speaks for no other service, least of all where it can be made up.
                    Contact::Made if service.lane == inner.services.lane_of_others() => Contact::Unclear,
                    Contact::Made | Contact::Unclear => contact,
                };
                Outcome::Retry { after, reason, everybody, contact }
            }
            outcome => outcome,
        })
    }
}

impl Inner {
    fn encrypted(&self, push: &WebPush, recipient: &Recipient<'_>) -> Result<Vec<u8>, Outcome> {
        let Some(subscription) = recipient.web_keys else {
            let reason = "The device registered without the keys of its subscription, so that nothing can be encrypted \
                          for it.";
            return Err(Outcome::Rejected { reason: reason.to_owned() });
        };
        let encrypted =
            BrowserKeys::new(subscription).and_then(|keys| self.encryption.encrypt(&push.message(recipient), &keys));
        encrypted.map_err(|why| match why {
            CannotEncrypt::Keys | CannotEncrypt::TooLong => Outcome::Rejected { reason: why.to_string() },
            CannotEncrypt::NoRandomness => {
                let reason = why.to_string();
                Outcome::Retry { after: None, reason, everybody: true, contact: Contact::NotMade }
            }
        })
    }

    /// What it means that there is no connection. Devices cannot make up a host that is known by its name, or has taken a message.
    fn without_contact(&self, recipient: &Recipient<'_>) -> Contact {
        let is_named = || recipient.address.parse().is_ok_and(|url: Uri| self.services.are_named(&url));
        if recipient.is_proven || is_named() { Contact::NotMade } else { Contact::Unclear }
    }

    async fn exchange(&self, service: &Service, head: &Request<()>, body: Bytes, now: UtcMillis) -> Outcome {
        let answering = self.answer(service, head, body);
        let is_other = service.lane == self.services.lane_of_others();
        let limit = if service.is_stranger() { TIME_OF_STRANGERS } else { TIME_OF_OTHERS };
        let answered = match is_other {
            true => tokio::time::timeout(limit, answering).await.unwrap_or_else(|_| {
                let reason = "There was no complete answer in time.".to_owned();
                Err(Outcome::Retry { after: None, reason, everybody: false, contact: Contact::Unclear })
            }),
            false => answering.await,
        };
        let answer = match answered {
            Ok(answer) => answer,
            Err(outcome) => {
                self.services.was_silent(service, now);
                return outcome;
            }
        };
        service.answered();
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
        let retry = |error: &dyn Error, contact| {
            let reason = error.to_string();
            Outcome::Retry { after: None, reason, everybody: false, contact }
        };
        if let Some(wire) = service.wire() {
            match wire.send(|| head.clone(), body.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(WireError::NoHttp2) => service.speaks_http1_only(),
                Err(WireError::Refused(refusal)) => return Err(rejected(&refusal)),
                Err(error @ WireError::Unreachable { .. }) => return Err(retry(&error, Contact::NotMade)),
                Err(
                    error @ (WireError::Timeout
                    | WireError::Lost(_)
                    | WireError::Overloaded
                    | WireError::Certificate(_)),
                ) => return Err(retry(&error, Contact::Made)),
            }
        }
        self.http.send(head.clone().map(|()| body)).await.map_err(|error| match error {
            SendError::Refused(refusal) => rejected(&refusal),
            SendError::Timeout | SendError::Untrusted(_) | SendError::Unreachable(_) | SendError::Connection(_) => {
                retry(&error, Contact::of(&error))
            }
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
