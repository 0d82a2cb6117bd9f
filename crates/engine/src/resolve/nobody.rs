//! Why a push goes to nobody, as a sentence for its status: otherwise one that did not arrive looks like one that did.

use std::collections::BTreeSet;

use audience::index::Index;
use audience::plan::Plan;
use model::payload::Push;
use model::term::{Reach, Term};

use super::{ByDeviceType, device_types};
use crate::plan::term_plan;
use crate::reach;

/// Others of the run were quicker.
pub(super) const ALL_SERVED: &str = "Everybody who matches the audience gets another push of the same run.";

/// The channels of an audience that a push does not go to, by the reason. They are not counted for a push that goes to some: its
/// audience would have to be worked out once more.
#[derive(Default)]
struct LeftOut {
    opted_out: u64,
    without_address: u64,
    /// The push has nothing for their device type.
    without_content: u64,
}

/// For a push without recipients. Its message may have come into inboxes all the same.
pub(super) fn why_nobody(
    index: &Index,
    push: &Push,
    audience: &Plan,
    unknown: &BTreeSet<String>,
    holders: &ByDeviceType,
) -> String {
    let matched = index.count(&audience.clone().normalize());
    let mut why = if matched == 0 && !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(String::as_str).collect();
        format!("Nobody matches the audience: there is no {}.", names.join(", no "))
    } else if matched == 0 {
        "Nobody matches the audience; aerogram audience explain and POST /api/audience/explain show why.".to_owned()
    } else {
        let match_it = if matched == 1 { "matches" } else { "match" };
        match LeftOut::of(index, push, audience).parts() {
            parts if parts.is_empty() => {
                format!("{matched} {match_it} the audience, but not the device types of the push.")
            }
            parts => format!("{matched} {match_it} the audience: {}.", parts.join(", ")),
        }
    };
    let n_holders: u64 = holders.iter().map(|(_, set)| set.len()).sum();
    if n_holders > 0 {
        why.push_str(&format!(" Its message is in the inboxes of {n_holders}."));
    }
    why
}

impl LeftOut {
    fn of(index: &Index, push: &Push, audience: &Plan) -> Self {
        let mut left_out = Self::default();
        let count = |parts: Vec<Plan>| index.count(&Plan::And(parts).normalize());
        for device_type in device_types(&push.device_types, index) {
            let of_type = vec![term_plan(index, &Term::DeviceType(device_type.clone())), audience.clone()];
            let addressed = [of_type.clone(), vec![term_plan(index, &Term::Reach(Reach::Addressed))]].concat();
            let matched = count(of_type);
            if reach::needed(push, &device_type).is_none() {
                left_out.without_content += matched;
                continue;
            }
            // Nobody is reached as the push needs it, so whoever has an address is opted out.
            let addressed = count(addressed).min(matched);
            left_out.opted_out += addressed;
            left_out.without_address += matched - addressed;
        }
        left_out
    }

    fn parts(&self) -> Vec<String> {
        let Self { opted_out, without_address, without_content } = *self;
        let counted = [
            (opted_out, "opted out"),
            (without_address, "without an address"),
            (without_content, "of a device type that the push has nothing for"),
        ];
        counted.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect()
    }
}
