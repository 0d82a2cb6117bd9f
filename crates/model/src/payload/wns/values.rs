//! The small values of a Windows notification: badge, sounds, durations, caching.

use serde::Serialize;

use crate::json::At;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WnsBadge {
    /// 1 to 99.
    Value(i64),
    Glyph(Glyph),
}

impl WnsBadge {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let kinds = ["value", "glyph"].iter().filter(|key| fields.has(key)).count();
        let value = fields.optional("value", |value| value.integer(1..=99)).map(WnsBadge::Value);
        let glyph = fields.optional("glyph", Glyph::parse).map(WnsBadge::Glyph);
        fields.finish();
        if kinds != 1 {
            return at.invalid("Exactly one of 'value' and 'glyph' must be given.");
        }
        value.or(glyph)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Glyph {
    None,
    Activity,
    Alarm,
    Alert,
    Attention,
    Available,
    Away,
    Busy,
    Error,
    NewMessage,
    Paused,
    Playing,
    Unavailable,
}

impl Glyph {
    fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[
            ("none", Glyph::None),
            ("activity", Glyph::Activity),
            ("alarm", Glyph::Alarm),
            ("alert", Glyph::Alert),
            ("attention", Glyph::Attention),
            ("available", Glyph::Available),
            ("away", Glyph::Away),
            ("busy", Glyph::Busy),
            ("error", Glyph::Error),
            ("new-message", Glyph::NewMessage),
            ("newMessage", Glyph::NewMessage),
            ("paused", Glyph::Paused),
            ("playing", Glyph::Playing),
            ("unavailable", Glyph::Unavailable),
        ])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToastDuration {
    Long,
    Short,
}

impl ToastDuration {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[("long", ToastDuration::Long), ("short", ToastDuration::Short)])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToastSound {
    Mute,
    Default,
    Im,
    Mail,
    Reminder,
    Sms,
    LoopingAlarm,
    LoopingAlarm2,
    LoopingCall,
    LoopingCall2,
}

impl ToastSound {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[
            ("mute", ToastSound::Mute),
            ("default", ToastSound::Default),
            ("im", ToastSound::Im),
            ("mail", ToastSound::Mail),
            ("reminder", ToastSound::Reminder),
            ("sms", ToastSound::Sms),
            ("looping-alarm", ToastSound::LoopingAlarm),
            ("looping-alarm2", ToastSound::LoopingAlarm2),
            ("looping-call", ToastSound::LoopingCall),
            ("looping-call2", ToastSound::LoopingCall2),
        ])
    }
}

/// Whether Windows keeps the notification for a device that is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    Cache,
    NoCache,
}

impl CachePolicy {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[("cache", CachePolicy::Cache), ("no-cache", CachePolicy::NoCache)])
    }
}
