//! The JSON Schema of every request body: complete, without dangling references, and not stricter than the parser.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use model::account::{AccountChange, Membership, NewAccount, NewMember};
use model::app::{AppChange, NewApp, Rotation};
use model::attribute::{AttributeUpdate, AttributesOfOne};
use model::change_list::{NewAttributeList, NewTagList};
use model::channel::{
    ChannelBatch, ChannelTagsLookup, OpenAddress, OpenRegistration, OpenTags, RegistrationBody, Uninstalls,
};
use model::contact::{
    ContactAction, ContactAssociation, ContactAttributeChanges, ContactChannel, ContactDisassociation,
    ContactIdentification, ContactTagging, ContactUpdate, ScopedContactUpdate,
};
use model::content_template::ContentTemplate;
use model::custom_event::CustomEvent;
use model::demo::DemoPush;
use model::draft::{DraftBody, DraftChange, DraftSending, DraftVersion};
use model::event::{EventRequest, ReplayFrom};
use model::experiment::Experiment;
use model::inbox::{InboxChange, MessageIds, NewInbox};
use model::journey::{JourneyExit, JourneyTrigger};
use model::json::OneOrMany;
use model::legacy_tag::{LegacyTagging, TagBatch};
use model::live::LiveAck;
use model::message_deletion::MessageDeletion;
use model::named_user::{Association, Disassociation, NamedUserUninstall, NamedUserUpdate};
use model::payload::Push;
use model::pipeline::{Pipeline, Rate};
use model::privacy::Subject;
use model::remote_data::{
    AudienceCheck, ConfigUpdate, Eligibility, FeatureFlag, FrequencyConstraints, HoldoutGroup, NewInAppMessage,
    Resolving, SavedForm,
};
use model::report::PushIds;
use model::sandbox::SandboxFaults;
use model::schedule::ScheduledPush;
use model::segment::SegmentBody;
use model::selector::Selector;
use model::server_token::{NewOauthClient, NewServerToken};
use model::static_list::{ListUpdate, NewList};
use model::subscription::{ScopedUpdate, SubscriptionUpdate};
use model::tagging::{ChannelTagging, NamedUserTagging};
use model::template::{ScheduleReplacement, Template, TemplateChange, TemplateSchedule, TemplateUse};
use model::test_push::{TestGroup, TestPush};
use proptest::prelude::*;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use crate::random_push::push;
use crate::random_selector::selector;
use crate::schema_check::check;

