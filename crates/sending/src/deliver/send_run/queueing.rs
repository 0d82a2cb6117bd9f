//! Queueing: recipients that were read become requests as there is room for them.

use std::time::{Duration, Instant};

use model::ids::Ordinal;
use model::sandbox::SandboxAnswer;
use model::time::UtcMillis;
use providers::RenderedPush;
use providers::open::{self, OpenPlatformConfig};
use providers::outcome::Outcome;
use store::sandbox::SandboxDelivery;

use super::{Probe, Queue, SendRun, UNRECORDED};
use crate::deliver::batch::{self, Batch};
use crate::deliver::feed::{CHUNK, Chunk};
use crate::deliver::render::{Localized, Renderer};
use crate::deliver::target::Target;
use crate::deliver::transport::{OutgoingRequest, Provider, To, Transport, Way};
use crate::sandbox;

/// Requests to one open platform that may be under way at once, per block.
const OPEN_REQUESTS: usize = 4;

/// A batch goes out without the rest if it takes long to fill in what varies, but not before so many were looked at.
const FILLED_AT_LEAST: usize = 100;

/// A lane without an answer for so long, although it has as many requests under way as it may, holds up no other.
const STALLED: Duration = Duration::from_secs(1);
const WAITS_FOR_SERVICE: &str = "The push service of the device is slow; what is for it is tried again.";

const UNREADABLE: &str = "What is stored about the device cannot be read; the log says why.";

/// Recipients whose turn comes together, with the means to reach them, and when they were read.
pub(super) enum Ready<'a> {
    Message { provider: &'a Provider, target: Target, read_at: UtcMillis },
    Batch { config: &'a OpenPlatformConfig, localized: Localized, targets: Vec<Target>, read_at: UtcMillis },
    ForSandbox { target: Target, fault: Option<SandboxAnswer>, read_at: UtcMillis },
    Unreachable { target: Target, reason: &'a str },
}

impl Ready<'_> {
    fn len(&self) -> usize {
        match self {
            Ready::Message { .. } | Ready::ForSandbox { .. } | Ready::Unreachable { .. } => 1,
            Ready::Batch { targets, .. } => targets.len(),
        }
    }

    fn ordinals(&self) -> Vec<Ordinal> {
        match self {
            Ready::Message { target, .. } | Ready::ForSandbox { target, .. } | Ready::Unreachable { target, .. } => {
                vec![target.ordinal]
            }
            Ready::Batch { targets, .. } => targets.iter().map(|target| target.ordinal).collect(),
        }
    }

    /// The content that they get.
    fn localized(&self, renderer: &Renderer<'_>) -> Localized {
        match self {
            Ready::Message { target, .. } | Ready::ForSandbox { target, .. } | Ready::Unreachable { target, .. } => {
                renderer.localized(&target.locale)
            }
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
        if self.own.len() == 1 {
            return self.n_ready;
        }
        let stalled = self.own.iter().filter(|queue| queue.is_stalled());
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
        if self.own.len() == 1 {
            return;
        }
        for lane in 0..self.own.len() {
            let n_kept = n_kept(&self.own[lane]);
            while self.own[lane].ready.len() > n_kept {
                let Some(ready) = self.own[lane].ready.pop_back() else { break };
                self.n_ready -= ready.len();
                let later = Outcome::Retry { after: None, reason: WAITS_FOR_SERVICE.to_owned(), everybody: false };
                self.tally.file(&ready.ordinals(), later, UtcMillis(0));
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
                self.own[0].ready.extend(targets.into_iter().map(|target| Ready::Unreachable { target, reason }));
            }
        }
    }

    /// Puts a recipient first that has to be sent to once more.
    pub(super) fn put_back(&mut self, provider: &'a Provider, target: Target, way: Way, read_at: UtcMillis) {
        self.n_ready += 1;
        self.queue(way.to(target.lane)).ready.push_front(Ready::Message { provider, target, read_at });
    }

    pub(super) fn queue(&mut self, to: To) -> &mut Queue<'a> {
        match to {
            To::Own(lane) => &mut self.own[lane],
            To::Amazon => &mut self.by_amazon,
        }
    }

    /// The next request, if one may be sent now. Recipients that need none are dealt with on the way.
    pub(super) fn next_request(&mut self, now: UtcMillis) -> Option<OutgoingRequest<'a>> {
        let lanes = (0..self.own.len()).map(To::Own).chain([To::Amazon]);
        for to in lanes {
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
        match (self.context.transport, self.probe) {
            (Transport::Provider(_) | Transport::Open(_), Probe::Waiting(_)) => 1,
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
                Ok(content) => {
                    let mut filled = Vec::with_capacity(targets.len());
                    let mut targets = targets.into_iter();
                    for (n_before, mut target) in targets.by_ref().enumerate() {
                        if self.fill_in(&mut target, &content, now) {
                            filled.push(target);
                        }
                        if n_before + 1 >= FILLED_AT_LEAST && self.is_turn_over() {
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
            },
            Ready::ForSandbox { target, fault: None, .. } => self.keep(target, now),
            Ready::ForSandbox { target, fault: Some(answer), read_at } => {
                self.tally.file(&[target.ordinal], sandbox::outcome(answer), read_at);
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
        let localized = self.renderer.localized(&target.locale);
        let content = match way {
            Way::Key(_) => self.renderer.rendered(localized, now),
            Way::Amazon(_) => self.renderer.rendered_for_amazon(localized, now),
        };
        match content {
            Ok(content) => {
                let is_filled_in = self.fill_in(&mut target, &content, now);
                is_filled_in.then_some(OutgoingRequest::Message { provider, target, content, way, read_at })
            }
            Err(reason) => self.reject(&[target], &reason.to_string()),
        }
    }

    /// Works out the texts of a recipient, where everybody has their own. A recipient without a value that the push needs is dealt
    /// with, and is not to be sent to.
    fn fill_in(&mut self, target: &mut Target, content: &RenderedPush, now: UtcMillis) -> bool {
        if !self.renderer.is_personal() {
            return true;
        }
        match self.renderer.texts_for(content.text_numbers(), &target.values, now) {
            Ok(texts) => {
                target.texts = texts;
                true
            }
            Err(reason) => {
                self.reject(std::slice::from_ref(target), &reason.to_string());
                false
            }
        }
    }

    /// Keeps the request for the developer to look at.
    fn keep(&mut self, mut target: Target, now: UtcMillis) -> Option<OutgoingRequest<'a>> {
        let push = self.context.push;
        let localized = self.renderer.localized(&target.locale);
        match self.renderer.rendered(localized, now) {
            Ok(rendered) => {
                if !self.fill_in(&mut target, &rendered, now) {
                    return None;
                }
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
                    self.keep_live(&target, localized, now);
                }
                None
            }
            Err(reason) => self.reject(&[target], &reason.to_string()),
        }
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
