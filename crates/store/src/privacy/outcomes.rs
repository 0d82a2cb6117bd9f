//! What became of pushes, in the words of providers, which may repeat an address. The words are part of the key of a row, so a row
//! without the address is another one, and may be there already.

use super::cleaning::Walked;
use super::plan::{Cleaned, Written};
use super::{After, Work};
use crate::{Error, Result, Tx, Value};

const TABLE: &str = "push_outcome";
/// The words are a column of the key, too.
const REASONS: Cleaned = Cleaned { columns: &["reason"], written: Written::Unknown };
const SETS: Cleaned = Cleaned { columns: &["reason", "members"], written: Written::Unknown };
/// Where the words are in the key after the app.
const REASON: usize = 4;

/// The keys of rows whose words name the person.
pub(super) fn search(tx: &mut Tx<'_>, work: &Work<'_>, after: Option<&After>) -> Result<(Vec<After>, Option<After>)> {
    super::cleaning::search(tx, work, TABLE, REASONS, after)
}

/// Tells which rows name the person.
pub(super) fn tell(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    after: Option<&After>,
    lines: &mut Vec<String>,
) -> Result<Option<After>> {
    super::cleaning::tell_some(tx, work, TABLE, REASONS, after, lines)
}

/// Replaces the names in the words of rows. `union` adds two sets of channels, which only the caller can read; `None` for bytes
/// that are no set.
pub fn clean_outcomes(
    tx: &mut Tx<'_>,
    work: &Work<'_>,
    keys: &[After],
    union: impl Fn(&[u8], &[u8]) -> Option<Vec<u8>>,
) -> Result<u64> {
    let walked = Walked::at(tx, work, TABLE, SETS, keys)?;
    let mut n_found = 0;
    for row in &walked.rows {
        let (key, cells) = row.split_at(walked.n_key);
        let [Value::Text(reason), Value::Bytes(members)] = cells else { continue };
        let Some(cleaned) = work.redaction.json(reason) else { continue };
        n_found += 1;
        let params = |reason: &str| {
            let mut params = [std::slice::from_ref(&work.app.into()), key].concat();
            params[1 + REASON] = Value::from(reason);
            params
        };
        let with_key =
            "app = $1 and push = $2 and block = $3 and platform = $4 and outcome = $5 and reason = $6 and since = $7";
        tx.execute(&format!("delete from push_outcome where {with_key}"), &params(reason))?;
        let sql = format!("select members from push_outcome where {with_key}");
        let others: Option<Vec<u8>> = tx.query_opt(&sql, &params(&cleaned), |row| row.get(0))?;
        let all = match others {
            Some(others) => union(&others, members).ok_or_else(|| Error::corrupt("a set of channels of an outcome"))?,
            None => members.to_vec(),
        };
        tx.execute(
            "insert into push_outcome (app, push, block, platform, outcome, reason, since, members)
             values ($1, $2, $3, $4, $5, $6, $7, $8)
             on conflict (app, push, block, platform, outcome, reason, since) do update set members = excluded.members",
            &[params(&cleaned), vec![Value::from(all)]].concat(),
        )?;
    }
    Ok(n_found)
}
