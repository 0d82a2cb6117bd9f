//! The names of changes in the audit log, for every route by which servers or the operator can change something. A test compares
//! this table with the table of routes.

use http::Method;

/// What becomes of a route in the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audited {
    /// It changes nothing, or only devices call it.
    Never,
    /// Every request gets a row, under this name.
    Each(&'static str),
    /// Requests of a minute with the same credential and address share a row: servers send thousands of these a second. Not so
    /// what takes a device away or gives it to another user, of which an auditor wants to know the device.
    PerMinute(&'static str),
}

/// The name of a route that the table does not know. There is none: a test fails.
pub(super) const UNNAMED: &str = "unnamed";

pub(super) fn of(method: &Method, path: &str) -> Option<Audited> {
    let found = ACTIONS.iter().find(|(known, of, _)| *known == method.as_str() && *of == path);
    found.map(|(.., audited)| *audited)
}

use Audited::{Each, Never, PerMinute};

/// The names are what operators look for: never change one.
#[rustfmt::skip]
const ACTIONS: &[(&str, &str, Audited)] = &[
    ("POST", "/api/push", Each("push.send")),
    ("POST", "/api/push/validate", Never),
    // Devices acknowledge what they got.
    ("POST", "/live/ack", Never),
    ("POST", "/api/push/preview", Never),
    ("POST", "/api/push/test", Each("push.test")),
    ("PUT", "/api/push/test-group", Each("push.set_test_group")),
    ("POST", "/api/push/{push_id}/pause", Each("push.pause")),
    ("POST", "/api/push/{push_id}/resume", Each("push.resume")),
    ("POST", "/api/push/{push_id}/cancel", Each("push.cancel")),
    ("POST", "/api/create-and-send", Each("push.create_and_send")),
    ("POST", "/api/create-and-send/validate", Never),
    ("POST", "/api/channels", PerMinute("channel.register")),
    ("POST", "/api/web-channels", PerMinute("channel.register")),
    ("PUT", "/api/channels/{channel_id}", PerMinute("channel.update")),
    ("DELETE", "/api/channels/{channel_id}", Each("channel.uninstall")),
    ("PUT", "/api/channels/sdk/batch/{channel_id}", PerMinute("channel.batch")),
    ("POST", "/api/channels/remove_push_address", PerMinute("channel.remove_push_address")),
    // Asks, and changes nothing.
    ("POST", "/api/channel-tags-lookup", Never),
    ("POST", "/api/channels/uninstall", Each("channel.uninstall")),
    ("POST", "/api/channels/import", PerMinute("channel.import")),
    ("POST", "/api/channels/open", PerMinute("open_channel.register")),
    ("POST", "/api/channels/restricted/open", PerMinute("open_channel.register")),
    ("POST", "/api/channels/open/uninstall", Each("open_channel.uninstall")),
    ("POST", "/api/channels/open/tags", PerMinute("open_channel.tag")),
    ("POST", "/api/channels/tags", PerMinute("channel.tag")),
    ("POST", "/api/channels/attributes", PerMinute("channel.attributes")),
    ("POST", "/api/channels/{channel_id}/attributes", PerMinute("channel.attributes")),
    ("POST", "/api/channels/subscription_lists", PerMinute("channel.subscription_lists")),
    ("DELETE", "/api/sandbox", Each("sandbox.clear")),
    ("PUT", "/api/sandbox/faults", Each("sandbox.faults")),
    ("POST", "/api/privacy/export", Each("privacy.export")),
    ("POST", "/api/privacy/erase", Each("privacy.erase")),
    ("POST", "/api/named_users/scoped", Never),
    ("POST", "/api/named_users/tags", PerMinute("named_user.tag")),
    ("POST", "/api/named_users/associate", Each("named_user.associate")),
    ("POST", "/api/named_users/disassociate", Each("named_user.disassociate")),
    ("POST", "/api/named_users/uninstall", Each("named_user.uninstall")),
    ("POST", "/api/named_users/{named_user_id}", PerMinute("named_user.update")),
    ("POST", "/api/named_users/{named_user_id}/attributes", PerMinute("named_user.attributes")),
    ("POST", "/api/named_users/scoped/{named_user_id}", PerMinute("named_user.subscription_lists")),
    ("POST", "/api/contacts/identify/v2", PerMinute("contact.identify")),
    ("POST", "/api/contacts/identify", PerMinute("contact.identify")),
    ("POST", "/api/contacts/resolve", PerMinute("contact.resolve")),
    ("POST", "/api/contacts/reset", PerMinute("contact.reset")),
    ("POST", "/api/contacts/{contact_id}", PerMinute("contact.update")),
    ("POST", "/api/contacts/tags", PerMinute("contact.tag")),
    ("POST", "/api/contacts/attributes", PerMinute("contact.attributes")),
    ("POST", "/api/contacts/scoped/{contact_id}", PerMinute("contact.subscription_lists")),
    ("POST", "/api/contacts/associate", Each("contact.associate")),
    ("POST", "/api/contacts/disassociate/{contact_id}", PerMinute("contact.disassociate")),
    // Answered, and nothing is kept.
    ("POST", "/api/metered-usage", Never),
    ("POST", "/warp9", PerMinute("event.upload")),
    ("POST", "/api/web-events", PerMinute("event.upload")),
    ("POST", "/api/custom-events", PerMinute("custom_event.send")),
    ("POST", "/api/user", PerMinute("inbox.create")),
    ("DELETE", "/api/user/messages/{message_id}", Each("message.delete")),
    ("POST", "/api/user/messages/batch-delete", Each("message.delete")),
    ("POST", "/api/segments", Each("segment.create")),
    ("PUT", "/api/segments/{segment_id}", Each("segment.update")),
    ("DELETE", "/api/segments/{segment_id}", Each("segment.delete")),
    ("POST", "/api/schedules", Each("schedule.create")),
    ("POST", "/api/schedules/create-and-send", Each("schedule.create")),
    ("POST", "/api/schedules/bulk-send", Each("schedule.create")),
    ("POST", "/api/journeys/trigger", PerMinute("journey.enter")),
    ("POST", "/api/journeys/exit", Each("journey.exit")),
    ("POST", "/api/bulk/{device_type}", Each("bulk.upload")),
    ("POST", "/api/bulk/open/{open_platform}", Each("bulk.upload")),
    ("POST", "/api/bulk-send", Each("push.bulk_send")),
    ("POST", "/api/bulk-send/validate", Never),
    ("PUT", "/api/schedules/{schedule_id}", Each("schedule.update")),
    ("DELETE", "/api/schedules/{schedule_id}", Each("schedule.delete")),
    ("POST", "/api/schedules/{schedule_id}/pause", Each("schedule.pause")),
    ("POST", "/api/schedules/{schedule_id}/resume", Each("schedule.resume")),
    ("POST", "/api/drafts", Each("draft.create")),
    ("PUT", "/api/drafts/{draft_id}", Each("draft.update")),
    ("DELETE", "/api/drafts/{draft_id}", Each("draft.delete")),
    ("POST", "/api/drafts/{draft_id}/submit", Each("draft.submit")),
    ("POST", "/api/drafts/{draft_id}/approve", Each("draft.approve")),
    ("POST", "/api/drafts/{draft_id}/send", Each("draft.send")),
    ("POST", "/api/templates", Each("template.create")),
    ("POST", "/api/templates/push", Each("template.send")),
    ("POST", "/api/templates/push/validate", Never),
    ("POST", "/api/templates/schedules", Each("template.schedule")),
    ("POST", "/api/templates/{template_id}", Each("template.update")),
    ("DELETE", "/api/templates/{template_id}", Each("template.delete")),
    ("POST", "/api/content/templates", Each("content_template.create")),
    ("PUT", "/api/content/templates/{template_id}", Each("content_template.update")),
    ("DELETE", "/api/content/templates/{template_id}", Each("content_template.delete")),
    ("PUT", "/api/content/templates/external/{type}/{external_id}", Each("content_template.update")),
    ("DELETE", "/api/content/templates/external/{type}/{external_id}", Each("content_template.delete")),
    ("POST", "/api/remote-config/app/{key}/{platform}", Each("remote_config.update")),
    ("DELETE", "/api/remote-config/app/{key}/{platform}", Each("remote_config.delete")),
    // Devices ask, and nothing is kept.
    ("POST", "/api/remote-audience-check/app/{key}", Never),
    ("POST", "/api/in-app/{key}/{automation_id}/resolve", Never),
    ("POST", "/api/feature-flags/{flag_id}/resolve", Never),
    ("POST", "/api/in-app/{key}", Each("in_app_message.create")),
    ("POST", "/api/in-app/{key}/validate", Never),
    ("PUT", "/api/in-app/{key}/eligibility", Each("in_app_message.set_eligibility")),
    ("PUT", "/api/in-app/{key}/frequency-constraints", Each("in_app_message.set_constraints")),
    ("PUT", "/api/in-app/{key}/{automation_id}", Each("in_app_message.update")),
    ("DELETE", "/api/in-app/{key}/{automation_id}", Each("in_app_message.delete")),
    ("POST", "/api/preference-forms/{key}", Each("preference_form.save")),
    ("DELETE", "/api/preference-forms/{key}/{form_id}", Each("preference_form.delete")),
    ("POST", "/api/feature-flags", Each("feature_flag.create")),
    ("PUT", "/api/feature-flags/{flag_id}", Each("feature_flag.update")),
    ("DELETE", "/api/feature-flags/{flag_id}", Each("feature_flag.delete")),
    ("POST", "/api/holdout-groups", Each("holdout_group.create")),
    ("PUT", "/api/holdout-groups/{holdout_id}", Each("holdout_group.update")),
    ("DELETE", "/api/holdout-groups/{holdout_id}", Each("holdout_group.delete")),
    ("POST", "/api/experiments", Each("experiment.create")),
    ("POST", "/api/experiments/validate", Never),
    ("DELETE", "/api/experiments/scheduled/{experiment_id}", Each("experiment.delete")),
    ("POST", "/api/pipelines", Each("pipeline.create")),
    ("POST", "/api/pipelines/validate", Never),
    ("PUT", "/api/pipelines/constraints", Each("pipeline.set_constraints")),
    ("PUT", "/api/pipelines/{pipeline_id}", Each("pipeline.update")),
    ("DELETE", "/api/pipelines/{pipeline_id}", Each("pipeline.delete")),
    ("PUT", "/api/tags/batch", Each("tag.batch")),
    ("POST", "/api/tags/batch", Each("tag.batch")),
    ("PUT", "/api/tags/{tag}", Each("tag.create")),
    ("POST", "/api/tags/{tag}", Each("tag.change")),
    ("DELETE", "/api/tags/{tag}", Each("tag.delete")),
    ("POST", "/api/lists", Each("list.create")),
    ("PUT", "/api/lists/{list}", Each("list.update")),
    ("DELETE", "/api/lists/{list}", Each("list.delete")),
    ("PUT", "/api/lists/{list}/csv", Each("list.upload")),
    ("POST", "/api/tag-lists", Each("tag_list.create")),
    ("PUT", "/api/tag-lists/{list}/csv", Each("tag_list.upload")),
    ("DELETE", "/api/tag-lists/{list}", Each("tag_list.delete")),
    ("POST", "/api/attribute-lists", Each("attribute_list.create")),
    ("PUT", "/api/attribute-lists/{list}/csv", Each("attribute_list.upload")),
    ("POST", "/api/reports/perpush/detail", Never),
    ("POST", "/api/audience/explain", Never),
    ("POST", "/api/events", Never),
    ("POST", "/operator/apps", Each("app.create")),
    ("PATCH", "/operator/apps/{key}", Each("app.change")),
    ("DELETE", "/operator/apps/{key}", Each("app.delete")),
    ("POST", "/operator/apps/{key}/rotate", Each("app.rotate")),
    ("DELETE", "/operator/apps/{key}/former-secrets/{secret}", Each("app.end_former_secret")),
    ("POST", "/operator/apps/{key}/tokens", Each("token.create")),
    ("DELETE", "/operator/apps/{key}/tokens/{token_id}", Each("token.revoke")),
    ("POST", "/operator/apps/{key}/oauth-clients", Each("oauth_client.create")),
    ("DELETE", "/operator/apps/{key}/oauth-clients/{client_id}", Each("oauth_client.revoke")),
    ("POST", "/operator/apps/{key}/team", Each("team.add")),
    ("PUT", "/operator/apps/{key}/team/{account_id}", Each("team.change")),
    ("DELETE", "/operator/apps/{key}/team/{account_id}", Each("team.remove")),
    ("POST", "/operator/accounts", Each("account.invite")),
    ("POST", "/operator/accounts/owner-link", Each("account.owner_link")),
    ("PATCH", "/operator/accounts/{account_id}", Each("account.change")),
    ("DELETE", "/operator/accounts/{account_id}", Each("account.delete")),
    ("POST", "/operator/accounts/{account_id}/link", Each("account.password_link")),
    ("DELETE", "/operator/accounts/{account_id}/one-time-codes", Each("account.end_codes")),
    ("DELETE", "/operator/accounts/{account_id}/sign-ins/{sign_in_id}", Each("account.end_sign_in")),
    ("POST", "/operator/apps/{key}/webhooks", Each("webhook.create")),
    ("PATCH", "/operator/apps/{key}/webhooks/{webhook_id}", Each("webhook.change")),
    ("DELETE", "/operator/apps/{key}/webhooks/{webhook_id}", Each("webhook.delete")),
    // Sends something, and changes nothing.
    ("POST", "/operator/apps/{key}/webhooks/{webhook_id}/test", Never),
    ("POST", "/operator/apps/{key}/webhooks/{webhook_id}/replay", Each("webhook.replay")),
    ("DELETE", "/operator/apps/{key}/webhooks/{webhook_id}/dead", Each("webhook.discard")),
    ("POST", "/operator/apps/{key}/webhooks/{webhook_id}/dead/redeliver", Each("webhook.redeliver")),
    ("PUT", "/operator/apps/{key}/platforms/{platform}", Each("platform.set")),
    ("DELETE", "/operator/apps/{key}/platforms/{platform}", Each("platform.delete")),
    ("POST", "/operator/apps/{key}/platforms/{platform}/test", Never),
    ("POST", "/operator/apps/{key}/platforms/{platform}/pause", Each("platform.pause")),
    ("POST", "/operator/apps/{key}/platforms/{platform}/resume", Each("platform.resume")),
    ("POST", "/operator/apps/{key}/platforms/{platform}/keys", Each("platform.add_keys")),
    ("DELETE", "/operator/apps/{key}/platforms/{platform}/keys/{fingerprint}", Each("platform.remove_key")),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::audit::rule;
    use crate::routes::routes;

    #[test]
    fn every_changing_route_of_servers_and_the_operator_has_a_name() {
        let unnamed: Vec<_> = routes().into_iter().filter(|route| route.audited == Each(UNNAMED)).collect();
        assert!(unnamed.is_empty(), "these routes need a line in crates/api/src/audit/actions.rs: {unnamed:#?}");
    }

    #[test]
    fn the_table_has_no_routes_that_are_none_and_none_twice() {
        let known: BTreeSet<_> = routes().into_iter().map(|route| (route.method.to_string(), route.path)).collect();
        let mut seen = BTreeSet::new();
        for (method, path, _) in ACTIONS {
            assert!(known.contains(&((*method).to_owned(), *path)), "{method} {path} is no route");
            assert!(seen.insert((method, path)), "{method} {path} is there twice");
        }
    }

    #[test]
    fn names_are_words_with_a_dot() {
        for (.., audited) in ACTIONS {
            let (Each(name) | PerMinute(name)) = audited else { continue };
            let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            assert!(name.split_once('.').is_some_and(|(noun, verb)| is_word(noun) && is_word(verb)), "{name}");
        }
    }

    #[test]
    fn routes_of_the_inbox_are_of_devices() {
        assert_eq!(rule(&Method::POST, "/api/user/{user_id}", crate::Access::Inbox), Never);
    }
}
