//! Named users: linking channels to them, changing them, and uninstalling all of their channels.

use std::collections::HashSet;

use crate::attribute::{self, AttributeOperation};
use crate::channel::{ChannelRef, TagOperation};
use crate::ids::NamedUserId;
use crate::json::{At, OneOrMany};
use crate::limits;
use crate::request_audience::named_users;

#[cfg(test)]
mod tests;

/// Makes a channel belong to a named user, and to no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Association {
    pub channel: ChannelRef,
    pub named_user_id: NamedUserId,
}

/// Makes a channel belong to no named user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassociation {
    pub channel: ChannelRef,
    /// If given, only a channel of this user is meant.
    pub named_user_id: Option<NamedUserId>,
}

/// Several changes of one named user, made together. No channel is on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedUserUpdate {
    pub associate: Vec<ChannelRef>,
    pub disassociate: Vec<ChannelRef>,
    pub tags: Option<TagOperation>,
    pub attributes: Vec<AttributeOperation>,
}

/// Named users that are to be deleted and their channels uninstalled: at least one, none of them twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedUserUninstall(pub Vec<NamedUserId>);

impl Association {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let channel = ChannelRef::read(&mut fields);
        let named_user_id = fields.required("named_user_id", NamedUserId::parse);
        fields.finish();
        Some(Self { channel: channel?, named_user_id: named_user_id? })
    }
}

impl Disassociation {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let channel = ChannelRef::read(&mut fields);
        let named_user_id = fields.nullable("named_user_id", NamedUserId::parse);
        fields.finish();
        Some(Self { channel: channel?, named_user_id })
    }
}

impl NamedUserUpdate {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let associate = fields.optional("associate", channels).unwrap_or_default();
        let disassociate = fields.optional("disassociate", channels).unwrap_or_default();
        let tags = fields.optional("tags", |at| {
            let mut fields = at.object()?;
            let operation = TagOperation::read(&mut fields);
            fields.finish();
            operation
        });
        let attributes = fields.optional("attributes", attribute::operations).unwrap_or_default();
        if !["associate", "disassociate", "tags", "attributes"].iter().any(|key| fields.has(key)) {
            at.invalid::<()>("One of 'associate', 'disassociate', 'tags' and 'attributes' must be given.");
        }
        let arriving: HashSet<_> = associate.iter().map(|channel| channel.id).collect();
        if let Some(both) = disassociate.iter().find(|channel| arriving.contains(&channel.id)) {
            let message = format!("The channel {} cannot be associated and disassociated at once.", both.id);
            at.invalid_key::<()>("disassociate", message);
        }
        fields.finish();
        Some(Self { associate, disassociate, tags, attributes })
    }

    pub fn is_about_attributes_alone(&self) -> bool {
        let Self { associate, disassociate, tags, attributes } = self;
        associate.is_empty() && disassociate.is_empty() && tags.is_none() && !attributes.is_empty()
    }
}

impl NamedUserUninstall {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let ids = fields.required("named_user_id", |at| named_users(at, limits::NAMED_USER_UNINSTALLS));
        fields.finish();
        Some(Self(ids?))
    }
}

fn channels(at: &At<'_>) -> Option<Vec<ChannelRef>> {
    at.one_or_many(0..=limits::ASSOCIATIONS_PER_REQUEST, |at| {
        let mut fields = at.object()?;
        let channel = ChannelRef::read(&mut fields);
        fields.finish();
        channel
    })
    .map(OneOrMany::into_vec)
}
