//! The bodies of requests.

mod operator;

pub(crate) use operator::{
    app_change, new_app, new_webhook, platform, platform_keys, platform_pause, replay, secret_choice, webhook_change,
};

use schemars::{Schema, SchemaGenerator, json_schema};

pub(crate) fn association(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn attribute_update(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn attributes_of_one(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn audience_question(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn channel_batch(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn channel_tagging(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn contact_action(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn contact_disassociation(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn contact_identify(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn contact_reset(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn contact_resolve(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn contact_update(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn create_and_send(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn create_and_send_schedule(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn custom_events(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn deleted_messages(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn device_events(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn disassociation(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn event_request(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn experiment(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn global_rates(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn inbox_change(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn legacy_tagging(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn list_update(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn message_deletion(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn named_user_tagging(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn named_user_uninstall(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn named_user_update(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn new_inbox(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn new_list(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn open_address(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn open_registration(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn open_tags(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn pipeline(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn pipelines(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn push_ids(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn pushes(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn read_messages(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn registration(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn schedule_replacement(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn schedules(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn scoped_update(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn segment(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn stored_schedule(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn subscription_update(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn tag_batch(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn template(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn template_change(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn template_schedules(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn template_uses(_: &mut SchemaGenerator) -> Schema {
    free()
}

pub(crate) fn uninstalls(_: &mut SchemaGenerator) -> Schema {
    free()
}

fn free() -> Schema {
    json_schema!({"type": ["object", "array"]})
}
