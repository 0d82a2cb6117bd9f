//! The way to Firebase with one service account.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Uri, Version};
use model::time::UtcMillis;

use super::outcome::judge;
use super::token::AccessToken;
use super::{FcmCredentials, FcmPush};
use crate::network::{Network, WireTo};
use crate::outcome::{AddressFault, Outcome, Verdict};
use crate::recipient::Recipient;
use crate::request::path_segment;
use crate::room::Room;
use crate::wire::{Origin, Wire};

/// Google permits a hundred requests at once on each.
const CONNECTIONS: usize = 13;
const FIRST_ROOM: usize = 100;
const MOST_ROOM: usize = 4000;

/// Asks Firebase to look at a message, and not to send it; there is no such device anyway.
const NOT_TO_BE_SENT: &[u8] = br#"{"validate_only":true,"message":{"token":"none"}}"#;

/// Cheap to clone; clones share connections and tokens.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    wire: Wire,
    uri: Uri,
    token: AccessToken,
    room: Room,
}

impl Client {
    pub(crate) fn new(credentials: &FcmCredentials, network: &Network) -> Self {
        let endpoint = credentials.endpoint.as_ref();
        let origin = endpoint.map_or(Origin::https("fcm.googleapis.com"), |endpoint| Origin::of(&endpoint.url));
        let prefix = endpoint.map_or("", |endpoint| endpoint.url.uri().path().trim_end_matches('/'));
        let path =
            format!("{prefix}/v1/projects/{}/messages:send", path_segment(&credentials.service_account.project_id));
        let uri = Uri::builder().scheme(origin.scheme.clone()).authority(origin.authority.clone());
        let uri = uri.path_and_query(path).build().expect("an origin and an escaped path make a URL");
        let ca = endpoint.and_then(|endpoint| endpoint.ca.as_deref());
        let to = WireTo { origin, ca, certificate: None, connections: CONNECTIONS, one_stream_first: false };
        Self(Arc::new(Inner {
            wire: network.wire(to),
            uri,
            token: AccessToken::new(credentials, network.http_for(endpoint)),
            room: Room::new(FIRST_ROOM, MOST_ROOM),
        }))
    }

    pub(crate) fn room(&self) -> usize {
        self.0.room.allowed().min(self.0.wire.room())
    }

    pub(crate) async fn send(&self, push: &FcmPush, recipient: &Recipient<'_>, now: UtcMillis) -> Outcome {
        let outcome = self.0.deliver(push.body_for(recipient), now).await;
        self.0.room.learn(&outcome);
        outcome
    }

    /// An answer about the device shows that Google believes who we are.
    pub(crate) async fn check(&self, now: UtcMillis) -> Result<(), String> {
        match self.0.deliver(Bytes::from_static(NOT_TO_BE_SENT), now).await {
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
    async fn deliver(&self, body: Bytes, now: UtcMillis) -> Outcome {
        let mut has_renewed = false;
        loop {
            let header = match self.token.header(now).await {
                Ok(header) => header,
                Err(outcome) => return outcome,
            };
            let answer = match self.wire.send(|| self.request(&header), body.clone()).await {
                Ok(answer) => answer,
                Err(error) => return error.outcome(),
            };
            let (verdict, outcome) = judge(&answer, now);
            if verdict != Verdict::Renew || has_renewed {
                return outcome;
            }
            self.token.refused(&header);
            has_renewed = true;
        }
    }

    fn request(&self, authorization: &HeaderValue) -> Request<()> {
        let mut headers = HeaderMap::with_capacity(2);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(AUTHORIZATION, authorization.clone());
        let mut request = Request::new(());
        *request.method_mut() = Method::POST;
        *request.version_mut() = Version::HTTP_2;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = headers;
        request
    }
}
