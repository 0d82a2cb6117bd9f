//! Messages to an open platform: many with the same content in one request.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::ids::{Ordinal, PushId};
use model::time::UtcMillis;
use providers::http::Client;
use providers::open::{self, BatchOutcome, OpenPlatformConfig};
use providers::outcome::Outcome;
use providers::{NotSendable, RenderedPush};

use super::render::Localized;
use super::target::Target;

/// Messages that fit into one request to an endpoint.
pub(super) struct Batch {
    content: Arc<RenderedPush>,
    targets: Vec<Target>,
}

/// Groups recipients who get the same content; every group has room in one request.
pub(super) fn grouped(
    targets: Vec<Target>,
    at_most: usize,
    localized: impl Fn(&Target) -> Localized,
) -> Vec<(Localized, Vec<Target>)> {
    let mut by_content: BTreeMap<Localized, Vec<Target>> = BTreeMap::new();
    let mut groups = Vec::new();
    for target in targets {
        let content = localized(&target);
        let group = by_content.entry(content).or_default();
        group.push(target);
        if group.len() == at_most {
            groups.push((content, std::mem::take(group)));
        }
    }
    groups.extend(by_content.into_iter().filter(|(_, group)| !group.is_empty()));
    groups
}

impl Batch {
    pub(super) fn new(content: Arc<RenderedPush>, targets: Vec<Target>) -> Self {
        Self { content, targets }
    }

    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }

    /// A request that is refused is sent again in halves, so that one bad message takes no other with it.
    pub(super) async fn deliver(
        self,
        http: &Client,
        config: &OpenPlatformConfig,
        push: PushId,
        now: UtcMillis,
    ) -> Vec<(Vec<Ordinal>, Outcome)> {
        let ordinals = |targets: &[Target]| targets.iter().map(|target| target.ordinal).collect();
        let RenderedPush::Open(content) = &*self.content else {
            let outcome = Outcome::Rejected { reason: NotSendable::NothingToSend.to_string() };
            return vec![(ordinals(&self.targets), outcome)];
        };
        let mut answers = Vec::new();
        let mut waiting = vec![self.targets.as_slice()];
        while let Some(targets) = waiting.pop() {
            let filled: Vec<_> = targets.iter().map(|target| target.filled(push)).collect();
            let batch = content.batch(&filled);
            let (now_sent, too_many) = targets.split_at(batch.n_values);
            if !too_many.is_empty() {
                waiting.push(too_many);
            }
            match open::deliver(http, config, batch, now).await {
                BatchOutcome::Each(outcome) => answers.push((ordinals(now_sent), outcome)),
                BatchOutcome::Split => waiting.extend(<[_; 2]>::from(now_sent.split_at(now_sent.len() / 2))),
            }
        }
        answers
    }
}
