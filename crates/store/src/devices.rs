//! The channels that events and accounts of pushes are about, as their readers need them: many at a time.

use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, Ordinal};

use crate::{Result, Tx, ordinals};

/// The data of a channel that its events show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device<'r> {
    pub ordinal: Ordinal,
    pub id: ChannelId,
    pub named_user: Option<&'r str>,
    /// As JSON of the caller's making.
    pub profile: &'r str,
}

/// Visits channels, which are sorted, in order. Channels between them may be visited as well.
pub fn visit(
    tx: &mut Tx<'_>,
    app: AppId,
    wanted: &[Ordinal],
    mut visit: impl FnMut(Device<'_>) -> Result<()>,
) -> Result<()> {
    let select = "select ordinal, id, named_user, profile from channel where app = $1";
    ordinals::visit_around(tx, select, app, wanted, |row| {
        visit(Device { ordinal: row.next()?, id: row.next()?, named_user: row.next()?, profile: row.next()? })
    })
}

/// The installed channels from one on and before another, in order.
pub fn installed_between(
    tx: &mut Tx<'_>,
    app: AppId,
    first: Ordinal,
    end: Ordinal,
) -> Result<Vec<(Ordinal, DeviceType)>> {
    let sql = "select ordinal, device_type from channel
               where app = $1 and ordinal >= $2 and ordinal < $3 and installed = 1 order by ordinal";
    tx.query(sql, &[app.into(), first.into(), end.into()], |row| Ok((row.next()?, row.next()?)))
}

/// The id of the first channel from one on.
pub fn first_id_from(tx: &mut Tx<'_>, app: AppId, first: Ordinal) -> Result<Option<ChannelId>> {
    let sql = "select id from channel where app = $1 and ordinal >= $2 order by ordinal limit 1";
    tx.query_opt(sql, &[app.into(), first.into()], |row| row.get(0))
}
