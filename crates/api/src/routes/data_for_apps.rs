//! The routes of data for apps: in-app messages, preference forms, feature flags, holdout groups and configuration.

use super::endpoint::{delete, get, post, put};
use super::{Endpoint, feature_flags, holdout_groups, in_app, preference_forms, remote_config, remote_data};
use crate::auth::Access::{Contact, Master, OwnChannel};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/remote-audience-check/app/{key}", Contact, remote_data::check_audience),
        get("/api/remote-config/app/{key}/{platform}", Master, remote_config::show),
        post("/api/remote-config/app/{key}/{platform}", Master, remote_config::change),
        delete("/api/remote-config/app/{key}/{platform}", Master, remote_config::delete),
        post("/api/in-app/{key}", Master, in_app::create).takes_idempotency_key(),
        get("/api/in-app/{key}", Master, in_app::list),
        post("/api/in-app/{key}/validate", Master, in_app::validate),
        put("/api/in-app/{key}/eligibility", Master, in_app::set_eligibility),
        get("/api/in-app/{key}/frequency-constraints", Master, in_app::constraints),
        put("/api/in-app/{key}/frequency-constraints", Master, in_app::set_constraints),
        get("/api/in-app/{key}/{automation_id}", Master, in_app::look_up),
        put("/api/in-app/{key}/{automation_id}", Master, in_app::replace),
        delete("/api/in-app/{key}/{automation_id}", Master, in_app::delete),
        post("/api/in-app/{key}/{automation_id}/resolve", OwnChannel, in_app::resolve),
        post("/api/preference-forms/{key}", Master, preference_forms::save).takes_idempotency_key(),
        get("/api/preference-forms/{key}", Master, preference_forms::list),
        get("/api/preference-forms/{key}/{form_id}", Master, preference_forms::look_up),
        delete("/api/preference-forms/{key}/{form_id}", Master, preference_forms::delete),
        post("/api/feature-flags", Master, feature_flags::create).takes_idempotency_key(),
        get("/api/feature-flags", Master, feature_flags::list),
        get("/api/feature-flags/{flag_id}", Master, feature_flags::look_up),
        put("/api/feature-flags/{flag_id}", Master, feature_flags::replace),
        delete("/api/feature-flags/{flag_id}", Master, feature_flags::delete),
        post("/api/feature-flags/{flag_id}/resolve", OwnChannel, feature_flags::resolve),
        post("/api/holdout-groups", Master, holdout_groups::create).takes_idempotency_key(),
        get("/api/holdout-groups", Master, holdout_groups::list),
        get("/api/holdout-groups/{holdout_id}", Master, holdout_groups::look_up),
        put("/api/holdout-groups/{holdout_id}", Master, holdout_groups::replace),
        delete("/api/holdout-groups/{holdout_id}", Master, holdout_groups::delete),
    ]
}
