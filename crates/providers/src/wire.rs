//! The way to a provider that speaks HTTP/2: a few connections with hundreds of requests under way on each.
//!
//! Directly on `h2`, because a general client hides what decides speed and correctness here: how many streams the server permits
//! at the moment, which requests a departing server has not looked at, and how many writes and wake-ups a request costs.

mod connect;
mod link;
mod origin;
mod pace;
mod pool;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};

pub(crate) use origin::Origin;

use crate::http::{AddressPolicy, Refusal};
use crate::outcome::{Contact, Outcome, cut};
use link::Failure;
use pool::{Fresh, Pool};

/// How often a request is sent again that a provider has certainly not looked at.
const MOST_SENDS: usize = 5;

#[derive(Clone, Copy, Debug)]
pub(crate) struct WireOptions {
    /// The most connections. The last of several is for a thread that has none.
    pub(crate) connections: usize,
    /// Wait for the first answer on a new connection before sending more on it.
    pub(crate) one_stream_first: bool,
    /// From looking up the name to the first request.
    pub(crate) connect_timeout: Duration,
    /// For an answer.
    pub(crate) timeout: Duration,
}

impl WireOptions {
    const fn for_one_thread(&self) -> usize {
        if self.connections > 1 { self.connections - 1 } else { 1 }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum WireError {
    #[error(transparent)]
    Refused(Refusal),
    #[error("There was no complete answer in time.")]
    Timeout,
    /// The provider may or may not have got it.
    #[error("The connection failed: {0}.")]
    Lost(String),
    /// The provider has not looked at it.
    #[error("The provider says that it is sent too much.")]
    Overloaded,
    /// There is no connection, and no attempt to make one before this time has passed.
    #[error("There is no connection to {reason}.")]
    Unreachable { reason: String, again_in: Duration },
    #[error("The provider does not accept our certificate: {0}.")]
    Certificate(String),
    #[error("The server does not speak HTTP/2.")]
    NoHttp2,
}

/// Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub(crate) struct Wire(Arc<Pool>);

impl Wire {
    /// Connects when there is something to send.
    pub(crate) fn new(
        origin: Origin,
        tls: Arc<rustls::ClientConfig>,
        policy: AddressPolicy,
        options: WireOptions,
    ) -> Self {
        Self(Arc::new(Pool::new(origin, tls, policy, options)))
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// One request, one answer. `request` makes the head, once for every time it has to be sent: requests that the provider
    /// has certainly not looked at are sent again on another connection.
    pub(crate) async fn send(
        &self,
        request: impl Fn() -> Request<()>,
        body: Bytes,
    ) -> Result<Response<Bytes>, WireError> {
        for _ in 0..MOST_SENDS {
            // Waiting is rare; its state stays out of the futures of the thousands that do not wait.
            let Fresh { ticket, sender, started } = match self.0.try_ticket()? {
                Some(fresh) => fresh,
                None => Box::pin(self.0.ticket()).await?,
            };
            let ended = match ticket.link.begin(sender, request(), body.clone(), started) {
                Ok(exchange) => exchange.answer().await,
                Err(failure) => Err(failure),
            };
            match ended {
                Ok((answer, is_first)) => {
                    self.0.answered(started);
                    if is_first {
                        self.0.proven();
                    }
                    return Ok(answer);
                }
                Err(Failure::Unprocessed) => {}
                Err(Failure::Closed) => self.0.leave(&ticket.link),
                Err(Failure::Overloaded) => return Err(WireError::Overloaded),
                Err(Failure::TimedOut) => return Err(WireError::Timeout),
                Err(Failure::Lost(why)) if connect::objects_to_certificate(&why) => {
                    return Err(WireError::Certificate(why));
                }
                Err(Failure::Lost(why)) => return Err(WireError::Lost(why)),
            }
        }
        Err(WireError::Lost("the provider turned the request away several times".to_owned()))
    }

    /// How many requests to have under way at once.
    pub(crate) fn room(&self) -> usize {
        self.0.room()
    }
}

impl WireError {
    /// No answer came. Only what we may not do, or are not believed to be, is certain to fail again.
    pub(crate) fn outcome(&self) -> Outcome {
        let reason = cut(self.to_string());
        match self {
            WireError::Refused(_) | WireError::Certificate(_) | WireError::NoHttp2 => Outcome::Unauthorized { reason },
            WireError::Timeout | WireError::Lost(_) => {
                Outcome::Retry { after: None, reason, everybody: false, contact: Contact::Made }
            }
            WireError::Overloaded => Outcome::Retry { after: None, reason, everybody: true, contact: Contact::Made },
            WireError::Unreachable { again_in, .. } => {
                Outcome::Retry { after: Some(*again_in), reason, everybody: true, contact: Contact::NotMade }
            }
        }
    }

    fn again_in(mut self, pause: Duration) -> Self {
        if let WireError::Unreachable { again_in, .. } = &mut self {
            *again_in = pause;
        }
        self
    }
}
