//! `options` of a push: how it is sent, as opposed to its content.

use std::collections::BTreeMap;

use super::expiry::Expiry;
use crate::json::body::Body;

/// How the push is sent, as opposed to its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Body)]
pub struct Options {
    pub expiry: Option<Expiry>,
    pub no_throttle: Option<bool>,
    pub personalization: Option<bool>,
    pub redact_payload: Option<bool>,
    pub omit_from_activity_log: Option<bool>,
    pub bypass_frequency_limits: Option<bool>,
    pub bypass_holdout_groups: Option<bool>,
    pub bypass_ban_list_processing: Option<bool>,
    pub ban_list_parameters: Option<BTreeMap<String, String>>,
    pub audience_limits: Option<AudienceLimits>,
    pub use_strict_sms_validation: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct AudienceLimits {
    #[body(range = 1..=u32::MAX)]
    pub max_recipients: u32,
}
