//! The table of contents: every route, who may call it, and the function that answers.

mod accounts;
mod apps;
mod attributes;
mod attributes_in_use;
mod audience;
mod audit_log;
mod bulk;
mod calendar;
mod change_lists;
mod channel_record;
mod channels;
mod contacts;
mod content_templates;
mod create_and_send;
mod custom_events;
mod data_for_apps;
mod data_items;
mod demo;
mod device_events;
mod device_tokens;
pub(crate) mod docs;
mod doctor;
mod drafts;
mod endpoint;
mod events;
mod experiment_reports;
mod experiment_results;
mod experiments;
mod feature_flags;
mod health;
mod holdout_groups;
mod import;
mod in_app;
mod inbox;
mod journeys;
mod legacy_tags;
mod lists;
mod live;
mod location;
mod message_deletion;
mod messages;
mod named_user_record;
mod named_users;
mod newest_events;
mod oauth;
mod old_devices;
mod open_channels;
mod operator;
mod operator_nodes;
mod operator_pushes;
mod pages;
mod pipelines;
mod platforms;
mod preference_forms;
mod preview;
mod privacy;
mod push;
mod pushes;
mod recipients;
mod reference;
mod regions;
mod remote_config;
mod remote_data;
mod reports;
mod requests;
mod sandbox;
mod schedules;
mod sdk;
mod search;
mod segments;
mod server_contacts;
mod server_tokens;
mod subscription_lists;
mod tags;
mod tags_in_use;
mod team;
mod templates;
mod test_pushes;
mod timelines;
mod web_channels;
mod webhooks;
mod why;

use ::events::{Metric, Opted};
use axum::routing::MethodRouter;
use http::Method;

use crate::audit::Audited;
use crate::auth::Access;
use crate::edge::Edge;
use endpoint::{delete, get, post, put};

/// One entry of the table.
#[derive(Clone, Debug)]
pub struct Route {
    pub method: Method,
    /// Segments in braces are variable.
    pub path: &'static str,
    pub access: Access,
    /// What the audit log gets of a request of a server or of the operator.
    pub audited: Audited,
    /// Whether a repeat with the same idempotency key gets the first answer again.
    pub takes_idempotency_key: bool,
}

/// A route and the function that answers.
pub(crate) struct Endpoint {
    pub(crate) route: Route,
    pub(crate) handler: MethodRouter<Edge>,
}

impl Endpoint {
    /// For handlers that pass the idempotency key on to a room.
    fn takes_idempotency_key(mut self) -> Self {
        self.route.takes_idempotency_key = true;
        self
    }
}

/// The names of the files of the browser SDK.
pub(crate) fn sdk_files() -> Vec<&'static str> {
    sdk::names()
}

