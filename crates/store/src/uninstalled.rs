//! Devices whose channels were uninstalled, with the addresses that they had, for as long as feedback tells of them.

use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, Ordinal};
use model::time::UtcMillis;

use crate::{Result, Tx};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uninstalled {
    pub at: UtcMillis,
    pub ordinal: Ordinal,
    pub channel: ChannelId,
    /// As in the key of the channel.
    pub address: Option<String>,
    pub alias: Option<String>,
}

pub fn add(
    tx: &mut Tx<'_>,
    app: AppId,
    at: UtcMillis,
    channel: Ordinal,
    address: Option<&str>,
    alias: Option<&str>,
) -> Result<()> {
    tx.write(
        "insert into uninstalled (app, at, ordinal, address, alias) values ($1, $2, $3, $4, $5)
         on conflict (app, at, ordinal) do update set address = excluded.address, alias = excluded.alias",
        &[app.into(), at.into(), channel.into(), address.into(), alias.into()],
    )
}

/// Those of a type, the first ones since an instant, of which the ones before an ordinal are left out.
pub fn since(
    tx: &mut Tx<'_>,
    app: AppId,
    device_type: &DeviceType,
    (since, first): (UtcMillis, i64),
    at_most: u32,
) -> Result<Vec<Uninstalled>> {
    tx.query(
        "select uninstalled.at, uninstalled.ordinal, channel.id, uninstalled.address, uninstalled.alias
         from uninstalled join channel on channel.app = uninstalled.app and channel.ordinal = uninstalled.ordinal
         where uninstalled.app = $1 and (uninstalled.at, uninstalled.ordinal) >= ($2, $3)
             and channel.installed = 0 and channel.device_type = $4
         order by uninstalled.at, uninstalled.ordinal limit $5",
        &[app.into(), since.into(), first.into(), device_type.into(), at_most.into()],
        |row| {
            Ok(Uninstalled {
                at: row.next()?,
                ordinal: row.next()?,
                channel: row.next()?,
                address: row.next()?,
                alias: row.next()?,
            })
        },
    )
}

/// Deletes up to `at_most` that are older, and returns how many.
pub fn forget_before(tx: &mut Tx<'_>, app: AppId, before: UtcMillis, at_most: u32) -> Result<u64> {
    tx.execute(
        "delete from uninstalled where app = $1 and (at, ordinal) in
         (select at, ordinal from uninstalled where app = $1 and at < $2 order by at limit $3)",
        &[app.into(), before.into(), at_most.into()],
    )
}
