//! Changes by chance, each made through the engine and noted in the naive model.

use std::collections::BTreeSet;

use engine::Engine;
use model::channel::{ChannelRef, ClaimedType, TagOperation, TagSets, Uninstall};
use model::device_type::DeviceType;
use model::ids::{ChannelId, NamedUserId};
use model::json;
use model::named_user::{Association, Disassociation, NamedUserUpdate};
use model::subscription::{ScopedUpdate, SubscriptionUpdate};
use model::tag::{Tag, TagGroup};
use serde_json::{Value, json};

use super::World;
use super::naive::{Channel, SCOPES, SUBSCRIPTIONS, TAGS, TYPES, Tags, USERS};
use crate::chance::Chance;

/// A change of tags in the words of the engine and in those of the model.
pub(super) struct Tagging {
    pub(super) operation: TagOperation,
    add: Tags,
    remove: Tags,
    /// Whether the groups of `add` lose what they had.
    sets: bool,
}

impl World {
    /// Makes one change through one of the nodes.
    pub(super) async fn change(&mut self) {
        let node = self.any_node();
        let n_installed = self.model.installed().count();
        let what = match self.chance.below(100) {
            0..35 if n_installed < 150 => self.register(&node).await,
            0..47 => self.tag_channels(&node).await,
            47..54 => self.associate(&node).await,
            54..58 => self.disassociate(&node).await,
            58..62 => self.update_user(&node).await,
            62..69 => self.tag_users(&node).await,
            69..74 => self.uninstall(&node).await,
            74..75 => self.uninstall_users(&node).await,
            75..79 => self.subscribe(&node).await,
            79..82 => self.change_attributes(&node).await,
            82..84 => self.delete_tag(&node).await,
            84..92 => self.change_segments(&node).await,
            _ => self.change_lists(&node).await,
        };
        self.history.push(what);
    }

    async fn tag_channels(&mut self, node: &Engine) -> String {
        let refs = self.some_channels(8);
        let tagging = Tagging::random(&mut self.chance, &["device", "crm", "shop"]);
        node.devices().tag_channels(self.app.id, refs.clone(), tagging.operation.clone()).await.unwrap();
        for channel in self.model.channels.iter_mut().filter(|channel| channel.installed) {
            if is_meant(&refs, channel) {
                tagging.apply(&mut channel.tags);
            }
        }
        format!("tag channels {refs:?} {:?}", tagging.operation)
    }

    async fn associate(&mut self, node: &Engine) -> String {
        let user = self.chance.pick(&USERS);
        let channel = if self.chance.percent(30) {
            // A channel that registers later, if at all.
            let id = ChannelId::random();
            self.model.awaited.push((id, None));
            ChannelRef { id, claimed: None }
        } else {
            self.some_channels(1).remove(0)
        };
        let association = Association { channel: channel.clone(), named_user_id: named(user) };
        node.devices().associate(self.app.id, association).await.unwrap();
        self.join(&channel, user);
        format!("associate {channel:?} with {user}")
    }

    async fn disassociate(&mut self, node: &Engine) -> String {
        let channel = self.some_channels(1).remove(0);
        let user = self.chance.percent(50).then(|| self.chance.pick(&USERS));
        let disassociation = Disassociation { channel: channel.clone(), named_user_id: user.map(named) };
        node.devices().disassociate(self.app.id, disassociation).await.unwrap();
        self.leave(&channel, user);
        format!("disassociate {channel:?} from {user:?}")
    }

    async fn update_user(&mut self, node: &Engine) -> String {
        let user = self.chance.pick(&USERS);
        let associate = self.some_channels(3);
        let mut disassociate = self.some_channels(3);
        disassociate.retain(|gone| associate.iter().all(|new| new.id != gone.id));
        let tagging = Tagging::random(&mut self.chance, &["crm", "shop"]);
        let what = format!("update {user}: {associate:?} {disassociate:?} {:?}", tagging.operation);
        let update = NamedUserUpdate {
            associate: associate.clone(),
            disassociate: disassociate.clone(),
            tags: Some(tagging.operation.clone()),
            attributes: Vec::new(),
        };
        node.devices().update_named_user(self.app.id, named(user), update).await.unwrap();
        for channel in &disassociate {
            self.leave(channel, Some(user));
        }
        for channel in &associate {
            self.join(channel, user);
        }
        tagging.apply(&mut self.model.users.entry(user).or_default().tags);
        what
    }

