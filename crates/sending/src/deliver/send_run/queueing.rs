//! Queueing: recipients that were read become requests as there is room for them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use model::channel::DeliveryType;
use model::ids::Ordinal;
use model::sandbox::SandboxAnswer;
use model::time::UtcMillis;
use providers::open::{self, OpenPlatformConfig};
use providers::outcome::{Contact, Outcome};
use providers::{MessageSize, RenderedPush};
use store::sandbox::SandboxDelivery;

use super::{Probe, Queue, SendRun, UNRECORDED};
use crate::deliver::batch::{self, Batch};
use crate::deliver::feed::{CHUNK, Chunk};
use crate::deliver::render::{DeliveredBy, Localized, Renderer};
use crate::deliver::target::Target;
use crate::deliver::transport::{NO_KEY_PAIR, OutgoingRequest, Provider, To, Transport, UnifiedPush, Way};
use crate::sandbox;

/// Requests to one open platform that may be under way at once, per block.
const OPEN_REQUESTS: usize = 4;

/// A batch goes out without the rest if it takes long to fill in what varies, but not before so many were looked at.
const FILLED_AT_LEAST: usize = 100;

/// A lane without an answer for so long, although it has as many requests under way as it may, holds up no other.
const STALLED: Duration = Duration::from_secs(1);
const WAITS_FOR_SERVICE: &str = "The push service of the device is slow; what is for it is tried again.";
const AMAZON_IS_QUIET: &str = "Amazon asked to be left alone for a while.";

const UNREADABLE: &str = "What is stored about the device cannot be read; the log says why.";

