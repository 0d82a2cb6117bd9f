//! How much the devices of an app have created, in columns of the app's row. Nothing is taken off when things go: it bounds what
//! devices can make the service keep, and ordinals and numbers of terms are kept forever.

use model::ids::AppId;

use crate::{Result, Tx, app_numbers};

/// Things that devices create. The order is that of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Created {
    Channels,
    Tags,
    TagGroups,
    Properties,
    NamedUsers,
}

impl Created {
    pub(crate) const N: usize = 5;
    pub const ALL: [Self; Self::N] = [Self::Channels, Self::Tags, Self::TagGroups, Self::Properties, Self::NamedUsers];
}

pub fn created_by_devices(tx: &mut Tx<'_>, app: AppId, what: Created) -> Result<u64> {
    let numbers = app_numbers::current(tx, app)?;
    Ok(numbers.map_or(0, |numbers| numbers.by_devices[what as usize].unsigned_abs()))
}

/// Counts one more.
pub fn count(tx: &mut Tx<'_>, app: AppId, what: Created) -> Result<()> {
    app_numbers::to_change(tx, app)?.by_devices[what as usize] += 1;
    Ok(())
}
