//! Registrations by chance: of new devices, of devices that are recognized by their address, and by channel id.

use std::collections::{BTreeMap, BTreeSet};

use engine::Engine;
use model::channel::{OpenRegistration, Registration};
use model::ids::ChannelId;
use serde_json::{Value, json};

use super::World;
use super::changes::parsed;
use super::naive::{Channel, TAGS, TYPES, USERS};
use super::tree;
use crate::chance::Chance;

impl World {
    pub(super) async fn register(&mut self, node: &Engine) -> String {
        let device_type = self.chance.pick(&TYPES);
        let number = self.chance.below(120);
        let address = tree::address(device_type, number);
        if let Some(platform) = device_type.strip_prefix("open::") {
            return self.register_open(node, device_type, platform, address).await;
        }
        let address = match self.chance.below(10) {
            0 => None,
            1 => Some(None),
            _ => Some(Some(address)),
        };
        // Half of the registrations are updates by id, some of them of channels that are gone or not there yet.
        let known: Vec<&Channel> =
            self.model.channels.iter().filter(|channel| channel.device_type == device_type).collect();
        let by_id = match self.chance.below(10) {
            0..4 if !known.is_empty() => Some(self.chance.pick(&known).clone()),
            4..7 if !self.model.awaited.is_empty() => {
                let (id, _) = self.chance.pick(&self.model.awaited);
                let found = self.model.channels.iter().find(|channel| channel.id == id);
                Some(found.cloned().unwrap_or_else(|| Channel::new(id, device_type)))
            }
            _ => None,
        };
        let before = match &by_id {
            Some(channel) => Some(channel.clone()),
            None => self.model.at_address(device_type, address.clone().flatten().as_ref()).cloned(),
        };
        let mut channel = before.unwrap_or_else(|| Channel::new(ChannelId::random(), device_type));
        let body = describe(&mut self.chance, &mut channel, device_type, address);
        let registration = parsed(&body, Registration::parse);
        match by_id {
            None => {
                let registered = node.devices().register_channel(self.app.id, registration, None).await.unwrap();
                if registered.created {
                    channel.id = registered.id;
                }
                assert_eq!(registered.id, channel.id, "{body}");
                self.model.put(channel);
            }
            Some(before) => {
                let updated = node.devices().update_channel(self.app.id, before.id, registration).await;
                let is_allowed = before.installed && before.device_type == device_type;
                assert_eq!(updated.is_ok(), is_allowed, "{body} {before:?}");
                if is_allowed {
                    // Who says whose it is knows better than what waited for it.
                    if body["channel"].get("named_user_id").is_some() {
                        self.model
                            .awaited
                            .iter_mut()
                            .filter(|(id, _)| *id == channel.id)
                            .for_each(|(_, user)| *user = None);
                    }
                    self.model.put(channel);
                }
            }
        }
        format!("register {body}")
    }

    async fn register_open(
        &mut self,
        node: &Engine,
        device_type: &'static str,
        platform: &str,
        address: String,
    ) -> String {
        let known: Vec<&Channel> =
            self.model.channels.iter().filter(|channel| channel.device_type == device_type).collect();
        // By its id even an uninstalled one comes back.
        let by_id = (!known.is_empty() && self.chance.percent(30)).then(|| self.chance.pick(&known).clone());
        let before = by_id.clone().or_else(|| self.model.at_address(device_type, Some(&address)).cloned());
        let is_new = before.is_none();
        let mut channel = before.unwrap_or_else(|| Channel::new(ChannelId::random(), device_type));
        let (opt_in, sets) = (self.chance.percent(70), self.chance.percent(50));
        let tags = self.chance.some(&TAGS, 3);
        channel.installed = true;
        channel.opt_in = opt_in;
        channel.address = Some(address.clone());
        let mut body = json!({"type": "open", "opt_in": opt_in, "address": address, "set_tags": sets, "tags": tags,
            "open": {"open_platform_name": platform}});
        if let Some(by_id) = by_id {
            body["channel_id"] = json!(by_id.id.to_string());
        }
        let held = channel.tags.entry("device").or_default();
        if sets {
            held.clear();
        }
        held.extend(tags);
        let body = json!({ "channel": body });
        let registration = parsed(&body, OpenRegistration::parse);
        let registered =
            node.devices().register_open(self.app.id, registration, tenancy::Rights::Master, None).await.unwrap();
        if is_new {
            channel.id = registered.id;
        }
        assert_eq!(registered.id, channel.id, "{body}");
        self.model.put(channel);
        format!("register {body}")
    }
}

/// A registration by chance, and the channel as it is after it.
fn describe(chance: &mut Chance, channel: &mut Channel, device_type: &str, address: Option<Option<String>>) -> Value {
    let mut body = BTreeMap::from([("device_type", json!(device_type))]);
    if chance.percent(80) {
        channel.opt_in = chance.percent(80);
        body.insert("opt_in", json!(channel.opt_in));
    }
    if chance.percent(40) {
        let background = chance.pick(&[Some(true), Some(false), None]);
        channel.background = background.unwrap_or(false);
        body.insert("background", json!(background));
    }
    if let Some(address) = address {
        body.insert("push_address", json!(address));
        channel.address = address;
    }
    if chance.percent(50) {
        channel.language = chance.pick(&[Some("de"), Some("fr"), None]);
        body.insert("locale_language", json!(channel.language));
    }
    if chance.percent(50) {
        channel.timezone = chance.pick(&[Some("Europe/Paris"), Some("Asia/Tokyo"), None]);
        body.insert("timezone", json!(channel.timezone));
    }
    if chance.percent(50) {
        channel.app_version = chance.pick(&[Some("1.0"), Some("2.0"), None]);
        body.insert("app_version", json!(channel.app_version));
    }
    if chance.percent(20) {
        channel.user = chance.percent(70).then(|| chance.pick(&USERS));
        body.insert("named_user_id", json!(channel.user));
    }
    let held = channel.tags.entry("device").or_default();
    let tags: BTreeSet<_> = chance.some(&TAGS, 3).into_iter().collect();
    match chance.below(10) {
        0..4 => {
            body.insert("tags", json!(tags));
            *held = tags;
        }
        4 => body.extend([("tags", json!(tags)), ("set_tags", json!(false))]),
        5..8 => {
            let gone: BTreeSet<_> = chance.some(&TAGS, 2).into_iter().filter(|tag| !tags.contains(tag)).collect();
            body.insert("tag_changes", json!({"add": tags, "remove": gone}));
            held.retain(|tag| !gone.contains(tag));
            held.extend(tags);
        }
        _ => {}
    }
    json!({ "channel": body })
}
