//! Data for apps: in-app messages, preference forms, feature flags, holdout groups and configuration.

use model::remote_data::{
    ConfigUpdate, Eligibility, FeatureFlag, FrequencyConstraints, HoldoutGroup, NewInAppMessage, Resolving, SavedForm,
};
use remote_data::{ResolvedFlag, ResolvedMessage};
use serde_json::{Value, json};

use crate::answer::Done;
use crate::openapi::{Area, body};
use crate::routes::data_items::ItemVersion;
use crate::routes::{feature_flags, holdout_groups, in_app, preference_forms, remote_config};

const FULL: &str =
    "The app has as much of this as it may, or the idempotency key was used for another request (40900).";
const TOO_LARGE: &str = "All data of the app for its devices together would be too large (40900).";
const NOT_CHANGEABLE: &str =
    "All data of the app for its devices together would be too large, or the values cannot be read (40900).";
const UNREADABLE: &str = "The values cannot be read (40900).";
const DECIDED_BY_DEVICES: &str = "Devices decide about it by themselves since it was changed (40900).";

pub(super) fn messages() -> Area {
    let mut area = Area::new(
        "In-app messages",
        "Messages that devices show when something happens in the app. Devices download all of them as remote data.",
    );
    let message = json!({"in_app_message": {
        "type": "in_app_message", "limit": 1,
        "triggers": [{"type": "custom_event_count", "goal": 1,
                      "predicate": {"key": "event_name", "value": {"equals": "viewed_cart"}}}],
        "message": {"name": "Sale", "display_type": "modal", "display": {
            "heading": {"text": "Sale"}, "body": {"text": "Today only"},
            "buttons": [{"id": "go", "label": {"text": "Show"}, "actions": {"^u": "https://shop.example"}}],
        }},
    }});
    area.post(
        "/api/in-app/{key}",
        "Create an in-app message",
        "Refused unless libraries of the versions 17 to 20 can read it.",
    )
    .body(body::of::<NewInAppMessage>, message.clone())
    .changed::<in_app::Created>("The id of the message, which devices name in their events.")
    .status(201)
    .location()
    .refuses(409, FULL);
    area.get("/api/in-app/{key}", "List in-app messages", "All of them, in the order of their creation.")
        .ok::<in_app::All>("The messages.");
    area.post("/api/in-app/{key}/validate", "Validate an in-app message", "Checks everything and keeps nothing.")
        .body(body::of::<NewInAppMessage>, message.clone())
        .ok::<Done>("The message would be taken.");
    area.put(
        "/api/in-app/{key}/eligibility",
        "Show messages to devices with a contact only",
        "Or to all devices again. All of the messages are changed, or none.",
    )
    .body(
        body::of::<Eligibility>,
        json!({"automation_ids": ["0190b1c5-5c7e-7000-8000-000000000000"], "requires_eligibility": true}),
    )
    .done()
    .refuses(409, TOO_LARGE);
    area.get("/api/in-app/{key}/frequency-constraints", "Show frequency constraints", "All of the app.")
        .ok::<in_app::Constraints>("The constraints.");
    area.put(
        "/api/in-app/{key}/frequency-constraints",
        "Set frequency constraints",
        "Replaces all. In-app messages name them in `frequency_constraint_ids`; a device shows at most `boundary` of the messages \
         that name one in `range` periods.",
    )
    .body(
        body::of::<FrequencyConstraints>,
        json!({"frequency_constraints": [{"id": "calm", "range": 1, "period": "days", "boundary": 2}]}),
    )
    .done()
    .refuses(409, "An in-app message names a constraint that is not among them, or the data would be too large (40900).");
    area.get("/api/in-app/{key}/{automation_id}", "Look up an in-app message", "As it was given, with its version.")
        .ok::<in_app::One>("The message.");
    area.put(
        "/api/in-app/{key}/{automation_id}",
        "Replace an in-app message",
        "Devices that have it take the new version; how often it was shown stays.",
    )
    .body(body::of::<NewInAppMessage>, message)
    .changed::<ItemVersion>("The version.")
    .refuses(409, TOO_LARGE);
    area.delete("/api/in-app/{key}/{automation_id}", "Delete an in-app message", "Devices stop showing it.").done();
    area.post(
        "/api/in-app/{key}/{automation_id}/resolve",
        "Resolve an in-app message",
        "For devices, which are given this address with every message that has a `server_audience` or tags in its texts. What is \
         filled in is told with the token of the channel only.",
    )
    .body(body::of::<Resolving>, asking())
    .bare::<ResolvedMessage>("Whether the device is meant, and the message.")
    .refuses(409, DECIDED_BY_DEVICES);
    area
}

pub(super) fn forms() -> Area {
    let mut area = Area::new("Preference forms", "Pages of an app where people subscribe and unsubscribe.");
    let item = json!({"type": "channel_subscription", "id": "weekly", "subscription_id": "weekly", "display": {"name": "Weekly"}});
    let form = json!({"preference_form": {
        "form": {"id": "news", "display": {"name": "News"}, "sections": [{"type": "section", "id": "s1", "items": [item]}]},
        "platforms": ["ios", "android"],
    }});
    area.post("/api/preference-forms/{key}", "Save a preference form", "One with the same `form.id` is replaced.")
        .body(body::of::<SavedForm>, form)
        .changed::<ItemVersion>("The version.")
        .refuses(409, FULL);
    area.get("/api/preference-forms/{key}", "List preference forms", "All of them.")
        .ok::<preference_forms::All>("The forms.");
    area.get(
        "/api/preference-forms/{key}/{form_id}",
        "Look up a preference form",
        "As it was given, with its version.",
    )
    .ok::<preference_forms::One>("The form.");
    area.delete("/api/preference-forms/{key}/{form_id}", "Delete a preference form", "Devices can no longer open it.")
        .done();
    area
}

