//! Selectors by what devices tell about themselves: by tags where these are the values, and otherwise by the profiles of channels.
//! There may be as many values as devices, which is why most are no terms of the index; where tags say enough, no profile is read.

use audience::block::blocks;
use audience::plan::Plan;
use base::{Error, Result};
use model::channel::Profile;
use model::ids::Ordinal;
use model::property::{DeviceAttribute, Source};
use model::selector::Attribute;
use model::tag::{Tag, TagGroup};
use model::term::Term;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::recipients;

use crate::attributes::{Question, complement_if};
use crate::plan::{OneChannel, Planner};

/// Selectors by an attribute that is in profiles.
pub(crate) type Told<'s> = (&'static DeviceAttribute, Vec<Question<'s>>);

impl Planner<'_, '_> {
    /// A selector by an attribute whose values are tags.
    pub(crate) fn of_device_tags(
        &self,
        attribute: &DeviceAttribute,
        groups: &[&'static str],
        selector: &Attribute,
    ) -> Plan {
        if let Some(only) = &self.only {
            let own = self.own_value(groups, only);
            let is_meant = attribute.satisfies(selector, own.as_deref(), self.now);
            return if is_meant { Plan::Everyone } else { Plan::Nobody };
        }
        let selects_without = attribute.satisfies(selector, None, self.now);
        let mut otherwise = Vec::new();
        for (group, tag) in self.tags_of(groups) {
            if attribute.satisfies(selector, Some(tag.as_str()), self.now) != selects_without {
                otherwise.push(self.tag(&group, &tag));
            }
        }
        complement_if(selects_without, Plan::Or(otherwise))
    }

    /// Answers selectors by the profiles of channels, each of which is read once for all of them.
    pub(crate) fn ask_profiles(&mut self, told: &mut [Told<'_>]) -> Result<()> {
        let now = self.now;
        if let Some(only) = &self.only {
            return if told.is_empty() { Ok(()) } else { ask(told, only.ordinal, &only.profile, now) };
        }
        let mut undecided = RoaringBitmap::new();
        for (attribute, questions) in told.iter_mut() {
            for question in questions {
                undecided |= self.undecided(attribute, question);
            }
        }
        if let Some(asked) = &self.asked {
            undecided &= &asked.channels;
        }
        for (_, channels) in blocks(&undecided) {
            let ordinals: Vec<Ordinal> = channels.iter().map(Ordinal).collect();
            for (ordinal, profile) in recipients::profiles_among(self.tx, self.app, &ordinals)? {
                ask(told, ordinal, &profile, now)?;
            }
        }
        Ok(())
    }

    /// Answers a selector for the channels whose tags say enough, and returns those that may have other values.
    fn undecided(&self, attribute: &DeviceAttribute, question: &mut Question<'_>) -> RoaringBitmap {
        let Source::Profiles { tellers, groups } = &attribute.source else { return RoaringBitmap::new() };
        let types: Vec<Plan> =
            tellers.device_types().into_iter().map(|one| self.term(&Term::DeviceType(one))).collect();
        let tellers = if types.is_empty() { Plan::Everyone } else { Plan::Or(types) };
        let mut undecided = self.index.resolve(&tellers.normalize());
        for (group, tag) in self.tags_of(groups) {
            if let Some(are_meant) = attribute.decides(question.selector, tag.as_str()) {
                let channels = self.index.resolve(&self.tag(&group, &tag).normalize());
                question.note_all(&channels, are_meant);
                undecided -= channels;
            }
        }
        undecided
    }

    fn tags_of(&self, groups: &[&'static str]) -> Vec<(TagGroup, Tag)> {
        let of_group = |group: &&'static str| {
            let named = |tag: String| Some((TagGroup::new(group).ok()?, Tag::new(&tag).ok()?));
            self.index.tags(group).into_iter().filter_map(named).collect::<Vec<_>>()
        };
        groups.iter().flat_map(of_group).collect()
    }

    /// What one channel has told about itself. Devices make up values, so that all of them together are many.
    fn own_value(&self, groups: &[&'static str], only: &OneChannel) -> Option<String> {
        let mut own = None;
        self.index.visit_names(&only.terms, |_, name| {
            if let Some((group, tag)) = name
                && groups.contains(&group)
            {
                own = Some(tag.to_owned());
            }
        });
        own
    }
}

fn ask(told: &mut [Told<'_>], Ordinal(number): Ordinal, profile: &str, now: UtcMillis) -> Result<()> {
    let profile: Profile = serde_json::from_str(profile).map_err(Error::internal)?;
    for (attribute, questions) in told {
        let Some(value) = profile.device_attribute(attribute.name) else { continue };
        for question in questions {
            question.note(number, attribute.satisfies(question.selector, Some(&value), now));
        }
    }
    Ok(())
}
