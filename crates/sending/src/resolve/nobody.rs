//! Why a push goes to nobody, as a sentence for its status: otherwise one that did not arrive looks like one that did.

use std::collections::BTreeSet;

use model::origin::{Part, VariantPart};
use model::push_outcome::LeftOut;

use super::{ByDeviceType, Excluded};

/// Others of the run were quicker.
pub(super) const ALL_SERVED: &str = "Everybody it would have gone to gets another push of the same run.";

/// How many an audience has, how many of them the push is meant for, and why these get nothing.
pub(super) struct Matched<'a> {
    pub(super) n_matched: u64,
    pub(super) n_meant: u64,
    pub(super) left_out: &'a Excluded,
}

/// For a push without recipients. Its message may have come into inboxes all the same.
pub(super) fn why_nobody(
    &Matched { n_matched, n_meant, left_out }: &Matched<'_>,
    part: &Part,
    unknown: &BTreeSet<String>,
    holders: &ByDeviceType,
) -> String {
    let mut why = if n_matched == 0 {
        no_match(part, unknown)
    } else {
        let mut why = match part {
            Part::Triggered => format!("{n_matched} triggered it"),
            Part::Everybody | Part::Clocks(_) | Part::Variant(_) if n_matched == 1 => {
                "1 matches the audience".to_owned()
            }
            Part::Everybody | Part::Clocks(_) | Part::Variant(_) => format!("{n_matched} match the audience"),
        };
        if n_meant == 0 {
            why.push_str(&format!(", none {}", name_of(part)));
        } else if n_meant < n_matched {
            why.push_str(&format!(", {n_meant} {}", name_of(part)));
        }
        let left_out = told(left_out);
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

/// Those whom the push is meant for, by why they get nothing.
fn told(left_out: &Excluded) -> Vec<String> {
    let named = [
        (LeftOut::Served, "with another push of the same run"),
        (LeftOut::OptedOut, "opted out"),
        (LeftOut::WithoutBackground, "not taking background pushes"),
        (LeftOut::WithoutAddress, "without an address"),
        (LeftOut::NotFollowing, "without the Live Activity or Live Update"),
        (LeftOut::WithoutContent, "of a device type that the push has nothing for"),
        (LeftOut::OtherDeviceType, "of other device types"),
    ];
    let counted = named.into_iter().map(|(why, what)| (left_out.count(why), what));
    counted.filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect()
}
