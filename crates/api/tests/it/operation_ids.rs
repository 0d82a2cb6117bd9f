//! Every answer to a request that changed something says under which id it was done.

use std::collections::{BTreeMap, BTreeSet};

use api::routes;
use bytes::Bytes;
use http::Method;
use testkit::app::on_each_database;

const CHANNEL: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
/// Routes that change nothing, or that answer without a body.
const WITHOUT: &[(&str, &str)] = &[
    ("POST", "/api/metered-usage"),
    ("POST", "/live/ack"),
    ("POST", "/api/channel-tags-lookup"),
    ("DELETE", "/api/tag-lists/{list}"),
    ("POST", "/api/push/validate"),
    ("POST", "/api/push/preview"),
    ("DELETE", "/api/sandbox"),
    ("DELETE", "/api/channels/{channel_id}"),
    ("POST", "/api/create-and-send/validate"),
    ("POST", "/api/bulk-send/validate"),
    ("POST", "/api/audience/explain"),
    ("POST", "/api/reports/perpush/detail"),
    ("POST", "/api/events"),
    // One client library refuses keys that it does not know.
    ("POST", "/api/user/messages/batch-delete"),
    ("POST", "/warp9"),
    ("POST", "/api/web-events"),
    ("POST", "/api/pipelines/validate"),
    ("POST", "/api/in-app/{key}/validate"),
    ("POST", "/api/in-app/{key}/{automation_id}/resolve"),
    ("POST", "/api/feature-flags/{flag_id}/resolve"),
    ("POST", "/api/remote-audience-check/app/{key}"),
    ("DELETE", "/api/pipelines/{pipeline_id}"),
    ("POST", "/api/named_users/scoped"),
    ("POST", "/operator/apps/{key}/platforms/{platform}/test"),
    ("DELETE", "/api/segments/{segment_id}"),
    ("DELETE", "/api/drafts/{draft_id}"),
    ("POST", "/api/schedules/{schedule_id}/pause"),
    ("POST", "/api/schedules/{schedule_id}/resume"),
    ("DELETE", "/api/schedules/{schedule_id}"),
    ("POST", "/api/templates/push/validate"),
    ("DELETE", "/api/tags/{tag}"),
    ("DELETE", "/api/lists/{list}"),
    ("DELETE", "/operator/apps/{key}"),
    ("PUT", "/operator/apps/{key}/team/{account_id}"),
    ("DELETE", "/operator/apps/{key}/team/{account_id}"),
    ("DELETE", "/operator/apps/{key}/former-secrets/{secret}"),
    ("DELETE", "/operator/apps/{key}/tokens/{token_id}"),
    ("DELETE", "/operator/apps/{key}/oauth-clients/{client_id}"),
    // For a page with the code of the demo, and no other credentials.
    ("POST", "/demo/phones/{device_type}"),
    ("POST", "/demo/push"),
    // Answers as OAuth says.
    ("POST", "/token"),
    ("DELETE", "/operator/accounts/{account_id}"),
    ("DELETE", "/operator/accounts/{account_id}/one-time-codes"),
    ("DELETE", "/operator/accounts/{account_id}/sign-ins/{sign_in_id}"),
    ("POST", "/operator/apps/{key}/webhooks/{webhook_id}/test"),
    ("DELETE", "/operator/apps/{key}/webhooks/{webhook_id}"),
    ("DELETE", "/operator/apps/{key}/platforms/{platform}"),
    ("DELETE", "/operator/apps/{key}/platforms/{platform}/keys/{fingerprint}"),
];

