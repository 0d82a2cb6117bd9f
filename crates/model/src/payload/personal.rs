//! Texts of a push that differ from recipient to recipient: which they are, and how a push is rendered once for all of them.
//!
//! The parts of texts that vary are taken out and numbered, and marks stand in their places. A push with marks is rendered
//! like any other; providers find the marks in their bodies, and put in the texts of each recipient.

mod asking;
mod body;
mod form;
mod marks;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use personalization::{Target, Template, Unrenderable, ValueMap, Values};

use super::Push;
use super::message::MessageContent;
use super::template::TemplateSource;
use crate::json::{self, At, Json};
use crate::problem::{Problem, Problems};
use crate::selector::Purpose;
use crate::time::UtcMillis;
use walk::{Filler, Marker};

pub(crate) use asking::{asks_for_values, may_have_tags};
pub use body::PersonalizedBody;
pub(crate) use form::Form;
pub use marks::{Piece, pieces};
pub(crate) use walk::{check_parts, have_tags};

/// A push whose texts have tags.
#[derive(Clone, Debug)]
pub struct PersonalizedPush {
    /// With marks where something varies; tags that say the same to everybody are replaced by what they say.
    pub push: Push,
    /// There may be none: a comment is a tag, too.
    pub texts: VaryingTexts,
}

/// What varies, by the numbers of the marks.
#[derive(Clone, Debug)]
pub struct VaryingTexts {
    texts: Vec<VaryingText>,
    /// What the push itself says about everybody.
    global: ValueMap,
}

#[derive(Clone, Debug)]
struct VaryingText {
    template: Template,
    target: Target,
    form: Form,
    /// Of the inline template that the text is in, which all of its texts share.
    defaults: Arc<ValueMap>,
}

impl Push {
    /// Whether `{{` in its texts means anything.
    pub fn is_personalized(&self) -> bool {
        let is_asked = self.options.as_ref().and_then(|options| options.personalization) == Some(true);
        let has_values =
            || self.recipients().is_some_and(|(_, all)| all.as_slice().iter().any(|one| !one.values.is_empty()));
        is_asked
            || self.global_attributes.as_ref().is_some_and(|attributes| !attributes.is_empty())
            || self.feed_references.is_some()
            || self.snippet_references.is_some()
            || self.has_inline_template()
            || has_values()
            || self.bulk_upload().is_some()
    }

    fn has_inline_template(&self) -> bool {
        let of_notifications = self.notifications().flat_map(|(_, notification)| notification.templates());
        let mut of_notifications = of_notifications.map(|(_, template)| template);
        let messages =
            self.message.iter().chain(self.localizations.iter().flatten().filter_map(|one| one.message.as_ref()));
        let mut of_messages = messages.filter_map(|message| match &message.content {
            MessageContent::Template { template } => Some(template),
            MessageContent::Text { .. } => None,
        });
        let is_inline = |source: &TemplateSource| matches!(source, TemplateSource::Fields(_));
        of_notifications.any(|template| is_inline(&template.source))
            || of_messages.any(|template| is_inline(&template.source))
    }

    /// The push with marks; `None` if it has no tags, so that it is sent as it is written. Fails if a part of it has to be of a
    /// form that it may not have once something is filled in.
    pub fn personalized(&self) -> Result<Option<PersonalizedPush>, Problems> {
        if !self.is_personalized() {
            return Ok(None);
        }
        let mut marker = Marker::default();
        let marked = marker.push(&printed(self)?);
        if !marker.has_tags {
            return Ok(None);
        }
        let global = self.global_attributes.clone().unwrap_or_default();
        Ok(Some(PersonalizedPush { push: read(&marked)?, texts: VaryingTexts { texts: marker.texts, global } }))
    }

