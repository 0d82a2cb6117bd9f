//! Attributes by chance: what channels and users are said to be, and selectors that ask for it.

use std::collections::BTreeMap;

use engine::Engine;
use model::attribute::AttributeUpdate;
use serde_json::{Value, json};

use super::World;
use super::changes::parsed;
use super::naive::USERS;
use crate::chance::Chance;

const CITIES: [&str; 3] = ["Lyon", "Oslo", "oslo"];
const MOST_POINTS: usize = 5;

/// Attributes by their names.
pub(super) type Attributes = BTreeMap<&'static str, Held>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Held {
    City(&'static str),
    Points(usize),
}

/// What a selector wants of an attribute.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wish {
    City(&'static str),
    PointsAbove(usize),
    PointsBelow(usize),
    Missing(&'static str),
}

impl Wish {
    pub(super) fn random(chance: &mut Chance) -> Self {
        let name = chance.pick(&["city", "points", "nobody_has_this"]);
        match chance.below(4) {
            0 => Wish::City(chance.pick(&["Lyon", "Oslo", "Rome"])),
            1 => Wish::PointsAbove(chance.below(MOST_POINTS + 1)),
            2 => Wish::PointsBelow(chance.below(MOST_POINTS + 2)),
            _ => Wish::Missing(name),
        }
    }

    pub(super) fn print(self) -> Value {
        match self {
            Wish::City(city) => json!({"attribute": "city", "operator": "equals", "value": city}),
            Wish::PointsAbove(bound) => json!({"attribute": "points", "operator": "greater", "value": bound}),
            Wish::PointsBelow(bound) => json!({"attribute": "points", "operator": "less", "value": bound}),
            Wish::Missing(name) => json!({"attribute": name, "operator": "is_empty"}),
        }
    }

    /// A channel's own attribute hides that of its user.
    pub(super) fn is_met(self, own: &Attributes, of_user: Option<&Attributes>) -> bool {
        let held = |name| own.get(name).or_else(|| of_user.and_then(|attributes| attributes.get(name))).copied();
        let points = || match held("points") {
            Some(Held::Points(points)) => Some(points),
            Some(Held::City(_)) | None => None,
        };
        match self {
            Wish::City(city) => held("city") == Some(Held::City(city)),
            Wish::PointsAbove(bound) => points().is_some_and(|points| points > bound),
            Wish::PointsBelow(bound) => points().is_some_and(|points| points < bound),
            Wish::Missing(name) => held(name).is_none(),
        }
    }
}

impl World {
    pub(super) async fn change_attributes(&mut self, node: &Engine) -> String {
        let (name, value) = match self.chance.below(2) {
            0 => ("city", Held::City(self.chance.pick(&CITIES))),
            _ => ("points", Held::Points(self.chance.below(MOST_POINTS + 1))),
        };
        let value = self.chance.percent(70).then_some(value);
        let operation = match value {
            Some(Held::City(city)) => json!({"action": "set", "key": name, "value": city}),
            Some(Held::Points(points)) => json!({"action": "set", "key": name, "value": points}),
            None => json!({"action": "remove", "key": name}),
        };
        let (channels, users) = (self.some_channels(8), self.chance.some(&USERS, 2));
        let ids: Vec<String> = channels.iter().map(|channel| channel.id.to_string()).collect();
        let body = json!({"audience": {"channel": ids, "named_user_id": users}, "attributes": [operation]});
        node.devices().change_attributes(self.app.id, parsed(&body, AttributeUpdate::parse)).await.unwrap();
        let put = |attributes: &mut Attributes| match value {
            Some(value) => drop(attributes.insert(name, value)),
            None => drop(attributes.remove(name)),
        };
        for channel in self.model.channels.iter_mut().filter(|channel| channel.installed) {
            if channels.iter().any(|meant| meant.id == channel.id) {
                put(&mut channel.attributes);
            }
        }
        for user in users {
            put(&mut self.model.users.entry(user).or_default().attributes);
        }
        format!("attributes {body}")
    }
}
