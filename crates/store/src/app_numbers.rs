//! The sequences of an app (log positions, ordinals, terms, sandbox positions), the size of its log, the last
//! retirement of a term, and how much its devices have created. They are columns of one row per app, which a
//! transaction locks and reads when it begins. Its commands change them in memory, and the row is written once for
//! all of them.

use std::collections::BTreeMap;

use model::ids::AppId;

use crate::growth::Created;
use crate::{Result, Tx, Value, apps};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AppNumbers {
    /// The position of the last record.
    pub(crate) log_head: i64,
    /// The size of the bodies of all records.
    pub(crate) log_bytes: i64,
    pub(crate) next_ordinal: i64,
    pub(crate) next_term: i64,
    /// The position of the last delivery in the sandbox.
    pub(crate) sandbox_head: i64,
    /// The offset of the last retirement of a term.
    pub(crate) terms_retired: i64,
    /// By [`Created`].
    pub(crate) by_devices: [i64; Created::N],
}

impl AppNumbers {
    /// The columns of the row, in the order of [`AppNumbers::read`].
    pub(crate) const COLUMNS: &str = "log_head, log_bytes, next_ordinal, next_term, sandbox_head, terms_retired,
         device_channels, device_tags, device_tag_groups, device_properties, device_named_users";

    pub(crate) fn read(mut next: impl FnMut() -> Result<i64>) -> Result<Self> {
        Ok(Self {
            log_head: next()?,
            log_bytes: next()?,
            next_ordinal: next()?,
            next_term: next()?,
            sandbox_head: next()?,
            terms_retired: next()?,
            by_devices: [next()?, next()?, next()?, next()?, next()?],
        })
    }
}

/// The numbers that a transaction has read or changed.
#[derive(Clone, Default)]
pub(crate) struct PendingNumbers(BTreeMap<AppId, Change>);

#[derive(Clone, Copy)]
struct Change {
    now: AppNumbers,
    stored: AppNumbers,
}

/// The numbers of an app, to be changed. Fails with [`crate::Constraint::AppGone`] when the app is gone.
pub(crate) fn to_change<'t>(tx: &'t mut Tx<'_>, app: AppId) -> Result<&'t mut AppNumbers> {
    if !tx.pending_numbers()?.0.contains_key(&app) {
        let stored = match tx.numbers_at_begin(app)? {
            Some(numbers) => numbers,
            None => lock_and_read(tx, app)?,
        };
        tx.pending_numbers()?.0.insert(app, Change { now: stored, stored });
    }
    tx.pending_numbers()?.0.get_mut(&app).map(|change| &mut change.now).ok_or_else(apps::gone)
}

/// For an app that no command of the transaction is for, so that its row was not locked at the beginning.
fn lock_and_read(tx: &mut Tx<'_>, app: AppId) -> Result<AppNumbers> {
    let sql = format!("update app_numbers set log_head = log_head where app = $1 returning {}", AppNumbers::COLUMNS);
    tx.query_opt(&sql, &[app.into()], |row| AppNumbers::read(|| row.next()))?.ok_or_else(apps::gone)
}

/// The numbers of an app as this transaction sees them, if the app exists.
pub(crate) fn current(tx: &mut Tx<'_>, app: AppId) -> Result<Option<AppNumbers>> {
    if let Some(change) = tx.numbers_so_far().0.get(&app) {
        return Ok(Some(change.now));
    }
    if let Some(numbers) = tx.numbers_at_begin(app)? {
        return Ok(Some(numbers));
    }
    let sql = format!("select {} from app_numbers where app = $1", AppNumbers::COLUMNS);
    tx.query_opt(&sql, &[app.into()], |row| AppNumbers::read(|| row.next()))
}

impl PendingNumbers {
    /// Writes the numbers that have changed. The transaction may change them again.
    pub(crate) fn write(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let sql = "update app_numbers set log_head = $2, log_bytes = $3, next_ordinal = $4, next_term = $5, sandbox_head = $6,
                          terms_retired = $7, device_channels = $8, device_tags = $9, device_tag_groups = $10,
                          device_properties = $11, device_named_users = $12
                   where app = $1";
        for (app, Change { now, stored }) in &mut self.0 {
            if now != stored {
                let AppNumbers {
                    log_head,
                    log_bytes,
                    next_ordinal,
                    next_term,
                    sandbox_head,
                    terms_retired,
                    by_devices,
                } = *now;
                let [channels, tags, groups, properties, users] = by_devices;
                let numbers = [
                    app.0,
                    log_head,
                    log_bytes,
                    next_ordinal,
                    next_term,
                    sandbox_head,
                    terms_retired,
                    channels,
                    tags,
                    groups,
                    properties,
                    users,
                ];
                tx.write(sql, &numbers.map(Value::from))?;
                *stored = *now;
            }
        }
        Ok(())
    }

    /// The app was deleted.
    pub(crate) fn forget(&mut self, app: AppId) {
        self.0.remove(&app);
    }
}