    /// Everything that is wrong with its texts if they are personalized. The parser asks of every push of a request, and has to be
    /// asked again for texts that have come since.
    pub fn mistakes_in_texts(&self) -> Vec<Problem> {
        let look = |at: &At<'_>| {
            check(self, at);
            Some(())
        };
        match printed(self).and_then(|printed| json::read_tree(&printed, look)) {
            Ok(()) => Vec::new(),
            Err(problems) => problems.iter().cloned().collect(),
        }
    }
}

impl PersonalizedPush {
    /// The push as one recipient gets it.
    pub fn filled(&self, values: &ValueMap, now: UtcMillis) -> Result<Result<Push, Problems>, Unrenderable> {
        let printed = match printed(&self.push) {
            Ok(printed) => printed,
            Err(problems) => return Ok(Err(problems)),
        };
        let texts = self.texts.rendered(walk::marks_in(&printed).into_iter(), values, now)?;
        Ok(read(&Filler { texts: &texts }.push(&printed)))
    }

    /// The push without anything that varies: the least of it that anybody gets.
    pub fn unfilled(&self) -> Result<Push, Problems> {
        let constant = |text: &VaryingText| text.template.constant_parts();
        let texts: Vec<String> = self.texts.texts.iter().map(constant).collect();
        read(&Filler { texts: &texts }.push(&printed(&self.push)?))
    }
}

impl VaryingTexts {
    /// The names under which values of recipients are looked for.
    pub fn names(&self) -> BTreeSet<String> {
        self.texts.iter().flat_map(|text| text.template.names()).collect()
    }

    /// Those of the names without a value for a recipient. An instance of an attribute is missing only where the attribute is.
    pub fn missing(&self, values: &ValueMap) -> BTreeSet<String> {
        let has = |text: &VaryingText, name: &str| {
            [values, &self.global, &text.defaults].iter().any(|layer| layer.contains_key(name))
        };
        let mut missing = BTreeSet::new();
        for text in &self.texts {
            let names = text.template.names();
            let known: BTreeSet<&str> =
                names.iter().filter(|name| has(text, name)).filter_map(|name| name.split('#').next()).collect();
            missing.extend(names.iter().filter(|name| !name.contains('#') && !known.contains(name.as_str())).cloned());
        }
        missing
    }

    /// The texts of the marks with these numbers for a recipient with these values, each in its place; others are empty. A mark
    /// that stands several times in a message comes several times: what is filled in together has a limit.
    pub fn rendered(
        &self,
        numbers: impl Iterator<Item = usize>,
        values: &ValueMap,
        now: UtcMillis,
    ) -> Result<Vec<String>, Unrenderable> {
        let mut rendered = vec![String::new(); self.texts.len()];
        let (mut n_steps, mut n_bytes) = (0, 0);
        for number in numbers {
            let (Some(text), Some(place)) = (self.texts.get(number), rendered.get_mut(number)) else { continue };
            if place.is_empty() {
                let VaryingText { template, target, form, defaults } = text;
                let values = Values { layers: &[values, &self.global, defaults], now: now.0 };
                *place = template.render_as_one_of(*target, &values, &mut n_steps)?;
                form.judge(place)?;
            }
            n_bytes += place.len();
            if n_bytes > personalization::limits::OUTPUT_BYTES {
                return Err(Unrenderable::TooLong);
            }
        }
        Ok(rendered)
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

/// Notes everything that is wrong with the texts of a personalized push.
pub(super) fn check(push: &Push, at: &At<'_>) {
    if !push.is_personalized() {
        return;
    }
    walk::check(at);
    if at.is_clean()
        && let Err(problems) = push.personalized()
    {
        for problem in problems.iter() {
            at.invalid_key::<()>(&problem.path, problem.message.clone());
        }
    }
}

fn printed(push: &Push) -> Result<Json, Problems> {
    Json::from_slice(&serde_json::to_vec(push).unwrap_or_default())
}

fn read(push: &Json) -> Result<Push, Problems> {
    json::read_tree(push, |at| Push::parse_with(at, Purpose::Stored))
}
