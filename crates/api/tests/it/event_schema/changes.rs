//! The keys of events about what channels have, and about browsers.

use super::Shape::{Anything, List, OneOf, Text, Texts, Uuid};
use super::{ASSOCIATED, CAMPAIGNS, Key, PUSH, Shape, may, must};

/// The keys of the bodies, by type.
pub(super) const BODIES: &[(&str, &[&[Key]])] = &[
    (
        "ATTRIBUTE_OPERATION",
        &[&[
            may("set", List(&[must("key", Text), must("value", Anything)])),
            may("remove", List(&[must("key", Text)])),
        ]],
    ),
    (
        "SUBSCRIPTION_LIST",
        &[&[
            may("enrolled", Texts),
            may("canceled", Texts),
            must("current", Texts),
            may("scope", OneOf(&["app", "web", "email", "sms"])),
        ]],
    ),
    (
        "CONTACT_CHANGE",
        &[&[
            must("change_type", OneOf(&["ASSOCIATION", "DISSOCIATION", "UNINSTALL"])),
            must("contact_id", Uuid),
            must("channel_id", Uuid),
            must("named_user_id", Text),
        ]],
    ),
    ("FIRST_OPT_IN", &[]),
    ("WEB_SESSION", &[&[must("session_id", Text), may("last_delivered", PUSH), may("triggering_push", PUSH)]]),
    ("WEB_CLICK", &[&ASSOCIATED]),
    (
        "SEND_REJECTED",
        &[&[
            must("push_id", Uuid),
            may("group_id", Uuid),
            may("variant_id", Shape::WholeNumber),
            may("campaigns", CAMPAIGNS),
            must("status", OneOf(REJECTED)),
            // Ours: the words of the provider.
            may("reason", Text),
        ]],
    ),
];

const REJECTED: &[&str] = &[
    "BadDeviceToken",
    "Unauthorized",
    "InvalidPackageName",
    "InvalidParameters",
    "Unavailable",
    "MessageTooBig",
    "InvalidTtl",
    "InvalidDataKey",
    "MissingRegistration",
    "Uninstalled",
];
