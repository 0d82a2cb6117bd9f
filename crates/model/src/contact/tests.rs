//! Good and bad bodies of device libraries about contacts.

use serde_json::{Value, json};

use super::*;
use crate::json::{At, parse};
use crate::subscription::Scope;

const CHANNEL: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

fn read<T>(body: &Value, read: impl FnOnce(&At<'_>) -> Option<T>) -> T {
    parse(body.to_string().as_bytes(), read).unwrap_or_else(|problems| panic!("{body}: {problems}"))
}

fn paths<T>(body: &Value, read: impl FnOnce(&At<'_>) -> Option<T>) -> Vec<String> {
    let problems = parse(body.to_string().as_bytes(), read).err().unwrap_or_else(|| panic!("{body} is fine"));
    problems.iter().map(|problem| problem.path.clone()).collect()
}

fn jo() -> NamedUserId {
    NamedUserId::new("jo").unwrap()
}

#[test]
fn actions_of_newer_libraries() {
    let body = |action: Value| json!({"device_info": {"device_type": "android"}, "action": action});
    let resolve = body(json!({"type": "resolve", "contact_id": CHANNEL, "possibly_orphaned_contact_id": "x"}));
    assert_eq!(read(&resolve, ContactAction::parse), ContactAction::Resolve(CHANNEL.parse().ok()));
    for unknown in [json!(null), json!("me"), json!(7)] {
        let resolve = body(json!({"type": "resolve", "contact_id": unknown}));
        assert_eq!(read(&resolve, ContactAction::parse), ContactAction::Resolve(None));
    }
    let identify = body(json!({"type": "identify", "named_user_id": "jo", "contact_id": null}));
    assert_eq!(read(&identify, ContactAction::parse), ContactAction::Identify(jo()));
    assert_eq!(read(&body(json!({"type": "reset"})), ContactAction::parse), ContactAction::Reset);
    for (action, path) in [
        (json!({}), "action.type"),
        (json!({"type": "merge"}), "action.type"),
        (json!({"type": "identify"}), "action.named_user_id"),
        (json!({"type": "identify", "named_user_id": ""}), "action.named_user_id"),
    ] {
        assert_eq!(paths(&body(action), ContactAction::parse), [path]);
    }
    assert_eq!(paths(&json!({}), ContactAction::parse), ["action"]);
}

#[test]
fn requests_of_older_libraries_name_the_channel() {
    let body = json!({"channel_id": CHANNEL, "device_type": "ios", "named_user_id": "jo", "contact_id": "x"});
    let ContactChannel { channel } = read(&body, ContactChannel::parse);
    assert_eq!(channel.id.to_string(), CHANNEL);
    assert_eq!(read(&body, ContactIdentification::parse), ContactIdentification { channel, user: jo() });
    assert_eq!(paths(&json!({}), ContactIdentification::parse), ["channel_id", "named_user_id"]);
    assert_eq!(paths(&json!({}), ContactChannel::parse), ["channel_id"]);
}

#[test]
fn updates_may_have_any_of_their_parts_and_others() {
    let nothing = read(&json!({"attributes": [], "tags": null, "new_in_sdk_30": {}}), ContactUpdate::parse);
    assert!(nothing.tags.is_empty() && nothing.attributes.is_empty() && nothing.associate.is_empty());
    let whole = json!({
        "tags": {"add": {"food": ["fish"]}},
        "attributes": [{"action": "set", "key": "city", "value": "Oslo", "timestamp": "2024-05-01T12:00:00"}],
        "subscription_lists": [{"action": "subscribe", "list_id": "weekly", "scope": "web", "timestamp": "2024-05-01T12:00:00"}],
        "associate": [{"device_type": "ios", "channel_id": CHANNEL}],
    });
    let update = read(&whole, ContactUpdate::parse);
    assert_eq!((update.tags.len(), update.attributes.len(), update.associate.len()), (1, 1, 1));
    assert_eq!(update.subscriptions[0].scope, Scope::Web);
    let bad = json!({
        "tags": {"add": 1}, "subscription_lists": [{"action": "subscribe", "list_id": "a"}], "associate": [{}],
    });
    assert_eq!(
        paths(&bad, ContactUpdate::parse),
        ["tags.add", "subscription_lists[0].scope", "associate[0].channel_id"]
    );
}

#[test]
fn contacts_of_users_are_stable_and_apart() {
    use crate::ids::ContactId;
    let of = ContactId::of_named_user;
    assert_eq!(of(&[1; 16]), of(&[1; 16]));
    assert_ne!(of(&[1; 16]), of(&[2; 16]));
    let channel: ChannelId = CHANNEL.parse().unwrap();
    assert_eq!(ContactId::of_channel(channel).to_string(), CHANNEL);
    assert!(of(&[255; 16]).is_of_named_user());
    assert!(!ContactId::of_channel(channel).is_of_named_user());
}
