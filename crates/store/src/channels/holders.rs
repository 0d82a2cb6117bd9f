//! Channels as holders of terms: the few columns that are needed to change what a channel can be addressed
//! by.

use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, NamedUserId, Ordinal, TermId};

use super::Channel;
use crate::{Result, Row, Tx, named_users, terms};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub ordinal: Ordinal,
    pub id: ChannelId,
    pub device_type: DeviceType,
    pub installed: bool,
    pub named_user: Option<NamedUserId>,
    /// Everything the channel can be addressed by, sorted.
    pub terms: Vec<TermId>,
}

impl From<Channel> for Holder {
    fn from(channel: Channel) -> Self {
        let Channel { ordinal, id, device_type, installed, named_user, terms, .. } = channel;
        Self { ordinal, id, device_type, installed, named_user, terms }
    }
}

/// The channels that exist, in the order of `ids`.
pub fn holders(tx: &mut Tx<'_>, app: AppId, ids: impl IntoIterator<Item = ChannelId>) -> Result<Vec<Holder>> {
    let sql = "select ordinal, id, device_type, installed, named_user, terms from channel where app = $1 and id = $2";
    tx.query_many(sql, ids.into_iter().map(|id| [app.into(), id.into()]), read)
}

fn read(row: &Row<'_>) -> Result<Holder> {
    Ok(Holder {
        ordinal: row.next()?,
        id: row.next()?,
        device_type: row.next()?,
        installed: row.next()?,
        named_user: row.next::<Option<&str>>()?.map(named_users::read_id).transpose()?,
        terms: terms::decode(row.next()?)?,
    })
}
