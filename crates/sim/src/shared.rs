//! The state that all connections of a simulator share, and how a request becomes a verdict.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use model::time::Clock;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::answer::{self, Action, PlannedReply, Refusal, Reply};
use crate::book::{Book, Fate, Message};
use crate::browser::Browser;
use crate::browsers::{Subscriptions, google, mozilla};
use crate::call::{Call, ShownCredentials};
use crate::chance::Fingerprint;
use crate::faults::Faults;
use crate::protocol::Protocol;
use crate::specimen::Specimen;
use crate::stats::Stats;
use crate::tokens::{self, Issuer, Tokens};
use crate::{adm, apns, control, fcm, open, webpush, wns};

pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) topic: String,
    pub(crate) streams: u32,
    pub(crate) careful_start: bool,
    pub(crate) keep: usize,
    pub(crate) token_lifetime: Duration,
    pub(crate) apns_public_key: Vec<u8>,
    pub(crate) fcm_public_key: Vec<u8>,
    /// Decrypts messages to browsers, if the settings ask for it.
    pub(crate) browser: Option<Browser>,
    pub(crate) tokens: Tokens,
    /// Those of real browsers.
    pub(crate) subscriptions: Subscriptions,
    pub(crate) faults: Mutex<Arc<Faults>>,
    pub(crate) book: Mutex<Book>,
    pub(crate) specimens: [OnceLock<Specimen>; Protocol::ALL.len()],
    pub(crate) validation_code: Mutex<Option<Uuid>>,
    /// Notified after every request.
    pub(crate) changed: Notify,
}

impl Shared {
    /// The verdict on a request. It has been counted when this returns.
    pub(crate) fn judge(&self, shown: &mut ShownCredentials, call: &Call<'_>) -> PlannedReply {
        let verdict = self.plan_reply(shown, call);
        self.changed.notify_waiters();
        verdict
    }

    pub(crate) fn faults(&self) -> Arc<Faults> {
        self.faults.lock().clone()
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock()
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats { subscriptions: self.subscriptions.n_active(), ..self.book().stats() }
    }

    /// The time as browsers are told it.
    pub(crate) fn now_millis(&self) -> u64 {
        u64::try_from(self.clock.now().0).unwrap_or(0)
    }

    pub(crate) fn validation_code(&self) -> Option<Uuid> {
        *self.validation_code.lock()
    }

    fn plan_reply(&self, shown: &mut ShownCredentials, call: &Call<'_>) -> PlannedReply {
        let faults = self.faults();
        match protocol_of(call.path) {
            Some(Protocol::UnifiedPush) if call.method == Method::GET => {
                plain(webpush::unified_push_server(), faults.latency)
            }
            Some(Protocol::Open) => {
                if let Some(response) = open::handshake(self, call) {
                    return plain(response, faults.latency);
                }
                let checked = if faults.refuse_credentials.contains(&Protocol::Open) {
                    Err(open::unauthorized())
                } else {
                    open::check(call)
                };
                match checked {
                    Ok(messages) => {
                        let fate = self.book().enter(&messages, &faults, self.keep);
                        reply(fate, messages.first(), &faults, open::respond)
                    }
                    Err(refusal) => self.refuse(Protocol::Open, refusal, &faults),
                }
            }
            Some(protocol) => self.one_message(protocol, shown, call, &faults),
            None => self.beside_messages(call, &faults),
        }
    }

    fn one_message(
        &self,
        protocol: Protocol,
        shown: &mut ShownCredentials,
        call: &Call<'_>,
        faults: &Faults,
    ) -> PlannedReply {
        // Apple does not speak HTTP/1.1 at all.
        if protocol == Protocol::Apns && !call.is_h2 {
            return PlannedReply { action: Action::Cut, delay: Duration::ZERO, is_trusted: false };
        }
        if faults.is_silent(call.path) {
            self.book().unanswered += 1;
            return PlannedReply { action: Action::Silence, delay: Duration::ZERO, is_trusted: false };
        }
        let checked = if faults.refuse_credentials.contains(&protocol) {
            Err(refused_credentials(protocol))
        } else {
            match protocol {
                Protocol::Apns => apns::check(self, shown, call),
                Protocol::Fcm => fcm::check(self, call),
                Protocol::Adm => adm::check(self, call),
                Protocol::Wns => wns::check(self, call),
                Protocol::WebPush | Protocol::UnifiedPush => webpush::check(self, protocol, shown, call),
                Protocol::Open => Err(open::unauthorized()),
            }
        };
        let message = match checked {
            Ok(message) => message,
            Err(refusal) => return self.refuse(protocol, refusal, faults),
        };
        if faults.is_unknown(&message.address)
            && let Some(refusal) = unknown_address(protocol, Some(&*message.address).filter(|_| faults.names_address))
        {
            return self.refuse(protocol, refusal, faults);
        }
        self.specimens[protocol as usize].get_or_init(|| Specimen::of(call));
        let fate = self.book().enter(std::slice::from_ref(&message), faults, self.keep);
        if let (Protocol::WebPush, Some(Fate::Accepted | Fate::LostAnswer)) = (protocol, fate) {
            webpush::forward(self, call, &message);
        }
        reply(fate, Some(&message), faults, |reply| match protocol {
            Protocol::Apns => apns::respond(self, call, reply),
            Protocol::Fcm => fcm::respond(&message, reply),
            Protocol::Adm => adm::respond(&message, reply),
            Protocol::Wns => wns::respond(call, &message, reply),
            Protocol::WebPush | Protocol::UnifiedPush => webpush::respond(call, &message, reply),
            Protocol::Open => open::respond(reply),
        })
    }

