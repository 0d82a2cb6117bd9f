//! Any body of the other requests that devices make is either refused, with a reason, or read; and a device may send what a server
//! may send.
#![no_main]

use model::attribute::{AttributeUpdate, AttributesOfOne};
use model::channel::{ChannelBatch, ChannelTagsLookup, OpenAddress};
use model::contact::{ContactAction, ContactChannel, ContactDisassociation, ContactIdentification, ContactUpdate};
use model::demo::DemoPush;
use model::inbox::{InboxChange, MessageIds, NewInbox};
use model::json::{self, At, UnknownKeys};
use model::live::LiveAck;
use model::named_user::{Association, Disassociation, NamedUserUpdate};
use model::remote_data::{AudienceCheck, Resolving};
use model::subscription::{ScopedUpdate, SubscriptionUpdate};
use model::tagging::{ChannelTagging, NamedUserTagging};

fn check<T>(body: &[u8], parse: impl Fn(&At<'_>) -> Option<T>) {
    let is_read_strictly = json::parse(body, &parse).is_ok();
    if let Err(problems) = json::parse_with(body, UnknownKeys::PassedOver, &parse) {
        assert!(!problems.first().message.is_empty(), "a refusal says why");
        assert!(!is_read_strictly, "what is refused of a device is refused of a server");
    }
}

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    check(body, ChannelBatch::parse);
    check(body, ChannelTagging::parse);
    check(body, NamedUserTagging::parse);
    check(body, Association::parse);
    check(body, Disassociation::parse);
    check(body, NamedUserUpdate::parse);
    check(body, AttributeUpdate::parse);
    check(body, AttributesOfOne::parse);
    check(body, SubscriptionUpdate::parse);
    check(body, ScopedUpdate::parse);
    check(body, ContactAction::parse);
    check(body, ContactChannel::parse);
    check(body, ContactIdentification::parse);
    check(body, ContactUpdate::parse);
    check(body, ContactDisassociation::parse);
    check(body, NewInbox::parse);
    check(body, InboxChange::parse);
    check(body, MessageIds::read);
    check(body, MessageIds::deleted);
    check(body, OpenAddress::parse);
    check(body, ChannelTagsLookup::parse);
    check(body, Resolving::parse);
    check(body, AudienceCheck::parse);
    check(body, LiveAck::parse);
    check(body, DemoPush::parse);
});
