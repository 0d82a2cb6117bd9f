//! Why a push goes to nobody, as a sentence for its status: otherwise one that did not arrive looks like one that did.

use std::collections::BTreeSet;

use audience::index::Index;
use audience::plan::Plan;
use index::term_plan;
use model::origin::{Part, VariantPart};
use model::payload::Push;
use model::term::{Reach, Term};
use targeting::device_types;

use super::ByDeviceType;
use crate::part::Narrowed;
use crate::reach;

/// Others of the run were quicker.
pub(super) const ALL_SERVED: &str = "Everybody it would have gone to gets another push of the same run.";

/// The channels of the part of an audience that a push does not go to, by the reason. They are not counted for a push that goes
/// to some: its audience would have to be worked out once more.
#[derive(Default)]
struct LeftOut {
    served: u64,
    opted_out: u64,
    without_background: u64,
    without_address: u64,
    /// The push has nothing for their device type.
    without_content: u64,
    of_other_types: u64,
}

/// For a push without recipients. Its message may have come into inboxes all the same.
pub(super) fn why_nobody(
    index: &Index,
    push: &Push,
    audience: &Narrowed,
    part: &Part,
    unknown: &BTreeSet<String>,
    holders: &ByDeviceType,
) -> String {
    let [n_all, n_meant] = [&audience.whole, &audience.part].map(|plan| index.count(plan));
    let mut why = if n_all == 0 {
        no_match(part, unknown)
    } else {
        let mut why = match part {
            Part::Triggered => format!("{n_all} triggered it"),
            Part::Everybody | Part::Clocks(_) | Part::Variant(_) if n_all == 1 => "1 matches the audience".to_owned(),
            Part::Everybody | Part::Clocks(_) | Part::Variant(_) => format!("{n_all} match the audience"),
        };
        if n_meant == 0 {
            why.push_str(&format!(", none {}", name_of(part)));
        } else if n_meant < n_all {
            why.push_str(&format!(", {n_meant} {}", name_of(part)));
        }
        let left_out = LeftOut::of(index, push, n_meant, &audience.left).told();
        if !left_out.is_empty() {
            why.push_str(&format!(": {}", left_out.join(", ")));
        }
        why + "."
    };
    let n_holders: u64 = holders.iter().map(|(_, set)| set.len()).sum();
    if n_holders > 0 {
        why.push_str(&format!(" Its message is in the inboxes of {n_holders}."));
    }
    why
}

fn no_match(part: &Part, unknown: &BTreeSet<String>) -> String {
    if *part == Part::Triggered {
        return "The channel that triggered it is uninstalled.".to_owned();
    }
    if unknown.is_empty() {
        return "Nobody matches the audience; aerogram audience explain and POST /api/audience/explain show why."
            .to_owned();
    }
    let names: Vec<&str> = unknown.iter().map(String::as_str).collect();
    format!("Nobody matches the audience: there is no {}.", names.join(", no "))
}

/// Where those are whom a push of several with the same audience is for.
const fn name_of(part: &Part) -> &'static str {
    match part {
        Part::Everybody | Part::Triggered => "of them",
        Part::Clocks(_) => "in the time zones of this push",
        Part::Variant(VariantPart { clocks: None, .. }) => "in this variant",
        Part::Variant(VariantPart { clocks: Some(_), .. }) => "in this variant and the time zones of this push",
    }
}

impl LeftOut {
    /// Of as many as the push is meant for, and those of them whom no other push of the run has served.
    fn of(index: &Index, push: &Push, n_meant: u64, left: &Plan) -> Self {
        let n_left = index.count(left);
        let mut left_out = Self { served: n_meant.saturating_sub(n_left), ..Self::default() };
        let mut of_its_types = 0;
        let count = |parts: Vec<Plan>| index.count(&Plan::And(parts).normalize());
        for device_type in device_types(&push.device_types, index) {
            let of_type = vec![term_plan(index, &Term::DeviceType(device_type.clone())), left.clone()];
            let addressed = [of_type.clone(), vec![term_plan(index, &Term::Reach(Reach::Addressed))]].concat();
            let matched = count(of_type);
            of_its_types += matched;
            let Some(reach) = reach::needed(push, &device_type) else {
                left_out.without_content += matched;
                continue;
            };
            // Nobody is reached as the push needs it, so whoever has an address lacks the rest of what it needs.
            let addressed = count(addressed).min(matched);
            match reach {
                Reach::Alert => left_out.opted_out += addressed,
                Reach::Silent => left_out.without_background += addressed,
                Reach::Addressed => {}
            }
            left_out.without_address += matched - addressed;
        }
        left_out.of_other_types = n_left.saturating_sub(of_its_types);
        left_out
    }

    fn told(&self) -> Vec<String> {
        let Self { served, opted_out, without_background, without_address, without_content, of_other_types } = *self;
        let counted = [
            (served, "with another push of the same run"),
            (opted_out, "opted out"),
            (without_background, "not taking background pushes"),
            (without_address, "without an address"),
            (without_content, "of a device type that the push has nothing for"),
            (of_other_types, "of other device types"),
        ];
        counted.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect()
    }
}
