//! What each route is sent, with the ids of things that another app has.

use api::Route;
use serde_json::{Value, json};

use super::{Belongings, LIST, MARK, USER};

/// Bodies that name the first app's things in every way the route knows.
pub(crate) fn bodies(route: &Route, belongings: &Belongings) -> Vec<Value> {
    let channel = &belongings.channel;
    let push_to =
        |audience: Value| json!({"audience": audience, "device_types": "all", "notification": {"alert": "x"}});
    let device = json!({"channel": {"device_type": "ios", "opt_in": false, "push_address": "ABCDEF0123"},
                        "identity_hints": {"device_id": "hint-of-the-device"}});
    let fridge = json!({"address": "fridge-1", "open_platform_name": "fridge"});
    let forget = json!([{"action": "remove", "key": "secret"}]);
    let leave = json!([{"action": "unsubscribe", "list_id": "weekly"}]);
    match (route.method.as_str(), route.path) {
        ("GET", _) => vec![Value::Null],
        ("POST", "/api/push" | "/api/push/validate") => vec![
            push_to(json!("all")),
            push_to(json!({"channel": channel})),
            push_to(json!({"ios_channel": channel})),
            push_to(json!({"device_token": "ABCDEF0123"})),
            push_to(json!({"open_channel": "fridge-1"})),
            push_to(json!({"tag": MARK})),
            push_to(json!({"named_user": USER})),
            push_to(json!({"segment": belongings.segment})),
            push_to(json!({"static_list": LIST})),
            push_to(json!({"subscription_list": "weekly"})),
            push_to(json!({"attribute": "secret", "operator": "equals", "value": MARK})),
            push_to(json!({"not": {"tag": "nobody-has-this"}})),
        ],
        ("DELETE", "/api/sandbox" | "/api/channels/{channel_id}") => vec![Value::Null],
        ("PUT", "/api/sandbox/faults") => vec![json!({"faults": [{"answer": "gone", "count": 9}]})],
        ("POST", "/api/push/preview") => vec![json!({"push": push_to(json!("all")), "channel": channel})],
        ("POST", "/api/privacy/export" | "/api/privacy/erase") => {
            vec![json!({"named_user_id": USER}), json!({"channel_id": channel}), json!({"address": "ABCDEF0123"})]
        }
        ("POST", "/api/channels" | "/api/web-channels") | ("PUT", "/api/channels/{channel_id}") => vec![device],
        ("POST", "/api/channels/uninstall") => vec![json!({"channel_id": channel, "device_type": "ios"})],
        ("POST", "/api/channels/open" | "/api/channels/restricted/open") => {
            let register = |open: Value, id: Option<&str>| {
                let mut body =
                    json!({"channel": {"type": "open", "opt_in": true, "address": "fridge-1", "open": open}});
                if let Some(id) = id {
                    body["channel"]["channel_id"] = json!(id);
                }
                body
            };
            let fridge = json!({"open_platform_name": "fridge"});
            vec![
                register(fridge.clone(), None),
                register(fridge, Some(channel)),
                register(json!({"open_platform_name": "fridge", "old_address": "fridge-1"}), None),
            ]
        }
        ("POST", "/api/channels/open/uninstall") => vec![fridge],
        ("POST", "/api/channels/open/tags") => {
            vec![json!({"audience": fridge, "set": {"device": []}}), json!({"audience": fridge, "add": {"g": ["t"]}})]
        }
        ("POST", "/api/channels/tags") => {
            vec![json!({"audience": {"ios_channel": channel}, "set": {"device": []}})]
        }
        ("POST", "/api/named_users/tags") => vec![json!({"audience": {"named_user_id": USER}, "set": {MARK: []}})],
        ("POST", "/api/named_users/associate") => vec![json!({"channel_id": channel, "named_user_id": "another"})],
        ("POST", "/api/named_users/disassociate") => {
            vec![json!({"channel_id": channel}), json!({"channel_id": channel, "named_user_id": USER})]
        }
        ("POST", "/api/named_users/uninstall") => vec![json!({"named_user_id": USER})],
        ("POST", "/api/named_users/{named_user_id}" | "/api/named_users/scoped") => {
            vec![json!({"disassociate": [{"channel_id": channel}], "tags": {"set": {MARK: []}}})]
        }
        ("POST", "/api/custom-events") => vec![
            json!({"user": {"channel": channel}, "body": {"name": "bought"}}),
            json!({"user": {"named_user_id": USER}, "body": {"name": "bought"}}),
        ],
        ("POST", "/api/segments") => vec![json!({"display_name": "x", "criteria": {"segment": belongings.segment}})],
        ("PUT", "/api/segments/{segment_id}") => vec![json!({"display_name": "x", "criteria": {"tag": "x"}})],
        ("POST", "/api/push/{push_id}/pause" | "/api/push/{push_id}/resume" | "/api/push/{push_id}/cancel") => {
            vec![Value::Null]
        }
        ("POST", "/api/schedules") | ("PUT", "/api/schedules/{schedule_id}") => {
            let time = json!({"scheduled_time": "2031-01-01T00:00"});
            vec![json!({"schedule": time, "push": push_to(json!({"segment": belongings.segment}))})]
        }
        ("POST", "/api/channels/import") => {
            let line =
                json!({"channel_id": channel, "device_type": "ios", "alias": "imported", "tag_groups": {MARK: []}});
            vec![json!(line.to_string())]
        }
        ("POST", "/api/bulk/{device_type}") => vec![json!(format!("ua_channel_id\n{channel}\n"))],
        ("POST", "/api/bulk/open/{open_platform}") => vec![json!("ua_address\nfridge-1\n")],
        ("POST", "/api/bulk-send" | "/api/bulk-send/validate") => {
            let audience = json!({"bulk_id": belongings.bulk});
            vec![json!({"audience": audience, "device_types": ["open::fridge"], "notification": {"alert": "x"}})]
        }
        ("POST", "/api/journeys/trigger") => {
            vec![
                json!({"audience": {"named_user": USER}, "triggering_id": "welcome"}),
                json!({"audience": "all", "triggering_id": "welcome"}),
            ]
        }
        ("POST", "/api/journeys/exit") => vec![json!({"triggering_id": "welcome"})],
        ("POST", path) if path.contains("create-and-send") || path.ends_with("bulk-send") => {
            // The address of a channel of the first app.
            let push = json!({
                "audience": {"create_and_send": [{"ua_address": "fridge-1"}]}, "device_types": ["open::fridge"],
                "notification": {"alert": "x"},
            });
            let is_later = path.starts_with("/api/schedules");
            vec![if is_later {
                json!({"schedule": {"scheduled_time": "2031-01-01T00:00"}, "push": push})
            } else {
                push
            }]
        }
        ("POST", "/api/schedules/{schedule_id}/pause" | "/api/schedules/{schedule_id}/resume") => vec![Value::Null],
        ("POST", "/api/push/test") => vec![json!({"push": push_to(json!("all"))})],
        ("PUT", "/api/push/test-group") => vec![json!({"audience": {"tag": "x"}})],
        ("POST", "/api/drafts") => vec![json!({"document": push_to(json!("all"))})],
        // In this order, each is of the version that the one before has made.
        ("PUT", "/api/drafts/{draft_id}") => vec![json!({"version": 1, "document": push_to(json!("all"))})],
        (
            "POST",
            "/api/drafts/{draft_id}/submit" | "/api/drafts/{draft_id}/approve" | "/api/drafts/{draft_id}/send",
        ) => {
            vec![json!({"version": 2})]
        }
        ("DELETE", "/api/drafts/{draft_id}") => vec![Value::Null],
        ("POST", "/api/templates") => {
            vec![json!({"name": "x", "variables": [], "push": {"notification": {"alert": "x"}}})]
        }
        ("POST" | "PUT", path) if path.starts_with("/api/content/templates") => {
            vec![json!({"type": "app", "name": "x", "external_id": "x-1", "content": {"alert": "x"}})]
        }
        ("DELETE", path) if path.starts_with("/api/content/templates") => vec![Value::Null],
        ("POST" | "PUT", path) if path.starts_with("/api/in-app") => vec![match path {
            "/api/in-app/{key}/eligibility" => {
                json!({"automation_ids": [belongings.in_app_message], "requires_eligibility": true})
            }
            "/api/in-app/{key}/frequency-constraints" => json!({"frequency_constraints": []}),
            "/api/in-app/{key}/{automation_id}/resolve" => json!({"channel_id": belongings.channel}),
            _ => in_app_message(),
        }],
        ("POST", "/api/preference-forms/{key}") => vec![form("x")],
        ("POST", "/api/feature-flags/{flag_id}/resolve" | "/api/remote-audience-check/app/{key}") => {
            vec![json!({"channel_id": belongings.channel})]
        }
        ("POST" | "PUT", path) if path.starts_with("/api/feature-flags") => vec![json!({"name": "x"})],
        ("POST" | "PUT", path) if path.starts_with("/api/holdout-groups") => {
            vec![json!({"name": "x", "audience_selector": {}})]
        }
        ("POST", "/api/remote-config/app/{key}/{platform}") => {
            vec![json!({"set_values": [{"scope": ["x"], "value": 1}]})]
        }
        (
            "DELETE",
            "/api/in-app/{key}/{automation_id}"
            | "/api/preference-forms/{key}/{form_id}"
            | "/api/feature-flags/{flag_id}"
            | "/api/holdout-groups/{holdout_id}"
            | "/api/remote-config/app/{key}/{platform}",
        ) => vec![Value::Null],
        ("POST", "/api/experiments" | "/api/experiments/validate") => {
            let variant = json!({"push": {"notification": {"alert": "x"}}});
            let audience = json!({"segment": belongings.segment});
            vec![json!({"audience": audience, "device_types": "all", "variants": [variant, variant]})]
        }
        ("DELETE", "/api/experiments/scheduled/{experiment_id}") => vec![Value::Null],
        ("POST", "/api/templates/{template_id}") => vec![json!({"name": "changed"})],
        ("POST", "/api/templates/push" | "/api/templates/push/validate" | "/api/templates/schedules") => {
            let merge = json!({"template_id": belongings.template});
            let mut use_of = json!({"audience": "all", "device_types": "all", "merge_data": merge});
            if route.path.ends_with("schedules") {
                use_of["schedule"] = json!({"scheduled_time": "2031-01-01T00:00"});
            }
            vec![use_of]
        }
        ("POST", "/api/pipelines" | "/api/pipelines/validate") | ("PUT", "/api/pipelines/{pipeline_id}") => {
            let outcome = json!({"push": push_to(json!("triggered"))});
            vec![json!({"enabled": true, "immediate_trigger": "first_open", "outcome": outcome})]
        }
        ("PUT", "/api/pipelines/constraints") => vec![json!([{"rate": {"pushes": 1, "lifetimes": 1}}])],
        ("DELETE", "/api/pipelines/{pipeline_id}") => vec![Value::Null],
        ("POST", "/api/tags/{tag}") => vec![json!({"ios_channels": {"remove": [channel]}})],
        ("PUT" | "POST", "/api/tags/batch") => vec![json!([{"ios_channel": channel, "tags": []}])],
        ("POST", "/api/channels/attributes") => vec![
            json!({"audience": {"channel": channel}, "attributes": forget}),
            json!({"audience": {"named_user_id": USER}, "attributes": forget}),
        ],
        ("POST", "/api/channels/{channel_id}/attributes" | "/api/named_users/{named_user_id}/attributes") => {
            vec![json!({"attributes": forget})]
        }
        ("PUT", "/api/channels/sdk/batch/{channel_id}") => vec![json!({"attributes": forget})],
        ("POST", "/api/channels/subscription_lists") => {
            vec![json!({"audience": {"channel": channel}, "subscription_lists": leave})]
        }
        ("POST", "/api/named_users/scoped/{named_user_id}") => {
            vec![json!({"scoped": [{"scope": ["app"], "subscription_lists": {"unsubscribe": ["weekly"]}}]})]
        }
        ("POST", "/api/contacts/identify/v2") => vec![
            json!({"action": {"type": "resolve"}}),
            json!({"action": {"type": "reset"}}),
            json!({"action": {"type": "identify", "named_user_id": USER}}),
        ],
        ("POST", "/api/contacts/resolve" | "/api/contacts/reset") => vec![json!({"channel_id": channel})],
        ("POST", "/api/contacts/identify") => vec![json!({"channel_id": channel, "named_user_id": "another"})],
        ("POST", "/api/contacts/{contact_id}") => {
            vec![json!({"tags": {"set": {MARK: []}}, "attributes": forget, "associate": [{"channel_id": channel}]})]
        }
        ("POST", "/api/contacts/disassociate/{contact_id}") => vec![json!({"channel_id": channel})],
        ("POST", "/api/contacts/associate") => vec![json!({"contact_id": belongings.contact, "channel_id": channel})],
        ("POST", "/api/contacts/tags") => {
            vec![json!({"audience": {"contact_id": belongings.contact}, "add": {"beside": ["t"]}})]
        }
        ("POST", "/api/contacts/attributes") => {
            vec![json!([{"audience": {"contact_id": belongings.contact}, "attributes": forget}])]
        }
        ("POST", "/api/contacts/scoped/{contact_id}") => {
            vec![json!({"scoped": [{"scope": ["app"], "subscription_lists": {"subscribe": ["monthly"]}}]})]
        }
        ("POST", "/api/channels/remove_push_address") => vec![json!({"channel_id": channel, "device_type": "ios"})],
        ("POST", "/api/channel-tags-lookup") => {
            vec![json!({"channel_id": channel, "device_type": "ios", "tag_groups": {"device": [MARK]}})]
        }
        ("POST", "/api/tag-lists") => vec![json!({"name": LIST, "add": {"g": ["t"]}})],
        ("PUT", "/api/tag-lists/{list}/csv") => vec![json!("named_user\nsomebody\n")],
        ("DELETE", "/api/tag-lists/{list}") => vec![Value::Null],
        ("POST", "/api/attribute-lists") => vec![json!({"name": LIST})],
        ("PUT", "/api/attribute-lists/{list}/csv") => vec![json!("named_user,plan\nsomebody,gold\n")],
        ("POST", "/api/metered-usage") => vec![json!({})],
        ("POST", "/live/ack") => vec![json!({"at": "1"})],
        ("POST", "/api/audience/explain") => vec![
            json!({"audience": {"tag": "nobody-has-this"}, "device_types": "all"}),
            json!({"audience": {"static_list": "list-of-the-first-ap"}, "device_types": "all"}),
        ],
        ("POST", "/api/reports/perpush/detail") => vec![json!({"push_ids": [belongings.push]})],
        ("POST", "/api/events") => vec![
            json!({"follow": false}),
            json!({"follow": false, "filters": [{"users": [{"named_user_id": USER}]}]}),
            json!({"follow": false, "filters": [{"notifications": [{"push_id": belongings.push}]}]}),
            json!({"follow": false, "filters": [{"devices": [{"channel": channel}]}]}),
        ],
        ("POST", "/api/lists") => vec![json!({"name": "another-list"})],
        ("PUT", "/api/lists/{list}") => vec![json!({"description": "changed"})],
        // Text that is not JSON.
        ("PUT", "/api/lists/{list}/csv") => vec![json!("named_user,somebody\n")],
        ("DELETE", "/api/lists/{list}") => vec![Value::Null],
        ("POST", "/api/user") => vec![json!({"ios_channels": [channel]})],
        ("POST", "/api/user/{user_id}") => {
            vec![json!({"ios_channels": {"add": [channel]}}), json!({"ios_channels": {"remove": [channel]}})]
        }
        ("POST", "/api/user/{user_id}/messages/unread" | "/api/user/{user_id}/messages/delete") => {
            vec![json!({"messages": [{"message_id": belongings.message}]})]
        }
        ("POST", "/api/user/{user_id}/messages/message/{message_id}/read") => vec![Value::Null],
        ("DELETE", "/api/user/messages/{message_id}") => vec![Value::Null],
        ("POST", "/api/user/messages/batch-delete") => {
            vec![json!({"message_ids": [belongings.message]}), json!({"group_ids": [belongings.schedule]})]
        }
        ("DELETE", "/api/user/{user_id}/messages/message/{message_id}") => vec![Value::Null],
        // These say all they say in the path; what the stranger makes under a name of the first app is the stranger's.
        ("PUT", "/api/tags/{tag}") => vec![Value::Null],
        ("DELETE", "/api/schedules/{schedule_id}" | "/api/templates/{template_id}") => vec![Value::Null],
        ("DELETE", "/api/segments/{segment_id}" | "/api/tags/{tag}") => vec![Value::Null],
        (method, path) => panic!("{method} {path} is new: say here how it names things of an app"),
    }
}

/// A message that devices show when the app is opened.
pub(super) fn in_app_message() -> Value {
    json!({"in_app_message": {
        "type": "in_app_message", "triggers": [{"type": "foreground", "goal": 1}],
        "message": {"display_type": "banner", "display": {"body": {"text": MARK}}},
    }})
}

/// A preference form without anything to choose.
pub(super) fn form(id: &str) -> Value {
    json!({"preference_form": {"form": {"id": id, "display": {"name": MARK}, "sections": []}}})
}
