//! Sending to Amazon's devices.

use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{Method, Request};
use model::time::UtcMillis;

use super::outcome::judge;
use super::{AdmCredentials, AdmPush};
use crate::http as web;
use crate::http::WebUrl;
use crate::network::Network;
use crate::oauth::Access;
use crate::outcome::Outcome;
use crate::recipient::Recipient;
use crate::room::Room;

/// Both for tokens and for messages.
pub(super) const AMAZON: &str = "https://api.amazon.com";
/// Messages under way: at first, and at most. Amazon speaks HTTP/1.1, so that each of them has a connection to itself.
const ROOM: (usize, usize) = (50, 200);

/// The way to one app's devices; clones share connections and tokens.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    http: web::Client,
    root: WebUrl,
    access: Access,
    room: Room,
}

impl Client {
    pub fn new(credentials: &AdmCredentials, network: &Network) -> Self {
        let endpoint = credentials.endpoint.as_ref();
        let root = endpoint.map_or_else(|| WebUrl::from_static(AMAZON), |endpoint| endpoint.url.clone());
        let form = vec![
            ("grant_type", "client_credentials".to_owned()),
            ("scope", "messaging:push".to_owned()),
            ("client_id", credentials.client_id.clone()),
            ("client_secret", credentials.client_secret.reveal().to_owned()),
        ];
        Self(Arc::new(Inner {
            http: network.http_for(endpoint),
            access: Access::new(root.join("auth/O2/token"), form),
            root,
            room: Room::new(ROOM.0, ROOM.1),
        }))
    }

    pub async fn send(&self, push: &AdmPush, recipient: &Recipient<'_>, now: UtcMillis) -> Outcome {
        let inner = &*self.0;
        let uri = inner.root.join(&AdmPush::path(recipient));
        let body = Bytes::from(push.body(recipient));
        let authorized = |token| {
            let mut request = Request::new(body.clone());
            *request.method_mut() = Method::POST;
            *request.uri_mut() = uri.clone();
            *request.headers_mut() = AdmPush::headers();
            request.headers_mut().insert(AUTHORIZATION, token);
            request
        };
        let judge = |answer: &_| judge(answer, recipient.address, now);
        let outcome = inner.access.send(&inner.http, now, authorized, judge).await;
        inner.room.learn(&outcome);
        outcome
    }

    pub fn room(&self) -> usize {
        self.0.room.allowed()
    }

    /// Proves the credentials by asking for a token. The error is a sentence for the operator.
    pub async fn check(&self, now: UtcMillis) -> Result<(), String> {
        self.0.access.check(&self.0.http, now).await
    }
}
