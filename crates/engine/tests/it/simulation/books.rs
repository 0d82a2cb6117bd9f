//! What must have happened: the devices as clients left them, and for every message who has to get it and who may.
//!
//! A message goes to the devices that match when it is resolved, some time between its acceptance and its end. So a device that
//! matches all the time has to get it, and one that never does must not.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::time::UtcMillis;
use serde_json::{Value, json};
use testkit::app::START;

use crate::chance::Chance;

pub(super) const TAGS: [&str; 5] = ["red", "green", "blue", "day", "night"];

#[derive(Default)]
pub(super) struct Books {
    devices: Vec<Device>,
    pub(super) sent: Vec<Sent>,
    n_alerts: usize,
    /// How long after the start the last schedule is due.
    pub(super) last_schedule: Duration,
}

pub(super) struct Device {
    id: String,
    address: String,
    pub(super) tags: BTreeSet<&'static str>,
    pub(super) opted_in: bool,
}

pub(super) enum Audience {
    All,
    Tag(&'static str),
    Both(&'static str, &'static str),
    Without(&'static str, &'static str),
}

pub(super) struct Sent {
    pub(super) push_id: String,
    alert: String,
    audience: Audience,
    must: BTreeSet<String>,
    may: BTreeSet<String>,
    n_faults_before: usize,
}

impl Audience {
    pub(super) fn random(chance: &mut Chance) -> Self {
        let (one, other) = (chance.pick(&TAGS), chance.pick(&TAGS));
        match chance.below(4) {
            0 => Self::All,
            1 => Self::Tag(one),
            2 => Self::Both(one, other),
            _ => Self::Without(one, other),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let tag = |tag: &str| json!({"tag": tag, "group": "crew"});
        match self {
            Self::All => json!("all"),
            Self::Tag(one) => tag(one),
            Self::Both(one, other) => json!({"and": [tag(one), tag(other)]}),
            Self::Without(one, other) => json!({"and": [tag(one), {"not": tag(other)}]}),
        }
    }

    fn selects(&self, tags: &BTreeSet<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Tag(one) => tags.contains(one),
            Self::Both(one, other) => tags.contains(one) && tags.contains(other),
            Self::Without(one, other) => tags.contains(one) && !tags.contains(other),
        }
    }
}

impl Books {
    pub(super) fn n_devices(&self) -> usize {
        self.devices.len()
    }

    pub(super) fn any_device(&self, chance: &mut Chance) -> Option<usize> {
        (!self.devices.is_empty()).then(|| chance.below(self.devices.len()))
    }

    pub(super) fn id(&self, device: usize) -> String {
        self.devices[device].id.clone()
    }

    pub(super) fn address(&self, device: usize) -> String {
        self.devices[device].address.clone()
    }

    pub(super) fn next_alert(&mut self) -> String {
        self.n_alerts += 1;
        format!("message {}", self.n_alerts)
    }

    pub(super) fn add_device(&mut self, id: String, address: String, tags: Vec<&'static str>) {
        self.devices.push(Device { id, address, tags: tags.into_iter().collect(), opted_in: true });
        self.note(self.devices.len() - 1);
    }

    pub(super) fn change_device(&mut self, device: usize, change: impl FnOnce(&mut Device)) {
        change(&mut self.devices[device]);
        self.note(device);
    }

    /// Messages that are not resolved yet may meet the device as it is now. Those that are resolved are not told apart: the test
    /// only asks for less.
    fn note(&mut self, device: usize) {
        let device = &self.devices[device];
        for sent in &mut self.sent {
            if sent.wants(device) {
                sent.may.insert(device.address.clone());
            } else {
                sent.must.remove(&device.address);
            }
        }
    }

    pub(super) fn add_sent(&mut self, push_id: String, alert: String, audience: Audience, n_faults: usize) {
        let (must, may) = (BTreeSet::new(), BTreeSet::new());
        let mut sent = Sent { push_id, alert, audience, must, may, n_faults_before: n_faults };
        sent.must = self.devices.iter().filter(|it| sent.wants(it)).map(|it| it.address.clone()).collect();
        sent.may.clone_from(&sent.must);
        self.sent.push(sent);
    }

    pub(super) fn add_scheduled(
        &mut self,
        push_id: String,
        alert: String,
        audience: Audience,
        n_faults: usize,
        at: UtcMillis,
    ) {
        self.add_sent(push_id, alert, audience, n_faults);
        let since_start = Duration::from_millis(u64::try_from(at.0 - START.0).unwrap());
        self.last_schedule = self.last_schedule.max(since_start);
    }

    /// Audiences, and how many devices are in each.
    pub(super) fn audiences(&self) -> Vec<(Value, usize)> {
        let counted = |audience: Audience| {
            let n = self.devices.iter().filter(|device| audience.selects(&device.tags)).count();
            (audience.to_json(), n)
        };
        let mut audiences = vec![counted(Audience::All)];
        for one in TAGS {
            audiences.push(counted(Audience::Tag(one)));
            audiences.extend(TAGS.map(|other| counted(Audience::Without(one, other))));
        }
        audiences
    }
}

impl Sent {
    fn wants(&self, device: &Device) -> bool {
        device.opted_in && self.audience.selects(&device.tags)
    }

    /// Whoever has to get it got it, nobody else did, repeats are recognizable and have a reason, and the service's own account of
    /// it is right.
    pub(super) fn check(&self, status: &Value, messages: &[Value], n_faults: usize) {
        let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut n_messages = 0;
        for message in messages.iter().filter(|message| message["payload"]["alert"] == self.alert) {
            let (address, id) = (message["target"]["address"].as_str().unwrap(), message["send_id"].as_str().unwrap());
            ids.entry(address).or_default().insert(id);
            n_messages += 1;
        }
        let reached: BTreeSet<String> = ids.keys().map(|address| (*address).to_owned()).collect();
        let about = || format!("{} of {}: {status}", self.alert, self.audience.to_json());
        assert_eq!(status["state"], "done", "{}", about());
        let missed: Vec<_> = self.must.difference(&reached).collect();
        assert!(missed.is_empty(), "{missed:?} missed {}", about());
        let strangers: Vec<_> = reached.difference(&self.may).collect();
        assert!(strangers.is_empty(), "{strangers:?} got {}", about());
        assert!(ids.values().all(|ids| ids.len() == 1), "a repeat has another id: {ids:?} {}", about());
        assert!(n_messages == reached.len() || n_faults > self.n_faults_before, "repeats without a fault: {}", about());
        // Who got a message just before the provider or the node broke down, and then opted out, is not counted.
        let n_delivered = usize::try_from(status["total"]["delivered"].as_u64().unwrap()).unwrap();
        let least = if n_faults > self.n_faults_before { self.must.len() } else { reached.len() };
        assert!((least..=reached.len()).contains(&n_delivered), "{n_delivered} were counted: {}", about());
        assert_eq!(status["total"]["pending"], json!(0), "{}", about());
    }
}