    async fn tag_users(&mut self, node: &Engine) -> String {
        let users = self.chance.some(&USERS, 3);
        let tagging = Tagging::random(&mut self.chance, &["crm", "shop"]);
        let ids = users.iter().map(|user| named(user)).collect();
        node.devices().tag_named_users(self.app.id, ids, tagging.operation.clone()).await.unwrap();
        for user in &users {
            tagging.apply(&mut self.model.users.entry(user).or_default().tags);
        }
        format!("tag {users:?} {:?}", tagging.operation)
    }

    async fn uninstall(&mut self, node: &Engine) -> String {
        let mut gone = Vec::new();
        for id in self.chance.some(&self.model.channels.iter().map(|it| it.id).collect::<Vec<_>>(), 2) {
            let device_type = self.model.channels.iter().find(|it| it.id == id).unwrap().device_type;
            let claimed = if self.chance.percent(10) { "mms" } else { device_type };
            gone.push(ChannelRef { id, claimed: Some(claim(claimed)) });
        }
        let uninstalls =
            gone.iter().map(|gone| Uninstall { channel_id: gone.id, device_type: gone.claimed.clone().unwrap() });
        node.devices().uninstall_channels(self.app.id, uninstalls.collect()).await.unwrap();
        self.model.channels.iter_mut().filter(|it| is_meant(&gone, it)).for_each(Channel::uninstall);
        format!("uninstall {gone:?}")
    }

    async fn uninstall_users(&mut self, node: &Engine) -> String {
        let user = self.chance.pick(&USERS);
        node.devices().uninstall_named_users(self.app.id, vec![named(user)]).await.unwrap();
        self.model.channels.iter_mut().filter(|it| it.user == Some(user)).for_each(Channel::uninstall);
        self.model.users.remove(user);
        for (_, awaiting) in &mut self.model.awaited {
            awaiting.take_if(|awaiting| *awaiting == user);
        }
        format!("uninstall {user}")
    }

    async fn subscribe(&mut self, node: &Engine) -> String {
        let users = self.chance.some(&USERS, 2);
        let (lists, gone) = (self.chance.some(&SUBSCRIPTIONS, 2), self.chance.some(&SUBSCRIPTIONS, 2));
        if self.chance.percent(40) {
            let scopes = self.chance.some(&SCOPES, 3);
            let gone: Vec<_> = gone.into_iter().filter(|gone| !lists.contains(gone)).collect();
            let sides = json!({"subscribe": lists, "unsubscribe": gone});
            let body = json!({"scoped": [{"scope": scopes, "subscription_lists": sides}]});
            let update = parsed(&body, ScopedUpdate::parse);
            node.devices().change_scoped_subscriptions(self.app.id, named(users[0]), update).await.unwrap();
            let held = &mut self.model.users.entry(users[0]).or_default().subscriptions;
            held.retain(|(scope, list)| !(scopes.contains(scope) && gone.contains(list)));
            held.extend(scopes.iter().flat_map(|scope| lists.iter().map(|list| (*scope, *list))));
            return format!("subscribe {} {body}", users[0]);
        }
        let channels = self.some_channels(5);
        let ids: Vec<String> = channels.iter().map(|channel| channel.id.to_string()).collect();
        let operation = |action: &str, list: &&str| json!({"action": action, "list_id": list});
        // In their order: what is left at once does not count as held.
        let operations: Vec<Value> = lists
            .iter()
            .map(|list| operation("subscribe", list))
            .chain(gone.iter().map(|list| operation("unsubscribe", list)))
            .collect();
        let body = json!({"audience": {"channel": ids, "named_user_id": users}, "subscription_lists": operations});
        node.devices().change_subscriptions(self.app.id, parsed(&body, SubscriptionUpdate::parse)).await.unwrap();
        let kept: Vec<_> = lists.iter().copied().filter(|list| !gone.contains(list)).collect();
        for channel in self.model.channels.iter_mut().filter(|it| it.installed) {
            if channels.iter().any(|meant| meant.id == channel.id) {
                channel.subscriptions.retain(|list| !gone.contains(list));
                channel.subscriptions.extend(kept.iter().copied());
            }
        }
        for user in &users {
            let held = &mut self.model.users.entry(user).or_default().subscriptions;
            held.retain(|(_, list)| !gone.contains(list));
            held.extend(SCOPES.iter().flat_map(|scope| kept.iter().map(|list| (*scope, *list))));
        }
        format!("subscribe {body}")
    }

    /// Deletes a tag of devices, wherever it is.
    async fn delete_tag(&mut self, node: &Engine) -> String {
        let tag = self.chance.pick(&TAGS);
        let mut is_held = false;
        for channel in &mut self.model.channels {
            is_held |= channel.tags.get_mut("device").is_some_and(|tags| tags.remove(tag));
        }
        let deleted = node.devices().delete_legacy_tag(self.app.id, Tag::new(tag).unwrap()).await;
        assert_eq!(deleted.is_ok(), is_held, "{tag}");
        format!("delete the tag {tag}")
    }