/// A document with one definition for every type, as the description of the API has it.
static ALL: LazyLock<(Vec<Value>, Value)> = LazyLock::new(|| {
    fn add<T: JsonSchema>(bodies: &mut Vec<Value>, schemas: &mut SchemaGenerator) {
        bodies.push(schemas.subschema_for::<T>().to_value());
    }
    let mut schemas = SchemaGenerator::default();
    let mut bodies = Vec::new();
    let adds: [fn(&mut Vec<Value>, &mut SchemaGenerator); 81] = [
        add::<OneOrMany<Push>>,
        add::<Selector>,
        add::<DemoPush>,
        add::<OneOrMany<ScheduledPush>>,
        add::<OneOrMany<TemplateUse>>,
        add::<OneOrMany<TemplateSchedule>>,
        add::<ScheduleReplacement>,
        add::<Template>,
        add::<TemplateChange>,
        add::<SegmentBody>,
        add::<Experiment>,
        add::<OneOrMany<Pipeline>>,
        add::<OneOrMany<Rate>>,
        add::<Subject>,
        add::<SandboxFaults>,
        add::<DraftBody>,
        add::<DraftChange>,
        add::<DraftVersion>,
        add::<DraftSending>,
        add::<TestPush>,
        add::<TestGroup>,
        add::<LiveAck>,
        add::<NewAccount>,
        add::<AccountChange>,
        add::<NewMember>,
        add::<Membership>,
        add::<NewServerToken>,
        add::<NewOauthClient>,
        add::<RegistrationBody>,
        add::<OpenRegistration>,
        add::<OpenAddress>,
        add::<OpenTags>,
        add::<Uninstalls>,
        add::<ChannelBatch>,
        add::<ChannelTagging>,
        add::<NamedUserTagging>,
        add::<LegacyTagging>,
        add::<TagBatch>,
        add::<Association>,
        add::<Disassociation>,
        add::<NamedUserUpdate>,
        add::<NamedUserUninstall>,
        add::<AttributeUpdate>,
        add::<AttributesOfOne>,
        add::<SubscriptionUpdate>,
        add::<ScopedUpdate>,
        add::<ContactAction>,
        add::<ContactChannel>,
        add::<ContactIdentification>,
        add::<ContactUpdate>,
        add::<ContactDisassociation>,
        add::<ContactAssociation>,
        add::<ContactTagging>,
        add::<ContactAttributeChanges>,
        add::<ScopedContactUpdate>,
        add::<ChannelTagsLookup>,
        add::<OneOrMany<CustomEvent>>,
        add::<JourneyTrigger>,
        add::<JourneyExit>,
        add::<EventRequest>,
        add::<(NewInbox, InboxChange, MessageIds)>,
        add::<MessageDeletion>,
        add::<NewList>,
        add::<ContentTemplate>,
        add::<NewInAppMessage>,
        add::<Eligibility>,
        add::<FrequencyConstraints>,
        add::<SavedForm>,
        add::<FeatureFlag>,
        add::<HoldoutGroup>,
        add::<ConfigUpdate>,
        add::<Resolving>,
        add::<AudienceCheck>,
        add::<NewTagList>,
        add::<NewAttributeList>,
        add::<ListUpdate>,
        add::<PushIds>,
        add::<NewApp>,
        add::<AppChange>,
        add::<Rotation>,
        add::<ReplayFrom>,
    ];
    adds.iter().for_each(|add| add(&mut bodies, &mut schemas));
    let definitions = schemas.take_definitions(true);
    (bodies, json!({"$defs": definitions}))
});

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_name_means_one_type() {
    let (bodies, root) = &*ALL;
    let mut found = BTreeSet::new();
    references(&json!([bodies, root]), &mut found);
    assert!(found.len() > 80, "{found:?}");
    for reference in &found {
        assert!(root.pointer(&reference[1..]).is_some(), "{reference}");
        // Of two types with one name, the second is given a number.
        assert!(!reference.ends_with(|c: char| c.is_ascii_digit()), "{reference}: rename it with `#[body(name = …)]`");
    }
}

#[test]
fn descriptions_speak_to_callers() {
    let (_, root) = &*ALL;
    let text = root.to_string();
    for word in ["[`", "`None`", "Option<", "::parse", "Arc<"] {
        let at = text.find(word).unwrap_or(text.len());
        let around: String = text[..at].chars().rev().take(120).collect::<String>().chars().rev().collect();
        assert!(at == text.len(), "'{word}' after: {around}");
    }
}

#[test]
fn limits_are_in_the_schema() {
    let (_, root) = &*ALL;
    let at = |pointer: &str| root.pointer(pointer).cloned().unwrap_or_else(|| panic!("{pointer}"));
    let fields = "/$defs/SmsOverride/properties";
    assert_eq!(at(&format!("{fields}/alert")), json!({"type": "string", "minLength": 1, "maxLength": 1600}));
    assert_eq!(at("/$defs/Interactive/required"), json!(["type"]));
    assert_eq!(at("/$defs/InterruptionLevel/enum"), json!(["passive", "active", "time-sensitive", "critical"]));
    assert_eq!(at("/$defs/Campaigns/properties/categories/maxItems"), json!(10));
    assert_eq!(at("/$defs/Notification/minProperties"), json!(1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pushes_that_are_accepted_follow_their_schema(body in push()) {
        let (bodies, root) = &*ALL;
        check(root, &bodies[0], &body).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn selectors_that_are_accepted_follow_their_schema(body in selector()) {
        let (bodies, root) = &*ALL;
        check(root, &bodies[1], &body).map_err(TestCaseError::fail)?;
    }
}
