//! The changes of an upload to the channel itself, written once, and only if something is different.

use std::collections::{BTreeMap, BTreeSet};

use base::Result;
use devices::ChangeContext;
use model::channel::{Profile, TagOperation, TagSets, UsageUpdate};
use model::device_event::AppOpening;
use model::payload::Push;
use model::payload::actions::{Actions, Subject, TagOperation as ActionTags};
use model::tag::{Tag, TagGroup};
use store::Tx;
use store::channels::Channel;

pub(super) struct Changes {
    usage: UsageUpdate,
    tags: Vec<TagOperation>,
}

impl Changes {
    pub(super) fn new(usage: UsageUpdate) -> Self {
        Self { usage, tags: Vec::new() }
    }

    pub(super) fn opened(&mut self, opened: &AppOpening) {
        self.usage.connection_type(opened.connection_type.as_deref());
        self.usage.carrier(opened.carrier.as_deref());
        self.usage.utc_offset_seconds = opened.utc_offset_seconds.or(self.usage.utc_offset_seconds);
    }

    pub(super) fn identifiers(&mut self, identifiers: &BTreeMap<String, String>) {
        self.usage.identifiers(identifiers.clone());
    }

    /// The tag changes of a push's button. Most devices make them by themselves; making them twice changes nothing more.
    pub(super) fn pressed(&mut self, push: &Push, profile: &Profile, button: &str) {
        let interactive =
            push.notification.as_ref().and_then(|notification| notification.interactive_on(&profile.device_type));
        let actions = interactive.and_then(|interactive| interactive.button_actions.as_ref()?.get(button));
        if let Some(actions) = actions {
            self.tags.extend(tag_operations(actions));
        }
    }

    pub(super) fn write(
        self,
        tx: &mut Tx<'_>,
        context: &mut ChangeContext<'_>,
        row: Channel,
        profile: Profile,
    ) -> Result<()> {
        let updated = self.usage.apply(&profile);
        if self.tags.is_empty() && updated.is_none() {
            return Ok(());
        }
        let opened = context.open_with(tx, row, profile)?;
        let mut after = match updated {
            Some(profile) => opened.state.with_profile(profile),
            None => opened.state.clone(),
        };
        for operation in &self.tags {
            operation.apply(&mut after.own.tags);
        }
        // A channel that has as many tags as it may have keeps those: no event is lost for it.
        if after.own.check_number_of_tags().is_err() {
            after.own.tags.clone_from(&opened.state.own.tags);
        }
        context.save(tx, opened, after)?;
        Ok(())
    }
}

fn tag_operations(actions: &Actions) -> Vec<TagOperation> {
    let of_device = |tags: &[Tag]| TagSets::from([(TagGroup::device(), tags.iter().cloned().collect())]);
    let edit = |add: TagSets, remove: TagSets| TagOperation::Edit { add, remove };
    let mut operations = Vec::new();
    operations.extend(actions.remove_tag.as_ref().map(|tags| edit(TagSets::new(), of_device(tags.as_slice()))));
    operations.extend(actions.add_tag.as_ref().map(|tags| edit(of_device(tags.as_slice()), TagSets::new())));
    for change in actions.tags.iter().flatten() {
        let group = change.group.clone().unwrap_or_else(TagGroup::device);
        // Tags of the person behind the channel are changed by the device, which knows the person.
        if change.subject != Subject::Channel || group.is_read_only() {
            continue;
        }
        let sets = TagSets::from([(group, change.tags.as_slice().iter().cloned().collect::<BTreeSet<_>>())]);
        operations.push(match change.operation {
            ActionTags::Add => edit(sets, TagSets::new()),
            ActionTags::Remove => edit(TagSets::new(), sets),
        });
    }
    operations
}
