//! Selectors by attribute, as sets of channels: attributes are not terms, since there is no end of values.

use std::collections::BTreeMap;

use audience::plan::Plan;
use base::{Error, Result};
use devices::parse_stored_attribute as parse;
use model::attribute::{AttributeValue, matches};
use model::ids::Ordinal;
use model::property::{DeviceAttribute, Source};
use model::selector::{Atomic, Attribute, Selector};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::attributes::{self, Values};

use crate::plan::Planner;

/// Of this many channels all attributes are read; of more, all values under a name.
const FEW: u64 = 1_000;

/// A selector by attribute that is being answered.
pub(crate) struct Question<'s> {
    pub(crate) selector: &'s Attribute,
    /// Whether channels without the attribute are meant. They have no row to be found by, so that the others are collected.
    selects_without: bool,
    /// Those with a value that is meant, and, where it matters, those with one that is not.
    meant: RoaringBitmap,
    having: RoaringBitmap,
}

impl Planner<'_, '_> {
    /// The attribute of a channel is its own, or else that of its named user.
    pub(crate) fn attribute(&mut self, selector: &Attribute) -> Result<Plan> {
        let asked = self.attributes.get(&selector.attribute).into_iter().flatten();
        let found = asked.into_iter().find(|(known, _)| known == selector).map(|(_, plan)| plan.clone());
        found.ok_or_else(|| Error::internal("a selector by attribute was not prepared"))
    }

    /// Answers all selectors by attribute in some selectors. The values under a name are read once for all of them: there may be
    /// as many as channels.
    pub(crate) fn find_attributes<'s>(&mut self, selectors: impl Iterator<Item = &'s Selector>) -> Result<()> {
        let mut by_name: BTreeMap<&str, Vec<Question<'s>>> = BTreeMap::new();
        for atomic in selectors.flat_map(Selector::atoms) {
            if let Atomic::Attribute(selector) = atomic {
                let asked = by_name.entry(&selector.attribute).or_default();
                if !asked.iter().any(|question| *question.selector == **selector) {
                    asked.push(Question::new(selector, self.now));
                }
            }
        }
        let mut told = Vec::new();
        for (name, mut questions) in by_name {
            let of_device = DeviceAttribute::named(name).map(|attribute| (attribute, &attribute.source));
            let plans: Vec<(Attribute, Plan)> = match of_device {
                Some((attribute, Source::Tags(groups))) => {
                    let plan = |one: &Question<'_>| self.of_device_tags(attribute, groups, one.selector);
                    questions.iter().map(|one| (one.selector.clone(), plan(one))).collect()
                }
                Some((attribute, Source::Profiles { .. })) => {
                    told.push((attribute, questions));
                    continue;
                }
                None => {
                    self.answer(name, &mut questions)?;
                    questions.into_iter().map(Question::answered).collect()
                }
            };
            self.attributes.entry(name.to_owned()).or_default().extend(plans);
        }
        self.ask_profiles(&mut told)?;
        for (attribute, questions) in told {
            let plans = questions.into_iter().map(Question::answered);
            self.attributes.entry(attribute.name.to_owned()).or_default().extend(plans);
        }
        Ok(())
    }

    fn answer(&mut self, name: &str, questions: &mut [Question<'_>]) -> Result<()> {
        let (app, now) = (self.app, self.now);
        if let Some(only) = &self.only {
            return ask_one(questions, name, only.ordinal, &only.attributes, now);
        }
        if let Some(few) = self.attributes_of_few()? {
            for (channel, layers) in few {
                ask_one(questions, name, *channel, layers, now)?;
            }
            return Ok(());
        }
        let mut own = RoaringBitmap::new();
        let mut ask_own = |Ordinal(number): Ordinal, value: &str| -> store::Result<()> {
            if ask_all(questions, number, value, now)? {
                own.insert(number);
            }
            Ok(())
        };
        attributes::for_each_channel(self.tx, app, name, &mut ask_own)?;
        attributes::for_each_instance(self.tx, app, name, &mut ask_own)?;
        let mut ask_user = |Ordinal(number): Ordinal, value: &str| -> store::Result<()> {
            if !own.contains(number) {
                ask_all(questions, number, value, now)?;
            }
            Ok(())
        };
        attributes::for_each_channel_of_users(self.tx, app, name, &mut ask_user)?;
        attributes::for_each_instance_of_users(self.tx, app, name, &mut ask_user)?;
        Ok(())
    }

    /// The attributes of the channels that are asked about, if those are few.
    fn attributes_of_few(&mut self) -> Result<Option<&BTreeMap<Ordinal, [Values; 2]>>> {
        let Some(asked) = self.asked.as_mut().filter(|asked| asked.channels.len() <= FEW) else { return Ok(None) };
        if asked.attributes.is_none() {
            let channels: Vec<Ordinal> = asked.channels.iter().map(Ordinal).collect();
            asked.attributes = Some(attributes::of_each_channel(self.tx, self.app, &channels)?);
        }
        Ok(asked.attributes.as_ref())
    }
}

/// Asks about one channel, by its own attributes or else those of its named user.
fn ask_one(
    questions: &mut [Question<'_>],
    name: &str,
    Ordinal(number): Ordinal,
    layers: &[Values; 2],
    now: UtcMillis,
) -> Result<()> {
    for values in layers {
        let mut is_there = false;
        for (_, value) in values.iter().filter(|(known, _)| attributes::is_of(name, known)) {
            is_there |= ask_all(questions, number, value, now)?;
        }
        if is_there {
            break;
        }
    }
    Ok(())
}

/// Asks whether a value is meant, and returns whether there is one: a value that has ended is none.
fn ask_all(questions: &mut [Question<'_>], number: u32, value: &str, now: UtcMillis) -> store::Result<bool> {
    let value = parse(value)?;
    let is_there = !value.has_ended(now);
    if is_there {
        questions.iter_mut().for_each(|question| question.ask(number, &value, now));
    }
    Ok(is_there)
}

impl<'s> Question<'s> {
    fn new(selector: &'s Attribute, now: UtcMillis) -> Self {
        let selects_without = matches(selector, None, now);
        Self { selector, selects_without, meant: RoaringBitmap::new(), having: RoaringBitmap::new() }
    }

    fn ask(&mut self, number: u32, value: &AttributeValue, now: UtcMillis) {
        self.note(number, matches(self.selector, Some(value), now));
    }

    /// A channel has a value, which is meant or not.
    pub(crate) fn note(&mut self, number: u32, is_meant: bool) {
        if is_meant {
            self.meant.insert(number);
        } else if self.selects_without {
            self.having.insert(number);
        }
    }

    pub(crate) fn note_all(&mut self, channels: &RoaringBitmap, are_meant: bool) {
        if are_meant {
            self.meant |= channels;
        } else if self.selects_without {
            self.having |= channels;
        }
    }

    fn answered(self) -> (Attribute, Plan) {
        (self.selector.clone(), self.plan())
    }

    /// Of several instances one is enough.
    fn plan(self) -> Plan {
        match self.selects_without {
            true => complement_if(true, Plan::Set(self.having - self.meant)),
            false => Plan::Set(self.meant),
        }
    }
}

pub(crate) fn complement_if(is_complement: bool, plan: Plan) -> Plan {
    if is_complement { Plan::Not(Box::new(plan)) } else { plan }
}
