//! Selectors by attribute, as sets of channels: attributes are not terms, since there is no end of values.

use std::collections::BTreeMap;

use audience::plan::Plan;
use base::{Error, Result};
use devices::parse_stored_attribute as parse;
use model::attribute::{AttributeValue, matches};
use model::ids::Ordinal;
use model::selector::{Atomic, Attribute, Selector};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::attributes;

use crate::plan::Planner;

/// A selector by attribute that is being answered.
struct Question<'s> {
    selector: &'s Attribute,
    /// How it treats channels without the attribute. They have no row to be found by, so the channels for which it does not hold
    /// are collected instead.
    selects_without: bool,
    otherwise: RoaringBitmap,
}

impl Planner<'_, '_> {
    /// The attribute of a channel is its own, or else that of its named user.
    pub(crate) fn attribute(&self, selector: &Attribute) -> Result<Plan> {
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
        for (name, mut questions) in by_name {
            self.answer(name, &mut questions)?;
            let plans = questions.into_iter().map(|question| (question.selector.clone(), question.plan()));
            self.attributes.entry(name.to_owned()).or_default().extend(plans);
        }
        Ok(())
    }

    fn answer(&mut self, name: &str, questions: &mut [Question<'_>]) -> Result<()> {
        let (app, now) = (self.app, self.now);
        let mut own = RoaringBitmap::new();
        attributes::for_each_channel(self.tx, app, name, |Ordinal(number), value| {
            own.insert(number);
            let value = parse(value)?;
            questions.iter_mut().for_each(|question| question.ask(number, &value, now));
            Ok(())
        })?;
        attributes::for_each_channel_of_users(self.tx, app, name, |Ordinal(number), value| {
            if !own.contains(number) {
                let value = parse(value)?;
                questions.iter_mut().for_each(|question| question.ask(number, &value, now));
            }
            Ok(())
        })?;
        Ok(())
    }
}

impl<'s> Question<'s> {
    fn new(selector: &'s Attribute, now: UtcMillis) -> Self {
        Self { selector, selects_without: matches(selector, None, now), otherwise: RoaringBitmap::new() }
    }

    fn ask(&mut self, number: u32, value: &AttributeValue, now: UtcMillis) {
        if matches(self.selector, Some(value), now) != self.selects_without {
            self.otherwise.insert(number);
        }
    }

    fn plan(self) -> Plan {
        let otherwise = Plan::Set(self.otherwise);
        if self.selects_without { Plan::Not(Box::new(otherwise)) } else { otherwise }
    }
}
