//! Changes of the tags of many channels or of many named users in one request.

use crate::channel::TagOperation;
use crate::ids::NamedUserId;
use crate::json::body::Body;
use crate::json::schema;
use crate::limits;
use crate::request_audience::{ChannelAudience, named_users};

#[cfg(test)]
mod tests;

#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct ChannelTagging {
    pub audience: ChannelAudience,
    #[body(flatten, take = TagOperation::read)]
    pub operation: TagOperation,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct NamedUserTagging {
    /// At least one, none of them twice.
    #[body(read = |at| NamedUserAudience::parse(at).map(|audience| audience.0), schema = NamedUserAudience::json_schema)]
    pub audience: Vec<NamedUserId>,
    #[body(flatten, take = TagOperation::read)]
    pub operation: TagOperation,
}

#[derive(Body)]
#[body(not_printed)]
struct NamedUserAudience(
    #[body(rename = "named_user_id", read = |at| named_users(at, limits::IDS_PER_AUDIENCE), schema = |schemas| schema::several::<NamedUserId>(schemas, 1..=limits::IDS_PER_AUDIENCE))]
     Vec<NamedUserId>,
);
