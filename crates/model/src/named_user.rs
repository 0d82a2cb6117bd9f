//! Named users: linking channels to them, changing them, and uninstalling all of their channels.

use std::collections::HashSet;

use crate::attribute::{self, AttributeOperation};
use crate::channel::{ChannelRef, TagOperation};
use crate::ids::NamedUserId;
use crate::json::body::Body;
use crate::json::{At, Fields, OneOrMany};
use crate::limits;
use crate::request_audience::named_users;

#[cfg(test)]
mod tests;

/// Makes a channel belong to a named user, and to no other.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct Association {
    #[body(flatten, take = ChannelRef::read)]
    pub channel: ChannelRef,
    /// The named user. It is created if there is none.
    pub named_user_id: NamedUserId,
}

/// Makes a channel belong to no named user.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct Disassociation {
    #[body(flatten, take = ChannelRef::read)]
    pub channel: ChannelRef,
    /// If given, only a channel of this user is meant.
    #[body(nullable)]
    pub named_user_id: Option<NamedUserId>,
}

/// Several changes of one named user, made together. No channel is on both sides.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed, keys = |fields| check_keys(fields, &associate, &disassociate))]
pub struct NamedUserUpdate {
    /// Channels that become those of the named user.
    #[body(
        read = channels,
        default,
        length = 0..=limits::ASSOCIATIONS_PER_REQUEST,
        like = OneOrMany<ChannelRef>
    )]
    pub associate: Vec<ChannelRef>,
    /// Channels that no longer are.
    #[body(
        read = channels,
        default,
        length = 0..=limits::ASSOCIATIONS_PER_REQUEST,
        like = OneOrMany<ChannelRef>
    )]
    pub disassociate: Vec<ChannelRef>,
    /// Tags that change.
    pub tags: Option<TagOperation>,
    /// Attributes that are set or removed.
    #[body(
        read = attribute::operations,
        default,
        length = 1..=limits::ATTRIBUTES_PER_REQUEST,
        like = OneOrMany<AttributeOperation>
    )]
    pub attributes: Vec<AttributeOperation>,
}

/// Named users that are to be deleted and their channels uninstalled: at least one, none of them twice.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct NamedUserUninstall(
    #[body(
        rename = "named_user_id",
        read = |at| named_users(at, limits::NAMED_USER_UNINSTALLS),
        length = 1..=limits::NAMED_USER_UNINSTALLS,
        like = OneOrMany<NamedUserId>
    )]
    pub Vec<NamedUserId>,
);

impl NamedUserUpdate {
    pub fn is_about_attributes_alone(&self) -> bool {
        let Self { associate, disassociate, tags, attributes } = self;
        associate.is_empty() && disassociate.is_empty() && tags.is_none() && !attributes.is_empty()
    }
}

fn check_keys(fields: &Fields<'_>, associate: &[ChannelRef], disassociate: &[ChannelRef]) {
    if !["associate", "disassociate", "tags", "attributes"].iter().any(|key| fields.has(key)) {
        fields.at().invalid::<()>("One of 'associate', 'disassociate', 'tags' and 'attributes' must be given.");
    }
    let arriving: HashSet<_> = associate.iter().map(|channel| channel.id).collect();
    if let Some(both) = disassociate.iter().find(|channel| arriving.contains(&channel.id)) {
        let message = format!("The channel {} cannot be associated and disassociated at once.", both.id);
        fields.at().invalid_key::<()>("disassociate", message);
    }
}

fn channels(at: &At<'_>) -> Option<Vec<ChannelRef>> {
    at.one_or_many(0..=limits::ASSOCIATIONS_PER_REQUEST, ChannelRef::parse).map(OneOrMany::into_vec)
}
