//! The channels that events are about, as readers of the log need them: many at a time, installed or not.

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
