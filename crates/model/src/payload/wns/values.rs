//! The small values of a Windows notification: badge, sounds, durations, caching.

use crate::json::body::{Body, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Body)]
#[body(one_of = "Exactly one of 'value' and 'glyph' must be given.")]
pub enum WnsBadge {
    /// The number on the badge.
    #[body(range = 1..=99)]
    Value(i64),
    /// A symbol instead of a number.
    Glyph(Glyph),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[words(rename_all = "kebab-case")]
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
    #[words(alias = "newMessage")]
    NewMessage,
    Paused,
    Playing,
    Unavailable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum ToastDuration {
    Long,
    Short,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[words(rename_all = "kebab-case")]
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

/// Whether Windows keeps the notification for a device that is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[words(rename_all = "kebab-case")]
pub enum CachePolicy {
    Cache,
    NoCache,
}
