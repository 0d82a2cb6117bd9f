//! `options` of a push: how it is sent, as opposed to its content.

use std::collections::BTreeMap;

use super::expiry::Expiry;
use crate::json::Fields;
use crate::json::body::{Body, Words};

/// Known, and refused with a sentence of its own.
const FREQUENCY_LIMITS: [&str; 1] = ["frequency_limits"];

/// How the push is sent, as opposed to its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Body)]
pub struct Options {
    /// Nothing is sent after it. The expiry of a platform takes its place there.
    pub expiry: Option<Expiry>,
    /// Accepted without effect.
    pub no_throttle: Option<bool>,
    /// Whether `{{…}}` in texts is filled in for each recipient.
    pub personalization: Option<bool>,
    /// Whether the payload is kept only until the push is done.
    pub redact_payload: Option<bool>,
    /// Accepted without effect.
    pub omit_from_activity_log: Option<bool>,
    /// Accepted without effect.
    pub bypass_frequency_limits: Option<bool>,
    /// Accepted without effect.
    pub bypass_holdout_groups: Option<bool>,
    /// Accepted without effect.
    pub bypass_ban_list_processing: Option<bool>,
    /// Accepted without effect.
    pub ban_list_parameters: Option<BTreeMap<String, String>>,
    /// How many channels the push goes to at most.
    pub audience_limits: Option<AudienceLimits>,
    /// Accepted without effect.
    pub use_strict_sms_validation: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(ignored = FREQUENCY_LIMITS, keys = refuse_frequency_limits)]
pub struct AudienceLimits {
    /// Of all platforms together. Which part of the audience they are is not specified.
    #[body(range = 1..=u32::MAX)]
    pub max_recipients: Option<u32>,
    /// Accepted without effect: `max_recipients` counts channels, also if they belong to the same person.
    pub targeting_type: Option<TargetingType>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum TargetingType {
    Channel,
    Contact,
}

fn refuse_frequency_limits(fields: &Fields<'_>) {
    if !fields.has("max_recipients") && !FREQUENCY_LIMITS.iter().any(|key| fields.has(key)) {
        fields.at().missing::<()>("max_recipients");
    }
    for key in FREQUENCY_LIMITS.iter().filter(|key| fields.has(key)) {
        let text = "Limits in a time are not kept here; leave this out. The 'constraint' of a pipeline limits how many pushes a device gets.";
        fields.at().invalid_key::<()>(key, text);
    }
}
