//! The changes of an upload to the channel itself, written once, and only if something is different.

use std::collections::{BTreeMap, BTreeSet};

use base::Result;
use devices::ChangeContext;
use model::channel::{Profile, TagOperation, TagSets, UsageUpdate};
use model::device_event::AppOpening;
use model::ids::PushId;
use model::payload::Push;
use model::payload::actions::{Actions, Subject, TagOperation as ActionTags};
use model::tag::{Tag, TagGroup};
use store::Tx;
use store::channels::Channel;

pub(super) struct Changes {
    usage: UsageUpdate,
    /// The tag changes of the buttons of pushes, as far as they have any.
    buttons: BTreeMap<PushId, BTreeMap<String, Vec<TagOperation>>>,
    /// The buttons that were pressed, each once, in the order of when they were pressed last: its changes of then undo all that
    /// was made of the same tags before.
    pressed: Vec<(PushId, String)>,
}

impl Changes {
    pub(super) fn new(usage: UsageUpdate) -> Self {
        Self { usage, buttons: BTreeMap::new(), pressed: Vec::new() }
    }

    pub(super) fn opened(&mut self, opened: &AppOpening) {
        self.usage.connection_type(opened.connection_type.as_deref());
        self.usage.carrier(opened.carrier.as_deref());
        self.usage.utc_offset_seconds = opened.utc_offset_seconds.or(self.usage.utc_offset_seconds);
    }

    pub(super) fn identifiers(&mut self, identifiers: &BTreeMap<String, String>) {
        self.usage.identifiers(identifiers.clone());
    }

    pub(super) fn knows_buttons_of(&self, push: PushId) -> bool {
        self.buttons.contains_key(&push)
    }

    /// Takes the buttons of a push, which has none if it is not kept.
    pub(super) fn learn_buttons_of(&mut self, id: PushId, push: Option<&Push>, profile: &Profile) {
        let notification = push.and_then(|push| push.notification.as_ref());
        let interactive = notification.and_then(|notification| notification.interactive_on(&profile.device_type));
        let buttons = interactive.and_then(|interactive| interactive.button_actions.as_ref()).into_iter().flatten();
        let changes = buttons.map(|(button, actions)| (button.clone(), tag_operations(actions)));
        self.buttons.insert(id, changes.filter(|(_, changes)| !changes.is_empty()).collect());
    }

    /// The tag changes of a push's button. Most devices make them by themselves; making them twice changes nothing more.
    pub(super) fn pressed(&mut self, push: PushId, button: &str) {
        if self.buttons.get(&push).is_some_and(|buttons| buttons.contains_key(button)) {
            self.pressed.retain(|known| (known.0, known.1.as_str()) != (push, button));
            self.pressed.push((push, button.to_owned()));
        }
    }

    fn tags(&self) -> impl Iterator<Item = &TagOperation> {
        self.pressed.iter().filter_map(|(push, button)| self.buttons.get(push)?.get(button)).flatten()
    }

    pub(super) fn write(
        self,
        tx: &mut Tx<'_>,
        context: &mut ChangeContext<'_>,
        row: Channel,
        profile: Profile,
    ) -> Result<()> {
        let updated = self.usage.apply(&profile);
        if self.pressed.is_empty() && updated.is_none() {
            return Ok(());
        }
        let opened = context.open_with(tx, row, profile)?;
        let mut after = match updated {
            Some(profile) => opened.state.with_profile(profile),
            None => opened.state.clone(),
        };
        for operation in self.tags() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::device_type::DeviceType;
    use model::json::parse;
    use uuid::Uuid;

    #[test]
    fn a_button_is_remembered_once_however_often_it_is_pressed() {
        let body = r#"{"audience": "all", "device_types": "all", "notification": {"alert": "a", "interactive": {
            "type": "ua_yes_no_background",
            "button_actions": {"yes": {"add_tag": "y", "remove_tag": "n"}, "no": {"add_tag": "n", "remove_tag": "y"}}}}}"#;
        let push = parse(body.as_bytes(), Push::parse).unwrap();
        let mut changes = Changes::new(UsageUpdate::default());
        let id = PushId::from_uuid(Uuid::from_u128(1));
        assert!(!changes.knows_buttons_of(id));
        changes.learn_buttons_of(id, Some(&push), &Profile::new(DeviceType::Ios));
        assert!(changes.knows_buttons_of(id));
        for n in 0..1000 {
            changes.pressed(id, "yes");
            changes.pressed(id, "no");
            changes.pressed(id, &format!("made up {n}"));
        }
        changes.pressed(id, "yes");
        let pressed: Vec<&str> = changes.pressed.iter().map(|(_, button)| button.as_str()).collect();
        assert_eq!(pressed, ["no", "yes"], "the one that was pressed last counts last");
        assert_eq!(changes.tags().count(), 4);

        let gone = PushId::from_uuid(Uuid::from_u128(2));
        changes.learn_buttons_of(gone, None, &Profile::new(DeviceType::Ios));
        assert!(changes.knows_buttons_of(gone), "it is not looked for again");
    }
}
