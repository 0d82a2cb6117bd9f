//! The recipients of a push, as delivery reads them: many at a time, and only the columns it needs.

use model::ids::{AppId, ChannelId, Ordinal};

use crate::{Result, Row, Tx, ordinals};

/// The data of a channel that delivery needs. `None` where it was not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipient<'r> {
    pub ordinal: Ordinal,
    pub id: ChannelId,
    pub address: &'r str,
    pub language: Option<&'r str>,
    pub country: Option<&'r str>,
    pub profile: Option<&'r str>,
}

/// The columns to read beside the address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub locale: bool,
    pub profile: bool,
}

/// Visits the reachable channels of a range of ordinals, in order.
pub fn visit_between(
    tx: &mut Tx<'_>,
    app: AppId,
    first: Ordinal,
    last: Ordinal,
    wanted: Wanted,
    mut visit: impl FnMut(Recipient<'_>),
) -> Result<()> {
    ordinals::visit_between(tx, select(wanted), app, first, last, |row| {
        visit(read(row)?);
        Ok(())
    })
}

/// Visits the reachable ones of a few channels far apart, in order.
pub fn visit_among(
    tx: &mut Tx<'_>,
    app: AppId,
    ordinals: &[Ordinal],
    wanted: Wanted,
    mut visit: impl FnMut(Recipient<'_>),
) -> Result<()> {
    ordinals::visit_among(tx, select(wanted), app, ordinals, |row| {
        visit(read(row)?);
        Ok(())
    })
}

/// What live messages need to know of a channel, which need not have an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRecipient {
    pub ordinal: Ordinal,
    pub id: ChannelId,
    pub language: Option<String>,
    pub country: Option<String>,
}

/// The installed ones of some channels, which are sorted.
pub fn live_among(tx: &mut Tx<'_>, app: AppId, ordinals: &[Ordinal]) -> Result<Vec<LiveRecipient>> {
    let select = "select ordinal, id, language, country from channel where app = $1 and installed = 1";
    let mut found = Vec::with_capacity(ordinals.len());
    ordinals::visit_around(tx, select, app, ordinals, |row| {
        let ordinal = row.next()?;
        // Others between them may have been read, too.
        if ordinals.binary_search(&ordinal).is_ok() {
            found.push(LiveRecipient { ordinal, id: row.next()?, language: row.next()?, country: row.next()? });
        }
        Ok(())
    })?;
    Ok(found)
}

/// The profiles of the installed ones of some channels, which are sorted.
pub fn profiles_among(tx: &mut Tx<'_>, app: AppId, ordinals: &[Ordinal]) -> Result<Vec<(Ordinal, String)>> {
    let select = "select ordinal, profile from channel where app = $1 and installed = 1";
    let mut found = Vec::with_capacity(ordinals.len());
    ordinals::visit_around(tx, select, app, ordinals, |row| {
        let ordinal = row.next()?;
        // Others between them may have been read, too.
        if ordinals.binary_search(&ordinal).is_ok() {
            found.push((ordinal, row.next()?));
        }
        Ok(())
    })?;
    Ok(found)
}

/// The beginning of a statement, to which [`ordinals`] adds the channels that are meant.
const fn select(wanted: Wanted) -> &'static str {
    match (wanted.locale, wanted.profile) {
        (false, false) => {
            "select ordinal, id, address, null, null, null from channel
             where app = $1 and installed = 1 and address is not null"
        }
        (true, false) => {
            "select ordinal, id, address, language, country, null from channel
             where app = $1 and installed = 1 and address is not null"
        }
        (false, true) => {
            "select ordinal, id, address, null, null, profile from channel
             where app = $1 and installed = 1 and address is not null"
        }
        (true, true) => {
            "select ordinal, id, address, language, country, profile from channel
             where app = $1 and installed = 1 and address is not null"
        }
    }
}

fn read<'r>(row: &Row<'r>) -> Result<Recipient<'r>> {
    Ok(Recipient {
        ordinal: row.next()?,
        id: row.next()?,
        address: row.next()?,
        language: row.next()?,
        country: row.next()?,
        profile: row.next()?,
    })
}
