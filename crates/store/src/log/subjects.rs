//! What records are about, without most of their bodies, and records by their offsets.

use model::event::RecordKind;
use model::ids::{AppId, Offset, Ordinal};

use super::{Record, read, read_kind};
use crate::{Result, Tx};

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention<'r> {
    pub offset: Offset,
    pub kind: RecordKind,
    pub ordinal: Option<Ordinal>,
    /// Only of a record that is about no single channel and says in its body what it is about: one about many channels, or a
    /// custom event.
    pub body: Option<&'r [u8]>,
}

/// Visits the records from an offset up to another, oldest first.
pub fn visit_mentions(
    tx: &mut Tx<'_>,
    app: AppId,
    (first, last): (Offset, Offset),
    mut visit: impl FnMut(Mention<'_>) -> Result<()>,
) -> Result<()> {
    tx.write_pending_records()?;
    let says_in_body = |kind: &RecordKind| kind.is_of_many() || *kind == RecordKind::Custom;
    let kinds = RecordKind::NUMBERED.into_iter().filter(|(_, kind)| says_in_body(kind));
    let kinds: Vec<String> = kinds.map(|(number, _)| number.to_string()).collect();
    let sql = format!(
        "select position, kind, ordinal, case when ordinal is null and kind in ({}) then body end from log
         where app = $1 and position >= $2 and position <= $3 order by position",
        kinds.join(", ")
    );
    tx.for_each(&sql, &[app.into(), first.into(), last.into()], |row| {
        let (offset, kind) = (row.next()?, read_kind(row.next()?)?);
        visit(Mention { offset, kind, ordinal: row.next()?, body: row.next()? })
    })
}

/// The records at some offsets, as far as they are kept, in the order of the offsets.
pub fn at_offsets(tx: &mut Tx<'_>, app: AppId, offsets: &[Offset]) -> Result<Vec<Record>> {
    tx.write_pending_records()?;
    let sql = "select position, at, kind, ordinal, body from log where app = $1 and position = $2";
    tx.query_many(sql, offsets.iter().map(|offset| [app.into(), (*offset).into()]), |row| Ok(read(row)?.into()))
}