/// Recipients whose turn comes together, with the means to reach them, and when they were read.
pub(super) enum Ready<'a> {
    Message { provider: &'a Provider, target: Target, read_at: UtcMillis },
    ForPhone { by: &'a UnifiedPush, target: Target, read_at: UtcMillis },
    Batch { config: &'a OpenPlatformConfig, localized: Localized, targets: Vec<Target>, read_at: UtcMillis },
    ForSandbox { target: Target, fault: Option<SandboxAnswer>, read_at: UtcMillis },
    Unreachable { target: Target, reason: &'a str },
}

impl Ready<'_> {
    fn len(&self) -> usize {
        match self {
            Ready::Message { .. } | Ready::ForPhone { .. } | Ready::ForSandbox { .. } | Ready::Unreachable { .. } => 1,
            Ready::Batch { targets, .. } => targets.len(),
        }
    }

    fn ordinals(&self) -> Vec<Ordinal> {
        match self {
            Ready::Message { target, .. }
            | Ready::ForPhone { target, .. }
            | Ready::ForSandbox { target, .. }
            | Ready::Unreachable { target, .. } => vec![target.ordinal],
            Ready::Batch { targets, .. } => targets.iter().map(|target| target.ordinal).collect(),
        }
    }

    /// The content that they get.
    fn localized(&self, renderer: &Renderer<'_>) -> Localized {
        match self {
            Ready::Message { target, .. }
            | Ready::ForPhone { target, .. }
            | Ready::ForSandbox { target, .. }
            | Ready::Unreachable { target, .. } => renderer.localized(&target.locale),
            Ready::Batch { localized, .. } => *localized,
        }
    }
}

impl Queue<'_> {
    fn is_stalled(&self) -> bool {
        let is_full = self.n_requests > 0 && self.n_requests >= self.n_allowed;
        is_full && self.moved.is_some_and(|moved| moved.elapsed() >= STALLED)
    }
}

impl<'a> SendRun<'a> {
    /// Recipients that are read ahead and can be sent to soon.
    pub(super) fn n_moving(&self) -> usize {
        let lanes = [&self.own, &self.to_phones].into_iter().filter(|lanes| lanes.len() > 1);
        let stalled = lanes.flatten().filter(|queue| queue.is_stalled());
        self.n_ready - stalled.map(|queue| queue.ready.len()).sum::<usize>()
    }

    /// Leaves what is for lanes that stand still to the next run: this one holds a slot that others wait for.
    pub(super) fn defer_stalled(&mut self) {
        self.defer(|queue| if queue.is_stalled() { 0 } else { usize::MAX });
    }

    /// Leaves to the next run what does not fit into lanes that stand still.
    fn defer_overflow(&mut self) {
        self.defer(|queue| if queue.is_stalled() { CHUNK } else { usize::MAX });
    }

    /// Only where there are several lanes: recipients of the only one wait in the block.
    fn defer(&mut self, n_kept: impl Fn(&Queue<'_>) -> usize) {
        let lanes = [&mut self.own, &mut self.to_phones].into_iter().filter(|lanes| lanes.len() > 1);
        for queue in lanes.flatten() {
            let n_kept = n_kept(queue);
            while queue.ready.len() > n_kept {
                let Some(ready) = queue.ready.pop_back() else { break };
                self.n_ready -= ready.len();
                self.tally.file(&ready.ordinals(), put_off(WAITS_FOR_SERVICE), UtcMillis(0));
            }
        }
    }

    pub(super) fn take_in(&mut self, chunk: Chunk) {
        let Chunk { targets, missing, unreadable, read_at, faults } = chunk;
        self.tally.add_missing(missing);
        if !unreadable.is_empty() {
            self.tally.file(&unreadable, Outcome::Rejected { reason: UNREADABLE.to_owned() }, read_at);
        }
        self.n_ready += targets.len();
        let targets = self.take_in_phones(targets, read_at);
        match self.context.transport {
            Transport::Open(config) => {
                let localized = |target: &Target| self.renderer.localized(&target.locale);
                let groups = batch::grouped(targets, open::MOST_VALUES, localized);
                let batch = |(localized, targets)| Ready::Batch { config, localized, targets, read_at };
                self.own[0].ready.extend(groups.into_iter().map(batch));
            }
            Transport::Provider(provider) => {
                let device_type = self.context.device_type;
                for mut target in targets {
                    target.lane = provider.lane(&target.address).min(self.own.len() - 1);
                    // Recipients that cannot be reached get their outcome in their turn.
                    let way = provider.way(device_type, &target);
                    let to = way.map_or(To::Own(target.lane), |way| way.to(target.lane));
                    self.queue(to).ready.push_back(Ready::Message { provider, target, read_at });
                }
                self.defer_overflow();
            }
            Transport::Sandbox => {
                let faults = faults.into_iter().map(Some).chain(std::iter::repeat(None));
                let ready = targets.into_iter().zip(faults);
                let ready = ready.map(|(target, fault)| Ready::ForSandbox { target, fault, read_at });
                self.own[0].ready.extend(ready);
            }
            Transport::Missing { reason } => {
                let reason = |target: &Target| if is_phone(target) { NO_KEY_PAIR } else { reason };
                let ready = targets.into_iter().map(|target| Ready::Unreachable { reason: reason(&target), target });
                self.own[0].ready.extend(ready);
            }
        }
    }

    /// Queues the recipients that are reached by UnifiedPush, where the app has a way to them, and returns the others.
    fn take_in_phones(&mut self, targets: Vec<Target>, read_at: UtcMillis) -> Vec<Target> {
        let Some(by) = self.context.unified_push.filter(|_| targets.iter().any(is_phone)) else { return targets };
        let (phones, others): (Vec<_>, Vec<_>) = targets.into_iter().partition(is_phone);
        for mut target in phones {
            target.lane = by.lane(&target.address).min(self.to_phones.len() - 1);
            self.to_phones[target.lane].ready.push_back(Ready::ForPhone { by, target, read_at });
        }
        self.defer_overflow();
        others
    }

    /// Puts a recipient first that has to be sent to once more.
    pub(super) fn put_back(&mut self, provider: &'a Provider, target: Target, way: Way, read_at: UtcMillis) {
        self.n_ready += 1;
        self.queue(way.to(target.lane)).ready.push_front(Ready::Message { provider, target, read_at });
    }

    /// All that have queues.
    pub(super) fn receivers(&self) -> impl Iterator<Item = To> + use<> {
        let phones = (0..self.to_phones.len()).map(To::Phone);
        (0..self.own.len()).map(To::Own).chain([To::Amazon]).chain(phones)
    }

    pub(super) fn queue(&mut self, to: To) -> &mut Queue<'a> {
        match to {
            To::Own(lane) => &mut self.own[lane],
            To::Amazon => &mut self.by_amazon,
            To::Phone(lane) => &mut self.to_phones[lane],
        }
    }

    /// The next request, if one may be sent now. Recipients that need none are dealt with on the way.
    pub(super) fn next_request(&mut self, now: UtcMillis) -> Option<OutgoingRequest<'a>> {
        for to in self.receivers() {
            if let Some(request) = self.next_request_to(to, now) {
                return Some(request);
            }
        }
        None
    }

    fn next_request_to(&mut self, to: To, now: UtcMillis) -> Option<OutgoingRequest<'a>> {
        while self.has_room(to) {
            let ready = self.queue(to).ready.pop_front()?;
            self.n_ready -= ready.len();
            if let Some(request) = self.request(ready, now) {
                let queue = self.queue(to);
                if queue.n_requests == 0 {
                    queue.moved = Some(Instant::now());
                }
                queue.n_requests += 1;
                self.n_in_flight += request.len();
                self.has_sent = true;
                return Some(request);
            }
        }
        None
    }

    fn has_room(&mut self, to: To) -> bool {
        let n_unrecorded = self.n_in_flight + self.tally.n_finished() + self.n_saving;
        let is_going = self.stop_reason.is_none() && !self.is_turn_over();
        let Queue { ready, n_requests, n_allowed, moved: _ } = self.queue(to);
        let n_next = ready.front().map_or(0, Ready::len);
        is_going && *n_requests < *n_allowed && n_unrecorded + n_next <= UNRECORDED
    }

    /// How many requests may be under way.
    pub(super) fn requests_allowed(&self, to: To) -> usize {
        let own_lane = match (to, self.context.unified_push) {
            // Whether the provider of the platform is well does not matter to them.
            (To::Phone(lane), Some(by)) if !self.to_phones[lane].ready.is_empty() => return by.share(lane),
            (To::Phone(_), _) => return 0,
            (To::Own(lane), _) => Some(lane),
            (To::Amazon, _) => None,
        };
        match (self.context.transport, self.probe) {
            (Transport::Provider(_) | Transport::Open(_), Probe::Waiting(_)) => 1,
            (Transport::Provider(_) | Transport::Open(_), Probe::Passed) => 0,
            (Transport::Provider(provider), Probe::No) => {
                own_lane.map_or_else(|| provider.share_of_amazon(), |lane| provider.share(lane))
            }
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
                    self.tally.file(&[target.ordinal], put_off(AMAZON_IS_QUIET), read_at);
                    None
                }
                Ok(way) => self.message(provider, target, way, read_at, now),
                Err(reason) => self.reject(&[target], reason),
            },
            Ready::ForPhone { by, mut target, read_at } => {
                let content = self.filled_in(&mut target, DeliveredBy::UnifiedPush, now)?;
                Some(OutgoingRequest::ToPhone { by, target, content, read_at })
            }
            Ready::Batch { config, localized, targets, read_at } => {
                match self.renderer.rendered(DeliveredBy::Own, localized, now) {
                    Ok(content) => {
                        let (mut filled, mut n_bytes) = (Vec::with_capacity(targets.len()), 0);
                        let mut targets = targets.into_iter();
                        for (n_before, mut target) in targets.by_ref().enumerate() {
                            if self.fill_in(&mut target, &content, now) {
                                n_bytes += target.texts.iter().map(String::len).sum::<usize>();
                                filled.push(target);
                            }
                            let is_turn_over = n_before + 1 >= FILLED_AT_LEAST && self.is_turn_over();
                            // No request has room for more, and all texts of a batch are in memory.
                            if is_turn_over || n_bytes >= open::MOST_BATCH_BYTES {
                                break;
                            }
                        }
                        let rest: Vec<_> = targets.collect();
                        if !rest.is_empty() {
                            self.n_ready += rest.len();
                            self.own[0].ready.push_front(Ready::Batch { config, localized, targets: rest, read_at });
                        }
                        let batch = (!filled.is_empty()).then(|| Batch::new(content, filled))?;
                        Some(OutgoingRequest::Batch { config, batch, read_at })
                    }
                    Err(reason) => self.reject(&targets, &reason.to_string()),
                }
            }
            Ready::ForSandbox { target, fault: None, .. } => self.keep(target, now),
            Ready::ForSandbox { target, fault: Some(answer), read_at } => {
                let outcome = sandbox::outcome(answer);
                let outcome = if self.block.has_own_tokens() { outcome.of_live_activity() } else { outcome };
                self.tally.file(&[target.ordinal], outcome, read_at);
                None
            }
            Ready::Unreachable { target, reason } => self.reject(&[target], reason),
        }
    }

    fn message(
        &mut self,
        provider: &'a Provider,
        mut target: Target,
        way: Way,
        read_at: UtcMillis,
        now: UtcMillis,
    ) -> Option<OutgoingRequest<'a>> {
        let by = match way {
            Way::Key(_) => DeliveredBy::Own,
            Way::Amazon(_) => DeliveredBy::Amazon,
        };
        let content = self.filled_in(&mut target, by, now)?;
        Some(OutgoingRequest::Message { provider, target, content, way, read_at })
    }

    /// The content for a recipient, whose own texts are worked out; `None` if there is none, which is dealt with.
    fn filled_in(&mut self, target: &mut Target, by: DeliveredBy, now: UtcMillis) -> Option<Arc<RenderedPush>> {
        let localized = self.renderer.localized(&target.locale);
        match self.renderer.rendered(by, localized, now) {
            Ok(content) => self.fill_in(target, &content, now).then_some(content),
            Err(reason) => {
                self.reject(std::slice::from_ref(target), &reason.to_string());
                None
            }
        }
    }

    /// Works out the texts of a recipient, where everybody has their own. A recipient without a value that the push needs, or with
    /// texts that the provider would refuse for their size, is dealt with, and is not to be sent to.
    fn fill_in(&mut self, target: &mut Target, content: &RenderedPush, now: UtcMillis) -> bool {
        if !self.renderer.is_personal() {
            return true;
        }
        let refusal = match self.renderer.texts_for(content.text_numbers(), &target.values, now) {
            Ok(texts) => {
                target.texts = texts;
                MessageSize::refusal(content, &target.filled(self.context.push))
            }
            Err(reason) => Some(reason.to_string()),
        };
        if let Some(reason) = &refusal {
            self.reject(std::slice::from_ref(target), reason);
        }
        refusal.is_none()
    }

    /// Keeps the request for the developer to look at.
    fn keep(&mut self, mut target: Target, now: UtcMillis) -> Option<OutgoingRequest<'a>> {
        let push = self.context.push;
        let by = if is_phone(&target) { DeliveredBy::UnifiedPush } else { DeliveredBy::Own };
        let rendered = self.filled_in(&mut target, by, now)?;
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
        if self.live_beside.contains(target.ordinal.0) {
            let localized = self.renderer.localized(&target.locale);
            self.keep_live(&target, localized, now);
        }
        None
    }

    /// What the sandbox could keep can be rendered for live connections.
    fn keep_live(&mut self, target: &Target, localized: Localized, now: UtcMillis) {
        if !self.renderer.is_personal() {
            return self.tally.live(target.ordinal, localized);
        }
        if let Some(marked) = self.renderer.kept_live_marked(localized, now)
            && let Ok(content) = self.renderer.live_for(&marked, &target.values, now)
        {
            self.tally.live_alone(target.ordinal, content);
        }
    }

    fn reject(&mut self, targets: &[Target], reason: &str) -> Option<OutgoingRequest<'a>> {
        let ordinals: Vec<_> = targets.iter().map(|target| target.ordinal).collect();
        self.tally.file(&ordinals, Outcome::Rejected { reason: reason.to_owned() }, UtcMillis(0));
        None
    }
}

/// The outcome of a message that nobody was asked to take.
fn put_off(reason: &str) -> Outcome {
    Outcome::Retry { after: None, reason: reason.to_owned(), everybody: false, contact: Contact::Unclear }
}

/// Whether a recipient is reached by UnifiedPush.
fn is_phone(target: &Target) -> bool {
    target.delivery_type() == DeliveryType::UnifiedPush
}
