//! Queueing: recipients that were read become requests as there is room for them.

use model::ids::Ordinal;
use model::time::UtcMillis;
use providers::open::{self, OpenPlatformConfig};
use providers::outcome::Outcome;
use store::sandbox::SandboxDelivery;

use super::{Probe, Queue, SendRun, UNRECORDED};
use crate::deliver::batch::{self, Batch};
use crate::deliver::feed::Chunk;
use crate::deliver::render::{Localized, Renderer};
use crate::deliver::target::Target;
use crate::deliver::transport::{OutgoingRequest, Provider, To, Transport, Way};

/// Requests to one open platform that may be under way at once, per block.
const OPEN_REQUESTS: usize = 4;

const UNREADABLE: &str = "What is stored about the device cannot be read; the log says why.";

/// Recipients whose turn comes together, with the means to reach them, and when they were read.
pub(super) enum Ready<'a> {
    Message { provider: &'a Provider, target: Target, read_at: UtcMillis },
    Batch { config: &'a OpenPlatformConfig, localized: Localized, targets: Vec<Target>, read_at: UtcMillis },
    ForSandbox(Target),
    Unreachable { target: Target, reason: &'a str },
}

impl Ready<'_> {
    fn len(&self) -> usize {
        match self {
            Ready::Message { .. } | Ready::ForSandbox(_) | Ready::Unreachable { .. } => 1,
            Ready::Batch { targets, .. } => targets.len(),
        }
    }

    fn ordinals(&self) -> Vec<Ordinal> {
        match self {
            Ready::Message { target, .. } | Ready::ForSandbox(target) | Ready::Unreachable { target, .. } => {
                vec![target.ordinal]
            }
            Ready::Batch { targets, .. } => targets.iter().map(|target| target.ordinal).collect(),
        }
    }

    /// The content that they get.
    fn localized(&self, renderer: &Renderer<'_>) -> Localized {
        match self {
            Ready::Message { target, .. } | Ready::ForSandbox(target) | Ready::Unreachable { target, .. } => {
                renderer.localized(&target.locale)
            }
            Ready::Batch { localized, .. } => *localized,
        }
    }
}

impl<'a> SendRun<'a> {
    pub(super) fn take_in(&mut self, chunk: Chunk) {
        let Chunk { targets, missing, unreadable, read_at } = chunk;
        self.tally.add_missing(&missing);
        if !unreadable.is_empty() {
            self.tally.file(&unreadable, Outcome::Rejected { reason: UNREADABLE.to_owned() }, read_at);
        }
        self.n_ready += targets.len();
        match self.context.transport {
            Transport::Open(config) => {
                let localized = |target: &Target| self.renderer.localized(&target.locale);
                let groups = batch::grouped(targets, open::MOST_VALUES, localized);
                let batch = |(localized, targets)| Ready::Batch { config, localized, targets, read_at };
                self.own.ready.extend(groups.into_iter().map(batch));
            }
            Transport::Provider(provider) => {
                let device_type = self.context.device_type;
                for target in targets {
                    // Recipients that cannot be reached get their outcome in their turn.
                    let to = provider.way(device_type, &target).map_or(To::Own, Way::to);
                    self.queue(to).ready.push_back(Ready::Message { provider, target, read_at });
                }
            }
            Transport::Sandbox => self.own.ready.extend(targets.into_iter().map(Ready::ForSandbox)),
            Transport::Missing { reason } => {
                self.own.ready.extend(targets.into_iter().map(|target| Ready::Unreachable { target, reason }));
            }
        }
    }

    /// Puts a recipient first that has to be sent to once more.
    pub(super) fn put_back(&mut self, provider: &'a Provider, target: Target, to: To, read_at: UtcMillis) {
        self.n_ready += 1;
        self.queue(to).ready.push_front(Ready::Message { provider, target, read_at });
    }

    pub(super) fn queue(&mut self, to: To) -> &mut Queue<'a> {
        match to {
            To::Own => &mut self.own,
            To::Amazon => &mut self.by_amazon,
        }
    }

    /// The next request, if one may be sent now. Recipients that need none are dealt with on the way.
    pub(super) fn next_request(&mut self, now: UtcMillis) -> Option<OutgoingRequest<'a>> {
        self.next_request_to(To::Own, now).or_else(|| self.next_request_to(To::Amazon, now))
    }

    fn next_request_to(&mut self, to: To, now: UtcMillis) -> Option<OutgoingRequest<'a>> {
        while self.has_room(to) {
            let ready = self.queue(to).ready.pop_front()?;
            self.n_ready -= ready.len();
            let n_messages = ready.len();
            if let Some(request) = self.request(ready, now) {
                self.queue(to).n_requests += 1;
                self.n_in_flight += n_messages;
                self.has_sent = true;
                return Some(request);
            }
        }
        None
    }

    fn has_room(&mut self, to: To) -> bool {
        let n_unrecorded = self.n_in_flight + self.tally.n_finished() + self.n_saving;
        let is_going = self.stop_reason.is_none();
        let Queue { ready, n_requests, n_allowed } = self.queue(to);
        let n_next = ready.front().map_or(0, Ready::len);
        is_going && *n_requests < *n_allowed && n_unrecorded + n_next <= UNRECORDED
    }

    /// How many requests may be under way.
    pub(super) fn requests_allowed(&self, to: To) -> usize {
        match (self.context.transport, self.probe) {
            (Transport::Provider(_) | Transport::Open(_), Probe::Waiting) => 1,
            (Transport::Provider(_) | Transport::Open(_), Probe::Passed) => 0,
            (Transport::Provider(provider), Probe::No) => provider.share(to),
            (Transport::Open(_), Probe::No) => OPEN_REQUESTS,
            (Transport::Sandbox | Transport::Missing { .. }, _) => usize::MAX,
        }
    }

    fn request(&mut self, ready: Ready<'a>, now: UtcMillis) -> Option<OutgoingRequest<'a>> {
        // The block goes on for as long as one of its localizations may be sent.
        if self.renderer.is_expired(ready.localized(&self.renderer), now) {
            self.tally.add_expired(&ready.ordinals());
            return None;
        }
        match ready {
            Ready::Message { provider, target, read_at } => match provider.way(self.context.device_type, &target) {
                Ok(Way::Amazon(_)) if provider.is_amazon_quiet(now) => {
                    let reason = "Amazon asked to be left alone for a while.".to_owned();
                    let later = Outcome::Retry { after: None, reason, everybody: false };
                    self.tally.file(&[target.ordinal], later, read_at);
                    None
                }
                Ok(way) => self.message(provider, target, way, read_at, now),
                Err(reason) => self.reject(&[target], reason),
            },
            Ready::Batch { config, localized, targets, read_at } => match self.renderer.rendered(localized, now) {
                Ok(content) => Some(OutgoingRequest::Batch { config, batch: Batch::new(content, targets), read_at }),
                Err(reason) => self.reject(&targets, &reason.to_string()),
            },
            Ready::ForSandbox(target) => self.keep(&target, now),
            Ready::Unreachable { target, reason } => self.reject(&[target], reason),
        }
    }

    fn message(
        &mut self,
        provider: &'a Provider,
        target: Target,
        way: Way,
        read_at: UtcMillis,
        now: UtcMillis,
    ) -> Option<OutgoingRequest<'a>> {
        let localized = self.renderer.localized(&target.locale);
        let content = match way {
            Way::Key(_) => self.renderer.rendered(localized, now),
            Way::Amazon(_) => self.renderer.rendered_for_amazon(localized, now),
        };
        match content {
            Ok(content) => Some(OutgoingRequest::Message { provider, target, content, way, read_at }),
            Err(reason) => self.reject(&[target], &reason.to_string()),
        }
    }

    /// Keeps the request for the developer to look at.
    fn keep(&mut self, target: &Target, now: UtcMillis) -> Option<OutgoingRequest<'a>> {
        let push = self.context.push;
        let localized = self.renderer.localized(&target.locale);
        match self.renderer.rendered(localized, now) {
            Ok(rendered) => {
                self.tally.keep(SandboxDelivery {
                    delivery: target.delivery_id(push),
                    push,
                    channel: target.channel,
                    device_type: self.context.device_type.to_string(),
                    transport: rendered.transport().to_owned(),
                    at: now,
                    request: rendered.request(&target.filled(push)).to_json().to_string(),
                });
                self.tally.delivered(target.ordinal);
                None
            }
            Err(reason) => self.reject(std::slice::from_ref(target), &reason.to_string()),
        }
    }

    fn reject(&mut self, targets: &[Target], reason: &str) -> Option<OutgoingRequest<'a>> {
        let ordinals: Vec<_> = targets.iter().map(|target| target.ordinal).collect();
        self.tally.file(&ordinals, Outcome::Rejected { reason: reason.to_owned() }, UtcMillis(0));
        None
    }
}