    /// Requests for tokens, requests of browsers for subscriptions, and requests of people for counts and messages.
    fn beside_messages(&self, call: &Call<'_>, faults: &Faults) -> PlannedReply {
        if let Some(response) = control::answer(self, call) {
            return plain(response, Duration::ZERO);
        }
        if let Some(response) = google::answer(self, call) {
            return plain(response, Duration::ZERO);
        }
        let Some(issuer) = Issuer::of(call.path) else {
            return plain(answer::empty(StatusCode::NOT_FOUND), faults.latency);
        };
        let (now, lifetime) = (self.clock.now(), self.token_lifetime);
        let (response, is_issued) = tokens::answer(&self.tokens, issuer, call, &self.fcm_public_key, now, lifetime);
        self.book().tokens += u64::from(is_issued);
        PlannedReply { is_trusted: is_issued, ..plain(response, faults.latency) }
    }

    fn refuse(&self, protocol: Protocol, refusal: Refusal, faults: &Faults) -> PlannedReply {
        let Refusal { response, reason, fate } = refusal;
        if let Some(fate) = fate {
            self.book().refuse(protocol, fate, &reason);
        }
        plain(*response, faults.latency)
    }
}

/// The reply to valid messages with this fate.
fn reply(
    fate: Option<Fate>,
    first: Option<&Message<'_>>,
    faults: &Faults,
    respond: impl FnOnce(Reply) -> Response<Bytes>,
) -> PlannedReply {
    let first = first.and_then(|message| message.id).unwrap_or(Fingerprint(0));
    let answer = |reply| {
        let mut response = respond(reply);
        answer::add_retry_after(&mut response, reply, faults.retry_after);
        Action::Answer(response)
    };
    let action = match fate {
        Some(Fate::Accepted | Fate::Duplicate) => answer(Reply::Accepted),
        Some(Fate::Gone) => answer(Reply::Gone),
        Some(Fate::Throttled) => answer(Reply::Throttled),
        Some(Fate::Unavailable) => answer(Reply::Unavailable),
        Some(Fate::Reset) => Action::Reset { is_clean: true },
        Some(Fate::LostAnswer) => Action::Reset { is_clean: false },
        Some(Fate::Cut) => Action::Cut,
        // Requests without messages were refused before.
        Some(Fate::Rejected | Fate::Unauthorized) | None => answer(Reply::Unavailable),
    };
    PlannedReply { action, delay: faults.delay(first), is_trusted: true }
}

fn plain(response: Response<Bytes>, delay: Duration) -> PlannedReply {
    PlannedReply { action: Action::Answer(response), delay, is_trusted: false }
}

/// What is said of an address that nobody has, by the providers that tell it from a device that is gone. One of them may name it.
fn unknown_address(protocol: Protocol, named: Option<&str>) -> Option<Refusal> {
    match protocol {
        Protocol::Apns => Some(apns::bad_token()),
        Protocol::Fcm => Some(fcm::bad_token(named)),
        Protocol::WebPush | Protocol::UnifiedPush => Some(webpush::foreign_key()),
        Protocol::Adm | Protocol::Wns | Protocol::Open => None,
    }
}

fn refused_credentials(protocol: Protocol) -> Refusal {
    match protocol {
        Protocol::Apns => apns::unauthorized("InvalidProviderToken"),
        Protocol::Fcm => fcm::unauthenticated(),
        Protocol::Adm => adm::unauthorized(),
        Protocol::Wns => wns::unauthorized("The token is not valid."),
        Protocol::WebPush | Protocol::UnifiedPush => {
            webpush::unauthorized("The VAPID key is not the one of the subscription")
        }
        Protocol::Open => open::unauthorized(),
    }
}

fn protocol_of(path: &str) -> Option<Protocol> {
    let prefixes = [
        (apns::PREFIX, Protocol::Apns),
        (fcm::PREFIX, Protocol::Fcm),
        (adm::PREFIX, Protocol::Adm),
        (wns::PREFIX, Protocol::Wns),
        (webpush::PREFIX, Protocol::WebPush),
        (google::PREFIX, Protocol::WebPush),
        (mozilla::PREFIX, Protocol::WebPush),
        (webpush::UNIFIED_PUSH_PREFIX, Protocol::UnifiedPush),
        (open::PREFIX, Protocol::Open),
    ];
    prefixes.into_iter().find(|(prefix, _)| path.starts_with(prefix)).map(|(_, protocol)| protocol)
}
