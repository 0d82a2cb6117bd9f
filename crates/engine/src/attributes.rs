//! Attributes of channels and named users: changing them, reading them, and who has one that a selector asks for.

use std::collections::{BTreeMap, BTreeSet};

use audience::plan::Plan;
use model::attribute::{AttributeAction, AttributeOperation, AttributeUpdate, AttributeValue, matches};
use model::channel::ChannelRef;
use model::ids::{AppId, NamedUserId, Ordinal};
use model::limits;
use model::selector::{Atomic, Attribute, Selector};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::attributes::{self, Owner, Values, Write};
use store::{Tx, named_users};

use crate::change_context::ChangeContext;
use crate::plan::Planner;
use crate::{Engine, Error, Result};

/// Attributes by their keys.
pub type Attributes = BTreeMap<String, AttributeValue>;

impl Engine {
    /// Channels that are unknown, uninstalled or of another type are skipped; named users are created if necessary.
    pub async fn change_attributes(&self, app: AppId, update: AttributeUpdate) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            for channel in context.installed(tx, update.audience.channels())? {
                context.change_attributes(tx, &Owner::Channel(channel.ordinal), &update.operations)?;
            }
            for user in update.audience.named_users() {
                context.change_user_attributes(tx, user, &update.operations)?;
            }
            Ok(())
        })
        .await
    }

    /// Changes the attributes of one channel, which must exist.
    pub async fn change_channel_attributes(
        &self,
        app: AppId,
        channel: ChannelRef,
        operations: Vec<AttributeOperation>,
    ) -> Result<()> {
        self.change_audience(app, move |tx, context| {
            let row = context.installed_one(tx, &channel)?;
            context.change_attributes(tx, &Owner::Channel(row.ordinal), &operations)
        })
        .await
    }

    /// Changes the attributes of a named user, who is created if necessary.
    pub async fn change_user_attributes(
        &self,
        app: AppId,
        user: NamedUserId,
        operations: Vec<AttributeOperation>,
    ) -> Result<()> {
        self.change_audience(app, move |tx, context| context.change_user_attributes(tx, &user, &operations)).await
    }
}

impl ChangeContext<'_> {
    pub(crate) fn change_user_attributes(
        &self,
        tx: &mut Tx<'_>,
        user: &NamedUserId,
        operations: &[AttributeOperation],
    ) -> Result<()> {
        if operations.is_empty() {
            return Ok(());
        }
        named_users::ensure(tx, self.app, user, self.journal.now())?;
        named_users::touch(tx, self.app, user, self.journal.now())?;
        self.change_attributes(tx, &Owner::NamedUser(user.clone()), operations)
    }

    pub(crate) fn change_attributes(
        &self,
        tx: &mut Tx<'_>,
        owner: &Owner,
        operations: &[AttributeOperation],
    ) -> Result<()> {
        let current = attributes_of(tx, self.app, owner)?;
        check_number(&current, operations)?;
        let writes = operations.iter().map(|operation| {
            let name = operation.key.as_str().to_owned();
            let value = operation.value(current.get(&name)).map(|value| serde_json::to_string(&value)).transpose();
            Ok(Write { name, value: value.map_err(Error::internal)?, at: operation.decided(self.journal.now()) })
        });
        let writes: Vec<Write> = writes.collect::<Result<_>>()?;
        Ok(attributes::write(tx, self.app, owner, &writes)?)
    }
}

pub(crate) fn attributes_of(tx: &mut Tx<'_>, app: AppId, owner: &Owner) -> Result<Attributes> {
    read(attributes::of_owner(tx, app, owner)?)
}

pub(crate) fn read(values: Values) -> Result<Attributes> {
    let read = values.into_iter().map(|(name, value)| Ok((name, parse(&value)?)));
    read.collect()
}

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

fn parse(value: &str) -> store::Result<AttributeValue> {
    serde_json::from_str(value).map_err(|error| store::Error::corrupt(format!("the value of an attribute: {error}")))
}

fn check_number(current: &Attributes, operations: &[AttributeOperation]) -> Result<()> {
    let mut names: BTreeSet<&str> = current.keys().map(String::as_str).collect();
    for operation in operations {
        match operation.action {
            AttributeAction::Set(_) | AttributeAction::SetZeroOrEmpty => names.insert(operation.key.as_str()),
            AttributeAction::Remove => names.remove(operation.key.as_str()),
        };
    }
    let (n_attributes, most) = (names.len(), limits::ATTRIBUTES_PER_OWNER);
    if n_attributes <= most {
        return Ok(());
    }
    let message = format!("A channel or named user has at most {most} attributes; this would make {n_attributes}.");
    Err(Error::invalid("attributes", message))
}
