//! The channels that a push goes to, as delivery reads them: many at a time, and only what it needs.

use model::ids::{AppId, ChannelId, Ordinal};

use crate::{Result, Row, Tx, Value};

/// What delivery needs to know of a channel. What was not wanted is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipient<'r> {
    pub ordinal: Ordinal,
    pub id: ChannelId,
    pub address: &'r str,
    pub language: Option<&'r str>,
    pub country: Option<&'r str>,
    pub profile: Option<&'r str>,
}

/// What is read beside the address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub locale: bool,
    pub profile: bool,
}

/// Channels looked up by one statement.
const LOOK_UPS: usize = 64;

/// Visits the reachable channels of a range of ordinals, in order.
pub fn visit_between(
    tx: &mut Tx<'_>,
    app: AppId,
    first: Ordinal,
    last: Ordinal,
    wanted: Wanted,
    mut visit: impl FnMut(Recipient<'_>),
) -> Result<()> {
    let sql = format!("{} and ordinal between $2 and $3 order by ordinal", select(wanted));
    tx.for_each(&sql, &[app.into(), first.into(), last.into()], |row| {
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
    let places: Vec<String> = (2..2 + LOOK_UPS).map(|n| format!("${n}")).collect();
    let sql = format!("{} and ordinal in ({}) order by ordinal", select(wanted), places.join(", "));
    for some in ordinals.chunks(LOOK_UPS) {
        // The last statement has room for more, which repeating an ordinal fills without changing the answer.
        let padding = std::iter::repeat_n(some[0], LOOK_UPS - some.len());
        let mut params = vec![app.into()];
        params.extend(some.iter().copied().chain(padding).map(Value::from));
        tx.for_each(&sql, &params, |row| {
            visit(read(row)?);
            Ok(())
        })?;
    }
    Ok(())
}

fn select(wanted: Wanted) -> String {
    let locale = if wanted.locale { "language, country" } else { "null, null" };
    let profile = if wanted.profile { "profile" } else { "null" };
    format!(
        "select ordinal, id, address, {locale}, {profile} from channel
         where app = $1 and installed = 1 and address is not null"
    )
}

fn read<'r>(row: &Row<'r>) -> Result<Recipient<'r>> {
    Ok(Recipient {
        ordinal: row.get(0)?,
        id: row.get(1)?,
        address: row.get(2)?,
        language: row.get(3)?,
        country: row.get(4)?,
        profile: row.get(5)?,
    })
}
