//! Remote data with something of each kind, and how the libraries read it.

use serde_json::json;
use testkit::app::TestApp;

use super::Platform;
use crate::remote_data::{banner, in_app, keep, modal};
use crate::sdk::answers::{AppConfig, FlagVariables, Flags, Holdouts, RemoteData};
use crate::sdk::schedules::{Content, Display, Schedules};

/// What a server has kept for devices: one of each kind.
pub(super) async fn keep_data(app: &TestApp) {
    let constraints = json!({"frequency_constraints": [{"id": "calm", "range": 1, "period": "weeks", "boundary": 2}]});
    app.master().put(&format!("{}/frequency-constraints", in_app(app)), constraints).await.expect(200);
    let mut calm = modal("viewed_cart");
    calm["in_app_message"]["frequency_constraint_ids"] = json!(["calm"]);
    calm["in_app_message"]["delay"] = json!({"seconds": 2, "screen": ["cart"], "app_state": "foreground"});
    keep(app, &calm).await;
    keep(app, &banner()).await;
    let mut actions = modal("opened");
    actions["in_app_message"]["type"] = json!("actions");
    actions["in_app_message"]["actions"] = json!({"^+t": "opened"});
    actions["in_app_message"].as_object_mut().unwrap().remove("message");
    keep(app, &actions).await;
    let color = json!({"default": {"type": "hex", "hex": "#111111", "alpha": 1}});
    let label = json!({"type": "label", "text": "Welcome", "text_appearance": {"font_size": 18, "color": color}});
    let size = json!({"width": "80%", "height": "auto"});
    let mut scene = modal("arrived");
    scene["in_app_message"]["message"] = json!({"display_type": "layout", "display": {"layout": {
        "version": 1, "presentation": {"type": "modal", "default_placement": {"size": size}}, "view": label,
    }}});
    keep(app, &scene).await;

    let display = json!({"name": "Letters"});
    let items = json!([
        {"type": "channel_subscription", "id": "i1", "subscription_id": "weekly", "display": display},
        {"type": "contact_subscription", "id": "i2", "subscription_id": "offers", "scopes": ["app"], "display": display},
        {"type": "contact_subscription_group", "id": "i3", "subscription_id": "news", "display": display,
         "components": [{"scopes": ["app", "web"], "display": display}]},
        {"type": "alert", "id": "i4", "display": display, "button": {"text": "Open", "actions": {"^d": "app://a"}}},
    ]);
    let conditions = json!([{"type": "notification_opt_in", "when_status": "opt_out"}]);
    let form = json!({"preference_form": {"form": {"id": "news", "display": display, "sections": [
        {"type": "section", "id": "s1", "items": items, "conditions": conditions},
        {"type": "labeled_section_break", "id": "s2", "display": display},
    ]}, "platforms": ["ios", "android"]}});
    app.master().post(&format!("/api/preference-forms/{}", app.app.key), form).await.expect(200);

    let variants = json!([{"id": "blue", "audience_selector": {"tags": {"tag": "beta"}}, "data": {"color": "blue"}}]);
    for variables in [json!({"type": "fixed", "data": {"seats": 2}}), json!({"type": "variant", "variants": variants})]
    {
        let flag = json!({"name": "checkout", "variables": variables});
        app.master().post("/api/feature-flags", flag).await.expect(201);
    }
    let hash = json!({"audience_hash": {"hash_prefix": "g:", "num_hash_buckets": 100, "hash_identifier": "contact",
                                        "hash_algorithm": "farm_hash"},
                      "audience_subset": {"min_hash_bucket": 0, "max_hash_bucket": 4}});
    app.master()
        .post("/api/holdout-groups", json!({"name": "Few", "audience_selector": {"hash": hash}}))
        .await
        .expect(201);
}

/// Reads everything that remote data has.
pub(super) fn check_data(data: &RemoteData, platform: Platform, base: &str) {
    let config: AppConfig = data.read("app_config");
    let addresses = config.airship_config;
    for address in [addresses.device_api_url, addresses.analytics_url, addresses.remote_data_url] {
        assert_eq!(address.0, base);
    }
    assert_ne!(config.fetch_contact_remote_data, Some(false));

    let schedules: Schedules = data.read("in_app_messages");
    let constraints: Vec<&str> = schedules.frequency_constraints.iter().map(|constraint| &*constraint.id).collect();
    let mut seen = Vec::new();
    for schedule in &schedules.in_app_messages {
        assert!(!schedule.id.is_empty() && (1..=10).contains(&schedule.triggers.len()));
        assert!(schedule.frequency_constraint_ids.iter().all(|id| constraints.contains(&&**id)), "refreshed for ever");
        let (kind, parts) = match &schedule.content {
            Content::InAppMessage { message } => match &message.display {
                Display::Banner(banner) => {
                    let unit = if platform == Platform::Android { 1000.0 } else { 1.0 };
                    assert!((banner.duration - 20.0 * unit).abs() < f64::EPSILON, "{}", banner.duration);
                    ("banner", Some(&banner.parts))
                }
                Display::Modal(parts) => ("modal", Some(parts)),
                Display::Fullscreen(parts) => ("fullscreen", Some(parts)),
                Display::Layout { layout } => {
                    assert!((1..=2).contains(&layout.version));
                    ("layout", None)
                }
            },
            Content::Actions { actions } => {
                assert!(!actions.is_empty());
                ("actions", None)
            }
            Content::Deferred { .. } => ("deferred", None),
        };
        if let Some(parts) = parts {
            assert!(parts.has_text(), "not shown");
            assert!(parts.buttons.iter().all(|button| (1..=100).contains(&button.id.len())));
        }
        seen.push(kind);
    }
    seen.sort_unstable();
    assert_eq!(seen, ["actions", "banner", "layout", "modal"]);

    let flags: Flags = data.read("feature_flags");
    assert_eq!(flags.feature_flags.len(), 2);
    for flag in &flags.feature_flags {
        assert_eq!((&*flag.flag.name, &flag.flag.reporting_metadata["flag_id"]), ("checkout", &json!(flag.flag_id)));
        if let Some(FlagVariables::Variant { variants }) = &flag.flag.variables {
            assert_eq!(variants[0].id, "blue");
        }
    }
    let holdouts: Holdouts = data.read("experiments");
    assert_eq!(holdouts.experiments[0].experiment_id.len(), 36);
}