/// Method, route and body, in an order in which every call succeeds.
const CHANGES: &[(&str, &str, &str)] = &[
    ("PUT", "/api/sandbox/faults", r#"{"faults":[]}"#),
    ("PUT", "/api/channels/{channel_id}", r#"{"channel":{"device_type":"ios","opt_in":true}}"#),
    ("POST", "/api/web-channels", r#"{"channel":{"device_type":"web","opt_in":false}}"#),
    ("POST", "/api/channels", r#"{"channel":{"device_type":"ios","opt_in":true}}"#),
    (
        "POST",
        "/api/channels/open",
        r#"{"channel":{"type":"open","opt_in":true,"address":"a","open":{"open_platform_name":"fridge"}}}"#,
    ),
    (
        "POST",
        "/api/channels/open/tags",
        r#"{"audience":{"address":"a","open_platform_name":"fridge"},"add":{"g":["t"]}}"#,
    ),
    ("POST", "/api/channels/open/uninstall", r#"{"address":"a","open_platform_name":"fridge"}"#),
    (
        "POST",
        "/api/channels/tags",
        r#"{"audience":{"channel":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"},"add":{"g":["t"]}}"#,
    ),
    (
        "POST",
        "/api/channels/attributes",
        r#"{"audience":{"named_user_id":"jo"},"attributes":[{"action":"set","key":"a","value":1}]}"#,
    ),
    ("POST", "/api/channels/{channel_id}/attributes", r#"{"attributes":[{"action":"set","key":"a","value":1}]}"#),
    ("PUT", "/api/channels/sdk/batch/{channel_id}", r#"{"attributes":[{"action":"set","key":"a","value":1}]}"#),
    (
        "POST",
        "/api/channels/subscription_lists",
        r#"{"audience":{"named_user_id":"jo"},"subscription_lists":[{"action":"subscribe","list_id":"a"}]}"#,
    ),
    (
        "POST",
        "/api/named_users/associate",
        r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","named_user_id":"jo"}"#,
    ),
    ("POST", "/api/named_users/{named_user_id}", r#"{"tags":{"add":{"g":["t"]}}}"#),
    ("POST", "/api/named_users/tags", r#"{"audience":{"named_user_id":"jo"},"add":{"g":["t"]}}"#),
    ("POST", "/api/named_users/{named_user_id}/attributes", r#"{"attributes":[{"action":"remove","key":"a"}]}"#),
    (
        "POST",
        "/api/named_users/scoped/{named_user_id}",
        r#"{"scoped":[{"scope":"app","subscription_lists":{"subscribe":["a"]}}]}"#,
    ),
    ("POST", "/api/named_users/disassociate", r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"}"#),
    (
        "POST",
        "/api/channels/restricted/open",
        r#"{"channel":{"type":"open","opt_in":true,"address":"b","open":{"open_platform_name":"fridge"}}}"#,
    ),
    ("POST", "/api/contacts/identify/v2", r#"{"action":{"type":"identify","named_user_id":"jo"}}"#),
    ("POST", "/api/contacts/reset", r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"}"#),
    ("POST", "/api/contacts/identify", r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","named_user_id":"jo"}"#),
    ("POST", "/api/contacts/resolve", r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"}"#),
    ("POST", "/api/contacts/{contact_id}", r#"{"tags":{"add":{"g":["t"]}}}"#),
    (
        "POST",
        "/api/contacts/associate",
        r#"{"contact_id":"{contact_id}","channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"}"#,
    ),
    ("POST", "/api/contacts/tags", r#"{"audience":{"contact_id":"{contact_id}"},"add":{"g":["t"]}}"#),
    (
        "POST",
        "/api/contacts/attributes",
        r#"[{"audience":{"contact_id":["{contact_id}"]},"attributes":[{"action":"set","key":"a","value":1}]}]"#,
    ),
    (
        "POST",
        "/api/contacts/scoped/{contact_id}",
        r#"{"scoped":[{"scope":"app","subscription_lists":{"subscribe":["a"]}}]}"#,
    ),
    (
        "POST",
        "/api/channels/remove_push_address",
        r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","device_type":"ios"}"#,
    ),
    ("POST", "/api/contacts/disassociate/{contact_id}", r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"}"#),
    ("POST", "/api/named_users/uninstall", r#"{"named_user_id":["jo"]}"#),
    ("POST", "/api/channels/import", r#"{"device_type":"android","opt_in":true,"push_address":"of-an-import"}"#),
    ("POST", "/api/channels/uninstall", r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","device_type":"ios"}"#),
    ("POST", "/api/push", r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#),
    (
        "POST",
        "/api/create-and-send",
        r#"{"audience":{"create_and_send":[{"ua_address":"c"}]},"device_types":["open::fridge"],"notification":{"alert":"Hi"}}"#,
    ),
    (
        "POST",
        "/api/schedules/create-and-send",
        r#"{"schedule":{"scheduled_time":"2035-01-01T08:00:00"},"push":{"audience":{"create_and_send":[{"ua_address":"c"}]},
            "device_types":["open::fridge"],"notification":{"alert":"Hi"}}}"#,
    ),
    (
        "POST",
        "/api/schedules/bulk-send",
        r#"{"schedule":{"scheduled_time":"2035-01-01T08:00:00"},"push":{"audience":{"create_and_send":[{"ua_address":"c"}]},
            "device_types":["open::fridge"],"notification":{"alert":"Hi"}}}"#,
    ),
    ("POST", "/api/bulk/{device_type}", "ua_channel_id\n9c36e8c7-5a73-47c0-9716-99fd3d4197d5\n"),
    ("POST", "/api/bulk/open/{open_platform}", "ua_address\nc\n"),
    (
        "POST",
        "/api/bulk-send",
        r#"{"audience":{"bulk_id":"{bulk_id}"},"device_types":["open::fridge"],"notification":{"alert":"Hi"}}"#,
    ),
    ("POST", "/api/journeys/trigger", r#"{"audience":{"named_user":"jo"},"triggering_id":"welcome"}"#),
    ("POST", "/api/journeys/exit", r#"{"triggering_id":"welcome"}"#),
    ("POST", "/api/push/{push_id}/pause", ""),
    ("POST", "/api/push/{push_id}/resume", ""),
    ("POST", "/api/push/{push_id}/cancel", ""),
    ("POST", "/api/segments", r#"{"display_name":"a","criteria":{"tag":"a"}}"#),
    ("PUT", "/api/segments/{segment_id}", r#"{"display_name":"b","criteria":{"tag":"b"}}"#),
    (
        "POST",
        "/api/schedules",
        r#"{"schedule":{"scheduled_time":"2030-01-01T00:00"},
            "push":{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}}"#,
    ),
    (
        "PUT",
        "/api/schedules/{schedule_id}",
        r#"{"schedule":{"scheduled_time":"2031-01-01T00:00"},
            "push":{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}}"#,
    ),
    ("PUT", "/api/push/test-group", r#"{"audience":{"tag":"a"}}"#),
    ("POST", "/api/push/test", r#"{"push":{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}}"#),
    ("POST", "/api/drafts", r#"{"document":{}}"#),
    (
        "PUT",
        "/api/drafts/{draft_id}",
        r#"{"version":1,"document":{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}}"#,
    ),
    ("POST", "/api/drafts/{draft_id}/submit", r#"{"version":2}"#),
    ("POST", "/api/drafts/{draft_id}/approve", r#"{"version":2}"#),
    ("POST", "/api/drafts/{draft_id}/send", r#"{"version":2}"#),
    ("POST", "/api/templates", r#"{"name":"a","variables":[],"push":{"notification":{"alert":"Hi"}}}"#),
    ("POST", "/api/templates/{template_id}", r#"{"name":"b"}"#),
    (
        "POST",
        "/api/templates/push",
        r#"{"audience":"all","device_types":"all","merge_data":{"template_id":"{template_id}"}}"#,
    ),
    (
        "POST",
        "/api/templates/schedules",
        r#"{"audience":"all","device_types":"all","merge_data":{"template_id":"{template_id}"},
            "schedule":{"scheduled_time":"2030-01-01T00:00"}}"#,
    ),
    ("DELETE", "/api/templates/{template_id}", ""),
    ("POST", "/api/content/templates", r#"{"type":"app","name":"a","external_id":"a","content":{"alert":"Hi"}}"#),
    (
        "PUT",
        "/api/content/templates/external/{type}/{external_id}",
        r#"{"type":"app","name":"b","external_id":"a","content":{"alert":"Hi"}}"#,
    ),
    (
        "PUT",
        "/api/content/templates/{template_id}",
        r#"{"type":"app","name":"b","external_id":"a","content":{"alert":"Hi"}}"#,
    ),
    ("DELETE", "/api/content/templates/external/{type}/{external_id}", ""),
    ("POST", "/api/content/templates", r#"{"type":"web","name":"a","content":{"alert":"Hi"}}"#),
    ("DELETE", "/api/content/templates/{template_id}", ""),
    (
        "POST",
        "/api/in-app/{key}",
        r#"{"in_app_message":{"type":"actions","actions":{},"triggers":[{"type":"foreground","goal":1}]}}"#,
    ),
    (
        "PUT",
        "/api/in-app/{key}/{automation_id}",
        r#"{"in_app_message":{"type":"actions","actions":{},"triggers":[{"type":"background","goal":1}]}}"#,
    ),
    ("PUT", "/api/in-app/{key}/eligibility", r#"{"automation_ids":["{automation_id}"],"requires_eligibility":true}"#),
    ("PUT", "/api/in-app/{key}/frequency-constraints", r#"{"frequency_constraints":[]}"#),
    ("DELETE", "/api/in-app/{key}/{automation_id}", ""),
    ("POST", "/api/preference-forms/{key}", r#"{"preference_form":{"form":{"id":"a","sections":[]}}}"#),
    ("DELETE", "/api/preference-forms/{key}/{form_id}", ""),
    ("POST", "/api/feature-flags", r#"{"name":"a"}"#),
    ("PUT", "/api/feature-flags/{flag_id}", r#"{"name":"b"}"#),
    ("DELETE", "/api/feature-flags/{flag_id}", ""),
    ("POST", "/api/holdout-groups", r#"{"name":"a","audience_selector":{}}"#),
    ("PUT", "/api/holdout-groups/{holdout_id}", r#"{"name":"b","audience_selector":{}}"#),
    ("DELETE", "/api/holdout-groups/{holdout_id}", ""),
    ("POST", "/api/remote-config/app/{key}/{platform}", r#"{"set_values":[{"scope":["a"],"value":1}]}"#),
    ("DELETE", "/api/remote-config/app/{key}/{platform}", ""),
    (
        "POST",
        "/api/experiments",
        r#"{"audience":"all","device_types":"all","control":0.5,
            "variants":[{"push":{"notification":{"alert":"Hi"}},"schedule":{"scheduled_time":"2030-01-01T00:00"}}]}"#,
    ),
    (
        "POST",
        "/api/experiments/validate",
        r#"{"audience":"all","device_types":"all","control":0.5,"variants":[{"push":{"notification":{"alert":"Hi"}}}]}"#,
    ),
    ("DELETE", "/api/experiments/scheduled/{experiment_id}", ""),
    (
        "POST",
        "/api/pipelines",
        r#"{"enabled":false,"immediate_trigger":"first_open",
            "outcome":{"push":{"audience":"triggered","device_types":"all","notification":{"alert":"Hi"}}}}"#,
    ),
    (
        "PUT",
        "/api/pipelines/{pipeline_id}",
        r#"{"enabled":false,"immediate_trigger":{"tag_added":"t"},
            "outcome":{"push":{"audience":"triggered","device_types":"all","notification":{"alert":"Hi"}}}}"#,
    ),
    ("PUT", "/api/pipelines/constraints", r#"{"constraints":[{"rate":{"pushes":1,"days":1}}]}"#),
    ("POST", "/api/custom-events", r#"{"user":{"named_user_id":"jo"},"body":{"name":"bought"}}"#),
    ("PUT", "/api/tags/{tag}", ""),
    ("POST", "/api/tags/{tag}", r#"{"apids":{"add":["a"]}}"#),
    ("PUT", "/api/tags/batch", r#"[{"apid":"a","tags":["t"]}]"#),
    ("POST", "/api/tags/batch", r#"[{"apid":"a","tags":["t"]}]"#),
    ("POST", "/api/lists", r#"{"name":"a"}"#),
    ("PUT", "/api/lists/{list}", r#"{"description":"a"}"#),
    ("PUT", "/api/lists/{list}/csv", "named_user,jo\r\n"),
    ("POST", "/api/tag-lists", r#"{"name":"a","add":{"g":["t"]}}"#),
    ("PUT", "/api/tag-lists/{list}/csv", "named_user\r\njo\r\n"),
    ("POST", "/api/attribute-lists", r#"{"name":"a"}"#),
    ("PUT", "/api/attribute-lists/{list}/csv", "named_user,plan\r\njo,gold\r\n"),
    ("POST", "/api/user", "{}"),
    ("POST", "/api/user/{user_id}", "{}"),
    ("POST", "/api/push", r#"{"audience":"all","device_types":["ios"],"message":{"title":"a","body":"b"}}"#),
    ("POST", "/api/user/{user_id}/messages/unread", r#"{"messages":[]}"#),
    ("POST", "/api/user/{user_id}/messages/delete", r#"{"messages":[]}"#),
    ("POST", "/api/user/{user_id}/messages/message/{message_id}/read", ""),
    ("DELETE", "/api/user/{user_id}/messages/message/{message_id}", ""),
    ("DELETE", "/api/user/messages/{message_id}", ""),
    ("POST", "/api/privacy/export", r#"{"named_user_id":"nobody"}"#),
    ("POST", "/api/privacy/erase", r#"{"named_user_id":"nobody"}"#),
    ("POST", "/operator/apps", r#"{"name":"a","mode":"development"}"#),
    ("PATCH", "/operator/apps/{key}", r#"{"name":"b"}"#),
    ("POST", "/operator/apps/{key}/tokens", r#"{"name":"Shop","role":"sender"}"#),
    ("POST", "/operator/apps/{key}/oauth-clients", r#"{"name":"CRM","role":"viewer"}"#),
    ("POST", "/operator/apps/{key}/team", r#"{"email":"lee@example.com","role":"viewer"}"#),
    ("POST", "/operator/accounts", r#"{"email":"kim@example.com"}"#),
    ("POST", "/operator/accounts/owner-link", ""),
    ("PATCH", "/operator/accounts/{account_id}", r#"{"name":"Kim"}"#),
    ("POST", "/operator/accounts/{account_id}/link", ""),
    ("PUT", "/operator/apps/{key}/platforms/{platform}", r#"{"url":"http://127.0.0.1:9/","validate":false}"#),
    ("POST", "/operator/apps/{key}/platforms/{platform}/keys", r#"{"client_id":"a","client_secret":"b"}"#),
    ("POST", "/operator/apps/{key}/platforms/{platform}/pause", ""),
    ("POST", "/operator/apps/{key}/platforms/{platform}/resume", ""),
    ("POST", "/operator/apps/{key}/webhooks", r#"{"url":"http://127.0.0.1:9/","types":["OPEN"]}"#),
    ("PATCH", "/operator/apps/{key}/webhooks/{webhook_id}", r#"{"enabled":false}"#),
    ("POST", "/operator/apps/{key}/webhooks/{webhook_id}/replay", r#"{"offset":"0"}"#),
    ("POST", "/operator/apps/{key}/webhooks/{webhook_id}/dead/redeliver", ""),
    ("DELETE", "/operator/apps/{key}/webhooks/{webhook_id}/dead", ""),
];
/// At the end, because the credentials of the test stop working.
const LAST: (&str, &str, &str) = ("POST", "/operator/apps/{key}/rotate", r#"{"secret":"both"}"#);

#[test]
fn no_change_is_forgotten() {
    let changes = CHANGES.iter().chain([&LAST]).map(|(method, path, _)| (*method, *path));
    let known: BTreeSet<_> = changes.chain(WITHOUT.iter().copied()).collect();
    let served = routes();
    let served = served.iter().filter(|route| route.method != Method::GET);
    assert_eq!(known, served.map(|route| (route.method.as_str(), route.path)).collect());
}

#[tokio::test]
async fn every_change_has_an_operation_id() {
    on_each_database(async |app| {
        let mut made: BTreeMap<&str, String> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for (method, route, body) in CHANGES.iter().chain([&LAST]) {
            let path = route.replace("{channel_id}", CHANNEL).replace("{named_user_id}", "jo");
            let fill = |text: &str| made.iter().fold(text.to_owned(), |text, (key, id)| text.replace(key, id));
            let (path, body) = (fill(&path), fill(body));
            let path = path.replace("{tag}", "t").replace("{list}", "a");
            let path = path.replace("{device_type}", "ios").replace("{open_platform}", "fridge");
            let path = path.replace("{type}", "app").replace("{external_id}", "a");
            let path = path.replace("{form_id}", "a");
            let platform = match *route {
                route if route.ends_with("/keys") => "adm",
                route if route.starts_with("/api/remote-config") => "ios",
                _ => "open::fridge",
            };
            let path = path.replace("{key}", &app.app.key).replace("{platform}", platform);
            let caller = if route.starts_with("/operator") {
                app.operator()
            } else if route.starts_with("/api/user/{user_id}") {
                app.nobody().basic(&made["{user_id}"], &made["{password}"])
            } else {
                app.master()
            };
            let request = caller.request(method.parse().unwrap(), &path).header("x-ua-channel-id", CHANNEL);
            let reply = caller.send(request.body(Bytes::from(body)).unwrap()).await;
            assert!(reply.status.is_success(), "{method} {path}: {}", reply.text());
            let answer = reply.json();
            assert_eq!(answer["ok"], true, "{method} {path}: {answer}");
            let id = answer["operation_id"].as_str().unwrap_or_else(|| panic!("{method} {path}: {answer}"));
            assert_eq!(id.len(), 36, "{method} {path}: {answer}");
            assert!(seen.insert(id.to_owned()), "{method} {path}: {answer}");
            let ids = [
                ("{contact_id}", &answer["contact_id"]),
                ("{account_id}", &answer["account_id"]),
                ("{push_id}", &answer["push_ids"][0]),
                ("{bulk_id}", &answer["bulk_id"]),
                ("{segment_id}", &answer["segment_id"]),
                ("{draft_id}", &answer["draft"]["draft_id"]),
                ("{template_id}", &answer["template_id"]),
                ("{experiment_id}", &answer["experiment_id"]),
                ("{pipeline_id}", &answer["pipeline_ids"][0]),
                ("{schedule_id}", &answer["schedule_ids"][0]),
                ("{webhook_id}", &answer["webhook"]["webhook_id"]),
                ("{automation_id}", &answer["message_id"]),
                ("{flag_id}", &answer["flag_id"]),
                ("{holdout_id}", &answer["holdout_id"]),
                ("{message_id}", &answer["message_ids"][0]),
                ("{user_id}", &answer["user_id"]),
                ("{password}", &answer["password"]),
            ];
            made.extend(ids.into_iter().filter_map(|(key, id)| Some((key, id.as_str()?.to_owned()))));
        }
    })
    .await;
}
