//! Visiting the rows of many channels at once, by their ordinals: all of a range, or a few that lie far
//! apart.

use model::ids::{AppId, Ordinal};

use crate::{Result, Row, Tx, Value};

/// Channels looked up by one statement.
const LOOK_UPS: usize = 64;
/// With fewer channels than one in this many of their range, looking them up beats reading the range.
const SPARSE: usize = 4;

/// Visits the rows of a range, in order. `select` ends in a condition whose `$1` is the app.
pub(crate) fn visit_between(
    tx: &mut Tx<'_>,
    select: &str,
    app: AppId,
    first: Ordinal,
    last: Ordinal,
    visit: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let sql = format!("{select} and ordinal between $2 and $3 order by ordinal");
    tx.for_each(&sql, &[app.into(), first.into(), last.into()], visit)
}

/// Visits the rows of a few channels, which are sorted, in order.
pub(crate) fn visit_among(
    tx: &mut Tx<'_>,
    select: &str,
    app: AppId,
    ordinals: &[Ordinal],
    mut visit: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let placeholders: Vec<String> = (2..2 + LOOK_UPS).map(|n| format!("${n}")).collect();
    let sql = format!("{select} and ordinal in ({}) order by ordinal", placeholders.join(", "));
    for some in ordinals.chunks(LOOK_UPS) {
        // The last statement has room for more parameters; repeating an ordinal fills them without changing
        // the result.
        let padding = std::iter::repeat_n(some[0], LOOK_UPS - some.len());
        let mut params = vec![app.into()];
        params.extend(some.iter().copied().chain(padding).map(Value::from));
        tx.for_each(&sql, &params, &mut visit)?;
    }
    Ok(())
}

/// Visits the rows of channels, which are sorted, in order, perhaps with others between them, whichever takes
/// less work.
pub(crate) fn visit_around(
    tx: &mut Tx<'_>,
    select: &str,
    app: AppId,
    ordinals: &[Ordinal],
    visit: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let (Some(first), Some(last)) = (ordinals.first(), ordinals.last()) else { return Ok(()) };
    let range = usize::try_from(last.0 - first.0).unwrap_or(usize::MAX);
    if range / SPARSE > ordinals.len() {
        visit_among(tx, select, app, ordinals, visit)
    } else {
        visit_between(tx, select, app, *first, *last, visit)
    }
}
