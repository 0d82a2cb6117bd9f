//! Changes of the tags of many channels or of many named users in one request.

use crate::channel::TagOperation;
use crate::ids::NamedUserId;
use crate::json::At;
use crate::limits;
use crate::request_audience::{ChannelAudience, named_users};

#[cfg(test)]
mod tests;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelTagging {
    pub audience: ChannelAudience,
    pub operation: TagOperation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedUserTagging {
    /// At least one, none of them twice.
    pub audience: Vec<NamedUserId>,
    pub operation: TagOperation,
}

impl ChannelTagging {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let audience = fields.required("audience", ChannelAudience::parse);
        let operation = TagOperation::read(&mut fields);
        fields.finish();
        Some(Self { audience: audience?, operation: operation? })
    }
}

impl NamedUserTagging {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let audience = fields.required("audience", |at| {
            let mut fields = at.object()?;
            let ids = fields.required("named_user_id", |at| named_users(at, limits::IDS_PER_AUDIENCE));
            fields.finish();
            ids
        });
        let operation = TagOperation::read(&mut fields);
        fields.finish();
        Some(Self { audience: audience?, operation: operation? })
    }
}