pub(super) fn flags() -> Area {
    let mut area = Area::new(
        "Feature flags",
        "Parts of an app that are on for some devices, and values for them. Devices download all of them as remote data.",
    );
    let flag = json!({
        "name": "new_checkout", "audience_selector": {"tags": {"tag": "beta"}},
        "variables": {"type": "fixed", "data": {"color": "blue"}},
    });
    area.post(
        "/api/feature-flags",
        "Create a feature flag",
        "Of several with one name, the first decides that means a device.",
    )
    .body(body::of::<FeatureFlag>, flag.clone())
    .changed::<feature_flags::Created>("The id of the flag.")
    .status(201)
    .location()
    .refuses(409, FULL);
    area.get("/api/feature-flags", "List feature flags", "All of them, in the order of their creation.")
        .ok::<feature_flags::All>("The flags.");
    area.get("/api/feature-flags/{flag_id}", "Look up a feature flag", "As it was given, with its version.")
        .ok::<feature_flags::One>("The flag.");
    area.put(
        "/api/feature-flags/{flag_id}",
        "Replace a feature flag",
        "Devices take the new version when they ask next.",
    )
    .body(body::of::<FeatureFlag>, flag)
    .changed::<ItemVersion>("The version.")
    .refuses(409, TOO_LARGE);
    area.delete("/api/feature-flags/{flag_id}", "Delete a feature flag", "For devices it does not exist any more.")
        .done();
    area.post(
        "/api/feature-flags/{flag_id}/resolve",
        "Resolve a feature flag",
        "For devices, which are given this address with every flag that has a `server_audience`.",
    )
    .body(body::of::<Resolving>, asking())
    .bare::<ResolvedFlag>("Whether the flag is on for the device, and its values.")
    .refuses(409, DECIDED_BY_DEVICES);
    area
}

pub(super) fn holdouts() -> Area {
    let mut area = Area::new("Holdout groups", "Devices that are shown no in-app messages, for comparison.");
    let group = json!({
        "name": "Five of a hundred",
        "audience_selector": {"hash": {
            "audience_hash": {"hash_prefix": "2030:", "num_hash_buckets": 100, "hash_identifier": "contact",
                              "hash_algorithm": "farm_hash"},
            "audience_subset": {"min_hash_bucket": 0, "max_hash_bucket": 4},
        }},
        "message_exclusions": [{"message_type": {"value": {"equals": "transactional"}}}],
    });
    area.post("/api/holdout-groups", "Create a holdout group", "Devices of it tell what they would have shown.")
        .body(body::of::<HoldoutGroup>, group.clone())
        .changed::<holdout_groups::Created>("The id of the group.")
        .status(201)
        .location()
        .refuses(409, FULL);
    area.get("/api/holdout-groups", "List holdout groups", "All of them, in the order of their creation.")
        .ok::<holdout_groups::All>("The groups.");
    area.get("/api/holdout-groups/{holdout_id}", "Look up a holdout group", "As it was given, with its version.")
        .ok::<holdout_groups::One>("The group.");
    area.put(
        "/api/holdout-groups/{holdout_id}",
        "Replace a holdout group",
        "Devices take the new version when they ask next.",
    )
    .body(body::of::<HoldoutGroup>, group)
    .changed::<ItemVersion>("The version.")
    .refuses(409, TOO_LARGE);
    area.delete("/api/holdout-groups/{holdout_id}", "Delete a holdout group", "Its devices are shown messages again.")
        .done();
    area
}

pub(super) fn config() -> Area {
    let mut area = Area::new("Remote configuration", "Values of an app for its devices, for all or for a platform.");
    let scopes = || json!({"type": "string", "enum": ["common", "android", "amazon", "ios", "web"]});
    let about = "The devices that the values are for.";
    area.get("/api/remote-config/app/{key}/{platform}", "Show the configuration", "The values that the app has set.")
        .variable("platform", scopes(), about)
        .ok::<remote_config::RemoteConfig>("The values.")
        .refuses(409, UNREADABLE);
    area.post(
        "/api/remote-config/app/{key}/{platform}",
        "Change the configuration",
        "Devices get the values as `app_config`, below those that tell them where the service is.",
    )
    .variable("platform", scopes(), about)
    .body(
        body::of::<ConfigUpdate>,
        json!({"set_values": [{"scope": ["remote_data_refresh_interval"], "value": 60000}]}),
    )
    .done()
    .refuses(409, NOT_CHANGEABLE);
    area.delete(
        "/api/remote-config/app/{key}/{platform}",
        "Delete the configuration",
        "All values for these devices, also when they cannot be read.",
    )
    .variable("platform", scopes(), about)
    .done();
    area
}

fn asking() -> Value {
    json!({
        "platform": "android", "channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5",
        "state_overrides": {"sdk_version": "20.6.3", "locale_language": "nb", "locale_country": "NO"},
    })
}