/// All routes, as data.
pub fn routes() -> Vec<Route> {
    endpoints().into_iter().map(|endpoint| endpoint.route).collect()
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    use Access::{
        Channel, Contact, Device, Events, Inbox, Master, Open, OwnChannel, Page, Probe, Public, Scrape, Signed,
    };
    let mut all = vec![
        post("/api/push", Master, push::send).takes_idempotency_key(),
        post("/api/push/validate", Master, push::validate),
        post("/api/push/preview", Master, preview::preview),
        post("/api/push/test", Master, test_pushes::send).takes_idempotency_key(),
        get("/api/push/test-group", Master, test_pushes::group),
        put("/api/push/test-group", Master, test_pushes::set_group),
        post("/api/create-and-send", Master, create_and_send::send).takes_idempotency_key(),
        post("/api/create-and-send/validate", Master, create_and_send::validate),
        post("/api/bulk/{device_type}", Master, bulk::upload),
        post("/api/bulk/open/{open_platform}", Master, bulk::upload_open),
        post("/api/bulk-send", Master, bulk::send).takes_idempotency_key(),
        post("/api/bulk-send/validate", Master, bulk::validate),
        get("/api/pushes", Master, pushes::list),
        get("/api/push/stats", Master, reports::push_stats),
        get("/api/push/{push_id}", Master, push::status),
        get("/api/push/{push_id}/recipients", Master, recipients::list),
        get("/api/push/{push_id}/recipients/csv", Master, recipients::download),
        get("/api/push/{push_id}/why", Master, why::why),
        post("/api/push/{push_id}/pause", Master, push::pause),
        post("/api/push/{push_id}/resume", Master, push::resume),
        post("/api/push/{push_id}/cancel", Master, push::cancel),
        post("/api/channels", OwnChannel, channels::register).takes_idempotency_key(),
        post("/api/web-channels", Page, web_channels::register).takes_idempotency_key(),
        get("/api/channels", Master, channels::list),
        get("/api/channels/{channel_id}", Channel, channels::look_up),
        put("/api/channels/{channel_id}", Channel, channels::update),
        delete("/api/channels/{channel_id}", Channel, channels::uninstall_one),
        get("/api/channels/{channel_id}/timeline", Master, timelines::of_channel),
        get("/api/channels/{channel_id}/inbox", Master, inbox::of_channel),
        post("/api/channels/remove_push_address", Device, channels::remove_push_address),
        post("/api/channel-tags-lookup", Device, channels::tags_among),
        post("/api/channels/uninstall", Master, channels::uninstall),
        post("/api/channels/import", Master, import::channels),
        post("/api/channels/open", Master, open_channels::register).takes_idempotency_key(),
        post("/api/channels/open/uninstall", Master, open_channels::uninstall),
        post("/api/channels/open/tags", Master, open_channels::tag),
        post("/api/channels/restricted/open", Device, open_channels::register_restricted).takes_idempotency_key(),
        post("/api/channels/tags", Device, tags::tag_channels),
        post("/api/named_users/tags", Device, tags::tag_named_users),
        get("/api/named_users", Master, named_users::list),
        get("/api/named_users/count", Master, named_users::count),
        post("/api/named_users/associate", Device, named_users::associate),
        post("/api/named_users/disassociate", Device, named_users::disassociate),
        post("/api/named_users/uninstall", Master, named_users::uninstall),
        post("/api/named_users/scoped", Device, named_users::reserved),
        post("/api/named_users/{named_user_id}", Device, named_users::update),
        get("/api/named_users/{named_user_id}/timeline", Master, timelines::of_named_user),
        post("/warp9", Events, device_events::upload),
        post("/api/web-events", Events, device_events::upload),
        post("/api/custom-events", Master, custom_events::send).takes_idempotency_key(),
        post("/api/user", OwnChannel, inbox::create).takes_idempotency_key(),
        delete("/api/user/messages/{message_id}", Master, inbox::delete_everywhere),
        post("/api/user/messages/batch-delete", Master, message_deletion::delete),
        get("/api/user/{user_id}", Inbox, inbox::look_up),
        post("/api/user/{user_id}", Inbox, inbox::change),
        get("/api/user/{user_id}/messages", Inbox, messages::list),
        get("/api/user/{user_id}/messages/unread", Inbox, messages::unread),
        post("/api/user/{user_id}/messages/unread", Inbox, messages::mark_read),
        post("/api/user/{user_id}/messages/delete", Inbox, messages::mark_deleted),
        get("/api/user/{user_id}/messages/message/{message_id}", Inbox, messages::look_up),
        delete("/api/user/{user_id}/messages/message/{message_id}", Inbox, messages::delete),
        get("/api/user/{user_id}/messages/message/{message_id}/body", Inbox, messages::body),
        get("/api/user/{user_id}/messages/message/{message_id}/read", Inbox, messages::read),
        post("/api/user/{user_id}/messages/message/{message_id}/read", Inbox, messages::read),
        post("/api/segments", Master, segments::create).takes_idempotency_key(),
        get("/api/segments", Master, segments::list),
        get("/api/segments/dates", Master, segments::dates),
        get("/api/segments/{segment_id}", Master, segments::look_up),
        put("/api/segments/{segment_id}", Master, segments::update),
        delete("/api/segments/{segment_id}", Master, segments::delete),
        post("/api/schedules", Master, schedules::create).takes_idempotency_key(),
        post("/api/schedules/create-and-send", Master, create_and_send::schedule).takes_idempotency_key(),
        post("/api/schedules/bulk-send", Master, create_and_send::schedule).takes_idempotency_key(),
        get("/api/schedules", Master, schedules::list),
        get("/api/schedules/occurrences", Master, calendar::occurrences),
        get("/api/schedules/{schedule_id}", Master, schedules::look_up),
        put("/api/schedules/{schedule_id}", Master, schedules::update),
        delete("/api/schedules/{schedule_id}", Master, schedules::delete),
        post("/api/schedules/{schedule_id}/pause", Master, schedules::pause),
        post("/api/schedules/{schedule_id}/resume", Master, schedules::resume),
        post("/api/drafts", Master, drafts::create).takes_idempotency_key(),
        get("/api/drafts", Master, drafts::list),
        get("/api/drafts/{draft_id}", Master, drafts::look_up),
        put("/api/drafts/{draft_id}", Master, drafts::update),
        delete("/api/drafts/{draft_id}", Master, drafts::delete),
        post("/api/drafts/{draft_id}/submit", Master, drafts::submit),
        post("/api/drafts/{draft_id}/approve", Master, drafts::approve),
        post("/api/drafts/{draft_id}/send", Master, drafts::send),
        post("/api/templates", Master, templates::create).takes_idempotency_key(),
        get("/api/templates", Master, templates::list),
        post("/api/templates/push", Master, templates::send).takes_idempotency_key(),
        post("/api/templates/push/validate", Master, templates::validate),
        post("/api/templates/schedules", Master, templates::schedule).takes_idempotency_key(),
        get("/api/templates/{template_id}", Master, templates::look_up),
        post("/api/templates/{template_id}", Master, templates::update),
        delete("/api/templates/{template_id}", Master, templates::delete),
        post("/api/content/templates", Master, content_templates::create).takes_idempotency_key(),
        get("/api/content/templates", Master, content_templates::list),
        get("/api/content/templates/{template_id}", Master, content_templates::look_up),
        put("/api/content/templates/{template_id}", Master, content_templates::replace),
        delete("/api/content/templates/{template_id}", Master, content_templates::delete),
        get("/api/content/templates/external/{type}/{external_id}", Master, content_templates::look_up_external),
        put("/api/content/templates/external/{type}/{external_id}", Master, content_templates::replace_external),
        delete("/api/content/templates/external/{type}/{external_id}", Master, content_templates::delete_external),
        post("/api/experiments", Master, experiments::create).takes_idempotency_key(),
        get("/api/experiments", Master, experiments::list),
        post("/api/experiments/validate", Master, experiments::validate),
        get("/api/experiments/scheduled", Master, experiments::list_scheduled),
        delete("/api/experiments/scheduled/{experiment_id}", Master, experiments::delete),
        get("/api/experiments/{experiment_id}", Master, experiments::look_up),
        post("/api/pipelines", Master, pipelines::create).takes_idempotency_key(),
        get("/api/pipelines", Master, pipelines::list),
        post("/api/pipelines/validate", Master, pipelines::validate),
        get("/api/pipelines/deleted", Master, pipelines::deleted),
        get("/api/pipelines/filtered", Master, pipelines::filtered),
        get("/api/pipelines/limits", Master, pipelines::show_limits),
        get("/api/pipelines/constraints", Master, pipelines::constraints),
        put("/api/pipelines/constraints", Master, pipelines::set_constraints),
        get("/api/pipelines/{pipeline_id}", Master, pipelines::look_up),
        put("/api/pipelines/{pipeline_id}", Master, pipelines::replace),
        delete("/api/pipelines/{pipeline_id}", Master, pipelines::delete),
        post("/api/journeys/trigger", Master, journeys::enter).takes_idempotency_key(),
        post("/api/journeys/exit", Master, journeys::exit),
        get("/api/experiments/{experiment_id}/results", Master, experiment_results::results),
        get("/api/reports/experiment/overview/{experiment_id}", Master, experiment_reports::overview),
        get("/api/reports/experiment/detail/{experiment_id}/{variant}", Master, experiment_reports::detail),
        get("/api/tags", Device, legacy_tags::list),
        put("/api/tags/batch", Master, legacy_tags::batch),
        post("/api/tags/batch", Master, legacy_tags::batch),
        put("/api/tags/{tag}", Device, legacy_tags::create),
        post("/api/tags/{tag}", Master, legacy_tags::change),
        delete("/api/tags/{tag}", Master, legacy_tags::delete),
        post("/api/lists", Master, lists::create).takes_idempotency_key(),
        get("/api/lists", Master, lists::list),
        get("/api/lists/{list}", Master, lists::look_up),
        put("/api/lists/{list}", Master, lists::update),
        delete("/api/lists/{list}", Master, lists::delete),
        put("/api/lists/{list}/csv", Master, lists::upload),
        get("/api/lists/{list}/csv", Master, lists::download),
        get("/api/lists/{list}/errors", Master, lists::errors),
        post("/api/tag-lists", Master, change_lists::create_tag_list).takes_idempotency_key(),
        get("/api/tag-lists", Master, change_lists::tag_lists),
        put("/api/tag-lists/{list}/csv", Master, change_lists::upload_tags),
        get("/api/tag-lists/{list}/errors", Master, change_lists::tag_errors),
        delete("/api/tag-lists/{list}", Master, change_lists::delete_tag_list),
        post("/api/attribute-lists", Master, change_lists::create_attribute_list).takes_idempotency_key(),
        get("/api/attribute-lists", Master, change_lists::attribute_lists),
        put("/api/attribute-lists/{list}/csv", Master, change_lists::upload_attributes),
        get("/api/attribute-lists/{list}/errors", Master, change_lists::attribute_errors),
        post("/api/channels/attributes", Device, attributes::change),
        post("/api/channels/{channel_id}/attributes", Channel, attributes::change_channel),
        post("/api/named_users/{named_user_id}/attributes", Device, attributes::change_named_user),
        put("/api/channels/sdk/batch/{channel_id}", Channel, attributes::change_batch),
        post("/api/channels/subscription_lists", Device, subscription_lists::change),
        post("/api/named_users/scoped/{named_user_id}", Device, subscription_lists::change_scoped),
        get("/api/subscription_lists", Master, subscription_lists::list),
        get("/api/subscription_lists/channels/{channel_id}", Channel, subscription_lists::of_channel),
        get("/api/subscription_lists/contacts/{contact_id}", Contact, contacts::subscriptions),
        get("/api/subscription_lists/named_users/{named_user_id}", Master, subscription_lists::of_named_user),
        get("/api/regions", Master, regions::list),
        get("/api/regions/{region_id}", Master, regions::look_up),
        get("/api/location", Master, location::by_name),
        get("/api/location/from-alias", Master, location::by_alias),
        get("/api/location/{place}", Master, location::by_place),
        get("/api/device_tokens", Master, old_devices::device_tokens),
        get("/api/device_tokens/count", Master, old_devices::device_token_count),
        get("/api/device_tokens/feedback", Master, old_devices::device_token_feedback),
        get("/api/device_tokens/{device_token}", Device, old_devices::device_token),
        get("/api/apids", Master, old_devices::apids),
        get("/api/apids/feedback", Master, old_devices::apid_feedback),
        get("/api/apids/{apid}", Device, old_devices::apid),
        get("/api/device_pins", Master, old_devices::device_pins),
        get("/api/device_pins/{device_pin}", Master, old_devices::device_pin),
        get("/api/reports/sends", Master, reports::count_of("sends", &[Metric::Sends])),
        get("/api/reports/opens", Master, reports::count_of("opens", &[Metric::Opens])),
        get("/api/reports/optins", Master, reports::devices_of("optins", Opted::In)),
        get("/api/reports/optouts", Master, reports::devices_of("optouts", Opted::Out)),
        get("/api/reports/series", Master, reports::lines),
        get("/api/reports/retention", Master, reports::retention),
        get("/api/reports/timeinapp", Master, reports::time_in_app),
        get("/api/reports/responses", Master, reports::responses),
        get("/api/reports/responses/list", Master, reports::list),
        get("/api/reports/responses/{push_id}", Master, reports::of_push),
        get("/api/reports/perpush/detail/{push_id}", Master, reports::push_detail),
        post("/api/reports/perpush/detail", Master, reports::push_details),
        get("/api/reports/perpush/series/{push_id}", Master, reports::push_series),
        get("/api/reports/perpush/pushbody/{push_id}", Master, reports::push_body),
        get("/api/reports/pergroup/detail/{group_id}", Master, reports::group_detail),
        get("/api/reports/pergroup/series/{group_id}", Master, reports::group_series),
        get("/api/reports/activity/details", Master, reports::activity),
        get("/api/reports/web/interaction", Master, reports::web_interaction),
        get("/api/reports/events", Master, reports::events),
        get("/api/reports/events/summary/perpush/{push_id}", Master, reports::events_of_push),
        get("/api/reports/events/summary/pergroup/{group_id}", Master, reports::events_of_group),
        get("/api/reports/devices", Master, reports::devices),
        get("/api/reports/activeusers", Master, reports::active_users),
        get("/api/reports/mappings/send_ids/{send_id}", Master, reports::push_of_send),
        get("/api/reports/mappings/message_ids/{message_id}", Master, reports::push_of_message),
        get("/api/remote-data/app/{key}/{platform}", Open, remote_data::of_app),
        get("/api/remote-data-contact/{platform}/{contact_id}", Contact, remote_data::of_contact),
        get("/api/auth/device", Signed, device_tokens::of_channel),
        get("/api/auth/proof-key", Master, device_tokens::proof_key),
        post("/api/contacts/identify/v2", Signed, contacts::act),
        post("/api/contacts/resolve", Device, contacts::resolve),
        post("/api/contacts/identify", Device, contacts::identify),
        post("/api/contacts/reset", Device, contacts::reset),
        post("/api/contacts/associate", Master, server_contacts::associate),
        post("/api/contacts/attributes", Master, server_contacts::change_attributes),
        post("/api/contacts/tags", Master, server_contacts::tag),
        post("/api/contacts/scoped/{contact_id}", Contact, server_contacts::change_scoped),
        get("/api/contacts/lookup/channel/{channel_id}", Master, server_contacts::of_channel),
        get("/api/contacts/lookup/named_user/{named_user_id}", Master, server_contacts::of_named_user),
        post("/api/contacts/{contact_id}", Contact, contacts::update),
        get("/api/contacts/associated_types/{contact_id}", Contact, contacts::associated_types),
        post("/api/contacts/disassociate/{contact_id}", Contact, contacts::disassociate),
        post("/api/metered-usage", OwnChannel, device_tokens::metered_usage),
        get("/api/platforms/web/vapid", OwnChannel, platforms::web_key),
        post("/api/audience/explain", Master, audience::explain),
        get("/api/live", Master, live::presence),
        get("/api/audience/terms", Master, tags_in_use::tags),
        get("/api/audience/groups", Master, tags_in_use::groups),
        get("/api/attributes", Master, attributes_in_use::list),
        get("/api/search", Master, search::search),
        get("/api/requests", Master, requests::list),
        get("/api/requests/stream", Master, requests::stream),
        get("/api/events", Master, events::get),
        post("/api/events", Master, events::post),
        get("/api/events/newest", Master, newest_events::list),
        get("/api/sandbox", Master, sandbox::list),
        delete("/api/sandbox", Master, sandbox::clear),
        get("/api/sandbox/pushes", Master, sandbox::pushes),
        get("/api/sandbox/faults", Master, sandbox::faults),
        put("/api/sandbox/faults", Master, sandbox::set_faults),
        post("/api/privacy/export", Master, privacy::export).takes_idempotency_key(),
        post("/api/privacy/erase", Master, privacy::erase).takes_idempotency_key(),
        get("/api/privacy/{privacy_id}", Master, privacy::look_up),
        get("/api/privacy/{privacy_id}/result", Master, privacy::result),
        get("/api/sandbox/stream", Master, sandbox::stream),
        post("/token", Public, oauth::grant),
        get("/verify/public_key/{kid}", Public, oauth::public_key),
        get("/live", OwnChannel, live::connect),
        post("/live/ack", OwnChannel, live::acknowledge),
        get("/pages/{key}/{push_id}/{number}", Public, pages::show),
        get("/health", Probe, health::health),
        get("/ready", Probe, health::ready),
        get("/metrics", Scrape, health::metrics),
        get("/openapi.json", Public, reference::document),
        get("/demo", Public, demo::page),
        get("/demo/demo.js", Public, demo::script),
        get("/demo/demo.css", Public, demo::style),
        post("/demo/phones/{device_type}", Public, demo::phone),
        post("/demo/push", Public, demo::send),
        get("/demo/push/{push_id}", Public, demo::status),
        get("/sdk/{file}", Open, sdk::file),
        get("/sdk/1/{file}", Open, sdk::file),
        get("/docs", Public, reference::page),
        get("/docs/docs.js", Public, reference::script),
        get("/docs/docs.css", Public, reference::style),
    ];
    all.extend(data_for_apps::endpoints());
    all.extend(operator::endpoints());
    all
}