    fn join(&mut self, channel: &ChannelRef, user: &'static str) {
        self.model.users.entry(user).or_default();
        match self.model.channels.iter_mut().find(|known| known.id == channel.id) {
            Some(known) if known.installed && fits(channel, known) => known.user = Some(user),
            Some(_) => {}
            None => {
                if let Some((_, awaiting)) = self.model.awaited.iter_mut().find(|(id, _)| *id == channel.id) {
                    *awaiting = Some(user);
                }
            }
        }
    }

    fn leave(&mut self, channel: &ChannelRef, user: Option<&'static str>) {
        let is_meant = |actual: &mut &str| user.is_none_or(|user| user == *actual);
        match self.model.channels.iter_mut().find(|known| known.id == channel.id) {
            Some(known) if fits(channel, known) => drop(known.user.take_if(is_meant)),
            Some(_) => {}
            None => {
                for (_, awaiting) in self.model.awaited.iter_mut().filter(|(id, _)| *id == channel.id) {
                    awaiting.take_if(is_meant);
                }
            }
        }
    }

    /// Channels, some of them gone or taken for something else.
    pub(super) fn some_channels(&mut self, most: usize) -> Vec<ChannelRef> {
        let mut ids: Vec<ChannelId> = self.model.channels.iter().map(|channel| channel.id).collect();
        ids.extend(self.model.awaited.iter().map(|(id, _)| *id).filter(|id| !ids.contains(id)).collect::<Vec<_>>());
        let picked = self.chance.some(&ids, most);
        let claimed = |chance: &mut Chance| chance.percent(20).then(|| claim(chance.pick(&TYPES)));
        picked.into_iter().map(|id| ChannelRef { id, claimed: claimed(&mut self.chance) }).collect()
    }
}

impl Tagging {
    pub(super) fn random(chance: &mut Chance, groups: &[&'static str]) -> Self {
        let mut sets = || -> Tags {
            let groups = chance.some(groups, 2);
            groups.into_iter().map(|group| (group, chance.some(&TAGS, 3).into_iter().collect())).collect()
        };
        let (mut add, mut remove) = (sets(), sets());
        for (group, gone) in &mut remove {
            gone.retain(|tag| !add.get(group).is_some_and(|new| new.contains(tag)));
        }
        let sets = chance.percent(30);
        let operation = if sets {
            if chance.percent(20) {
                add.values_mut().for_each(BTreeSet::clear);
            }
            TagOperation::Set(tag_sets(&add))
        } else {
            match chance.below(3) {
                0 => add.clear(),
                1 => remove.clear(),
                _ => {}
            }
            TagOperation::Edit { add: tag_sets(&add), remove: tag_sets(&remove) }
        };
        Self { operation, add, remove: if sets { Tags::new() } else { remove }, sets }
    }

    pub(super) fn apply(&self, tags: &mut Tags) {
        for (group, gone) in &self.remove {
            tags.entry(group).or_default().retain(|tag| !gone.contains(tag));
        }
        for (group, new) in &self.add {
            let held = tags.entry(group).or_default();
            if self.sets {
                held.clear();
            }
            held.extend(new);
        }
    }
}

fn tag_sets(tags: &Tags) -> TagSets {
    let set = |tags: &BTreeSet<&str>| tags.iter().map(|tag| Tag::new(tag).unwrap()).collect();
    tags.iter().map(|(group, tags)| (TagGroup::new(group).unwrap(), set(tags))).collect()
}

fn is_meant(refs: &[ChannelRef], channel: &Channel) -> bool {
    refs.iter().any(|one| one.id == channel.id && fits(one, channel))
}

fn fits(one: &ChannelRef, channel: &Channel) -> bool {
    one.claimed.as_ref().is_none_or(|claimed| *claimed == claim(channel.device_type))
}

pub(super) fn claim(device_type: &str) -> ClaimedType {
    ClaimedType::Exactly(DeviceType::from_name(device_type).unwrap())
}

pub(super) fn named(user: &str) -> NamedUserId {
    NamedUserId::new(user).unwrap()
}

pub(super) fn parsed<T>(body: &Value, read: impl FnOnce(&json::At<'_>) -> Option<T>) -> T {
    json::parse(body.to_string().as_bytes(), read).unwrap_or_else(|problems| panic!("{body}: {problems:?}"))
}
