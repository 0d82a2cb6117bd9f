//! Good and bad subscription requests, and the effects of the good ones.

use super::*;
use crate::json;

const A: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

fn refused<T>(body: &str, read: impl FnOnce(&At<'_>) -> Option<T>, paths: &[&str]) {
    let problems = json::parse(body.as_bytes(), read).err().unwrap_or_else(|| panic!("{body} was accepted"));
    let found: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(found, paths, "{body}: {problems}");
}

#[test]
fn one_operation_or_several() {
    let one = format!(
        r#"{{"audience":{{"channel":"{A}"}},"subscription_lists":{{"action":"subscribe","list_id":"weekly"}}}}"#
    );
    let update = json::parse(one.as_bytes(), SubscriptionUpdate::parse).unwrap();
    let weekly = SubscriptionListId::new("weekly").unwrap();
    let subscribe =
        SubscriptionOperation { action: SubscriptionAction::Subscribe, list_id: weekly.clone(), timestamp: None };
    assert_eq!(update.operations, [subscribe]);
    assert_eq!(update.audience.channels().len(), 1);

    let many = r#"{"audience":{"named_user_id":["kim"]},"subscription_lists":[
        {"action":"unsubscribe","list_id":"weekly","timestamp":"2024-05-01 12:00:00"},
        {"action":"subscribe","list_id":"daily","timestamp":null}]}"#;
    let update = json::parse(many.as_bytes(), SubscriptionUpdate::parse).unwrap();
    assert_eq!(update.audience.named_users().len(), 1);
    assert_eq!(update.operations.len(), 2);
    assert_eq!(update.operations[0].action, SubscriptionAction::Unsubscribe);
    assert_eq!(update.operations[0].timestamp, Some(UtcMillis(1_714_564_800_000)));
}

#[test]
fn bad_operations() {
    let long = "x".repeat(33);
    for (lists, paths) in [
        ("[]".to_owned(), &["subscription_lists"][..]),
        ("{}".to_owned(), &["subscription_lists.action", "subscription_lists.list_id"]),
        (
            r#"[{"action":"join","list_id":""}]"#.to_owned(),
            &["subscription_lists[0].action", "subscription_lists[0].list_id"],
        ),
        (format!(r#"{{"action":"subscribe","list_id":"{long}"}}"#), &["subscription_lists.list_id"]),
        (
            r#"{"action":"subscribe","list_id":"a","timestamp":"soon","scope":"app"}"#.to_owned(),
            &["subscription_lists.timestamp", "subscription_lists.scope"],
        ),
    ] {
        let body = format!(r#"{{"audience":{{"channel":"{A}"}},"subscription_lists":{lists}}}"#);
        refused(&body, SubscriptionUpdate::parse, paths);
    }
    refused("{}", SubscriptionUpdate::parse, &["audience", "subscription_lists"]);
    let one = r#""subscription_lists":{"action":"subscribe","list_id":"a"}"#;
    refused(&format!(r#"{{"audience":{{}},{one}}}"#), SubscriptionUpdate::parse, &["audience"]);
    refused(&format!(r#"{{"audience":{{"sms_id":{{}}}},{one}}}"#), SubscriptionUpdate::parse, &["audience.sms_id"]);
}

#[test]
fn scopes() {
    let mut subscriptions = ScopedSubscriptions::new();
    let mut apply = |scoped: &str, wanted: &str| {
        let body = format!(r#"{{"scoped":{scoped}}}"#);
        let update =
            json::parse(body.as_bytes(), ScopedUpdate::parse).unwrap_or_else(|problems| panic!("{body}: {problems}"));
        update.apply(&mut subscriptions);
        assert_eq!(serde_json::to_string(&subscriptions).unwrap(), wanted);
        let stored: ScopedSubscriptions = serde_json::from_str(wanted).unwrap();
        assert_eq!(stored, subscriptions);
    };
    apply(
        r#"[{"scope":["app","web"],"subscription_lists":{"subscribe":["a","b"],"unsubscribe":["c"]}},
            {"scope":"sms","subscription_lists":{"subscribe":"a"}}]"#,
        r#"{"app":["a","b"],"web":["a","b"],"sms":["a"]}"#,
    );
    apply(
        r#"{"scope":["web","sms","email"],"subscription_lists":{"unsubscribe":["a"]}}"#,
        r#"{"app":["a","b"],"web":["b"]}"#,
    );
    apply(r#"[{"scope":["app"],"subscription_lists":{"subscribe":[]}}]"#, r#"{"app":["a","b"],"web":["b"]}"#);
}

#[test]
fn bad_scopes() {
    for (scoped, paths) in [
        ("[]", &["scoped"][..]),
        (r#"[{}]"#, &["scoped[0].scope", "scoped[0].subscription_lists"]),
        (
            r#"[{"scope":["app","tv"],"subscription_lists":{}}]"#,
            &["scoped[0].scope[1]", "scoped[0].subscription_lists"],
        ),
        (
            r#"[{"scope":[],"subscription_lists":{"subscribe":["a"],"leave":[]}}]"#,
            &["scoped[0].scope", "scoped[0].subscription_lists.leave"],
        ),
        (
            r#"[{"scope":"app","subscription_lists":{"subscribe":["a"],"unsubscribe":"a"}}]"#,
            &["scoped[0].subscription_lists.unsubscribe"],
        ),
    ] {
        refused(&format!(r#"{{"scoped":{scoped}}}"#), ScopedUpdate::parse, paths);
    }
    refused(
        r#"{"scoped":{"scope":"app","subscription_lists":{"subscribe":"a"}},"audience":{}}"#,
        ScopedUpdate::parse,
        &["audience"],
    );
}

#[test]
fn every_channel_has_one_scope() {
    for (name, scope) in [
        ("ios", Scope::App),
        ("android", Scope::App),
        ("amazon", Scope::App),
        ("wns", Scope::App),
        ("open::fridge", Scope::App),
        ("web", Scope::Web),
        ("email", Scope::Email),
        ("sms", Scope::Sms),
        ("mms", Scope::Sms),
    ] {
        assert_eq!(Scope::of(&DeviceType::from_name(name).unwrap()), scope, "{name}");
    }
}
