//! What channels looked like before they changed: records with an index of their own, by channel. The one at a
//! position tells what events up to there show.

use std::collections::HashSet;

use model::ids::{AppId, Offset, Ordinal};

use crate::{Result, Row, Tx};

/// Records read at once, apart from one for each of the channels that are asked for. A channel may have changed
/// any number of times.
const FEW: usize = 256;

/// A channel as it was up to an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedFace {
    pub ordinal: Ordinal,
    pub until: Offset,
    pub body: Vec<u8>,
}

/// What channels looked like at offsets, as far as they have changed since: sorted by channel and offset. There
/// may be more than was asked for.
pub fn faces(tx: &mut Tx<'_>, app: AppId, shown: &[(Ordinal, Offset)]) -> Result<Vec<EndedFace>> {
    let ordinals = shown.iter().map(|(ordinal, _)| *ordinal);
    let (Some(first), Some(last)) = (ordinals.clone().min(), ordinals.clone().max()) else { return Ok(Vec::new()) };
    let since = shown.iter().map(|(_, offset)| *offset).min().unwrap_or_default();
    tx.write_pending_records()?;
    let at_most = u32::try_from(FEW + shown.len()).unwrap_or(u32::MAX);
    // Hardly any channel has changed since a recent event, so what all of a range have is read at once. The kind
    // is written out for the index, and the sum keeps SQLite from reading the log along its positions.
    let sql = "select ordinal, position, body from log
               where app = $1 and kind = 21 and ordinal between $2 and $3 and position + 0 >= $4
               order by ordinal, position limit $5";
    let wanted: HashSet<Ordinal> = ordinals.collect();
    let (mut found, mut n_read) = (Vec::new(), 0);
    tx.for_each(sql, &[app.into(), first.into(), last.into(), since.into(), at_most.into()], |row| {
        n_read += 1;
        let face = read(row)?;
        if wanted.contains(&face.ordinal) {
            found.push(face);
        }
        Ok(())
    })?;
    if n_read < at_most {
        return Ok(found);
    }
    one_by_one(tx, app, shown)
}

fn one_by_one(tx: &mut Tx<'_>, app: AppId, shown: &[(Ordinal, Offset)]) -> Result<Vec<EndedFace>> {
    let sql = "select ordinal, position, body from log
               where app = $1 and kind = 21 and ordinal = $2 and position >= $3 order by position limit 1";
    let params = shown.iter().map(|(ordinal, offset)| [app.into(), (*ordinal).into(), (*offset).into()]);
    let mut found = tx.query_many(sql, params, read)?;
    found.sort_unstable_by_key(|face: &EndedFace| (face.ordinal, face.until));
    found.dedup_by_key(|face| (face.ordinal, face.until));
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<EndedFace> {
    Ok(EndedFace { ordinal: row.next()?, until: row.next()?, body: row.next()? })
}

#[cfg(test)]
mod tests {
    use model::event::RecordKind;

    #[test]
    fn the_number_of_their_kind_is_that_of_the_statements_and_the_index() {
        assert_eq!(RecordKind::Face.number(), 21);
    }
}
