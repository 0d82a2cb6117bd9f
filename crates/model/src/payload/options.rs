//! `options` of a push: how it is sent, as opposed to its content.

use std::collections::BTreeMap;

use serde::Serialize;

use super::expiry::Expiry;
use crate::json::At;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Options {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Expiry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_throttle: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personalization: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redact_payload: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omit_from_activity_log: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bypass_frequency_limits: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bypass_holdout_groups: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bypass_ban_list_processing: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ban_list_parameters: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience_limits: Option<AudienceLimits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub use_strict_sms_validation: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AudienceLimits {
    pub max_recipients: u32,
}

impl Options {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let options = Self {
            expiry: fields.optional("expiry", Expiry::parse),
            no_throttle: fields.optional("no_throttle", At::boolean),
            personalization: fields.optional("personalization", At::boolean),
            redact_payload: fields.optional("redact_payload", At::boolean),
            omit_from_activity_log: fields.optional("omit_from_activity_log", At::boolean),
            bypass_frequency_limits: fields.optional("bypass_frequency_limits", At::boolean),
            bypass_holdout_groups: fields.optional("bypass_holdout_groups", At::boolean),
            bypass_ban_list_processing: fields.optional("bypass_ban_list_processing", At::boolean),
            ban_list_parameters: fields
                .optional("ban_list_parameters", |at| at.object()?.into_map(0..=usize::MAX, At::any_text)),
            audience_limits: fields.optional("audience_limits", AudienceLimits::parse),
            use_strict_sms_validation: fields.optional("use_strict_sms_validation", At::boolean),
        };
        fields.finish();
        Some(options)
    }
}

impl AudienceLimits {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let most = fields.required("max_recipients", |at| at.integer(1..=i64::from(u32::MAX)));
        fields.finish();
        Some(Self { max_recipients: u32::try_from(most?).ok()? })
    }
}
