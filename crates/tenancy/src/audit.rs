//! The audit log: who asked for which change. Rows are written by the store, in the transactions of the changes; here is what
//! callers are called in it, and how it is read.

use std::ops::Range;
use std::sync::Arc;

use base::Result;
use boxed::boxed;
use model::app::AppKey;
use model::time::UtcMillis;
use store::Tx;
use store::audit::{self, AuditRow, Filter, Request, Rows, Wanted};

use crate::Tenancy;

pub use store::audit::{
    Position as AuditPosition, Request as AuditedRequest, Rows as AuditRows, Wanted as AuditedChange, on_behalf_of,
};

/// The credential of commands that open the database themselves.
pub const COMMAND_LINE: &str = "command line";

const PURPOSE: &str = "fingerprint in the audit log";

/// Which rows are looked for.
#[derive(Clone, Debug)]
pub struct AuditFilter {
    pub at: Range<UtcMillis>,
    pub app: Option<String>,
    /// A credential, or the kind of one: `master secret` finds those of all apps.
    pub credential: Option<String>,
    pub action: Option<String>,
}

/// One row.
pub struct AuditEntry {
    /// `None` for a change of the installation.
    pub app: Option<AppKey>,
    pub row: AuditRow,
}

#[boxed]
impl Tenancy {
    /// What a server is called that has the master secret.
    pub(crate) fn master_credential(&self, hash: &[u8; 32]) -> Arc<str> {
        format!("master secret {}", self.fingerprint(hash)).into()
    }

    /// What the operator is called, by the hash of the token.
    pub fn operator_credential(&self, token_hash: &[u8; 32]) -> Arc<str> {
        format!("operator token {}", self.fingerprint(token_hash)).into()
    }

    /// It changes with the secret, and nothing follows from it without the key of the installation.
    fn fingerprint(&self, hash: &[u8; 32]) -> String {
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let signature = self.0.seal_key.sign(PURPOSE, &hash);
        signature[..4].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Up to `at_most` rows, the newest first, and where the next page begins. A page may be short although another follows.
    pub async fn audit_log(
        &self,
        filter: AuditFilter,
        start: Option<AuditPosition>,
        at_most: u32,
    ) -> Result<(Vec<AuditEntry>, Option<AuditPosition>)> {
        let app = match &filter.app {
            Some(key) => Some(self.app(key).await?.id),
            None => None,
        };
        let filter = Filter { at: filter.at, app, credential: filter.credential, action: filter.action };
        self.0.store.write_audit_counts().await;
        let read = move |tx: &mut Tx<'_>, part: &store::Part| {
            Ok::<_, base::Error>(vec![audit::newest(tx, part, &filter, start, at_most)?])
        };
        let found = match app {
            Some(_) => self.0.store.read(move |tx| read(tx, &store::Part::ALL)).await?,
            None => self.0.store.read_all(read).await?,
        };
        let (rows, next) = merge(found, at_most as usize);
        let apps = self.apps().await?;
        let key = |row: &AuditRow| apps.iter().find(|app| app.id == row.position.app).map(|app| app.key.clone());
        Ok((rows.into_iter().map(|row| AuditEntry { app: key(&row), row }).collect(), next))
    }
}

/// One page of the pages of all parts. Where a part was not looked at to its end, the page ends.
fn merge(parts: Vec<(Vec<AuditRow>, Option<AuditPosition>)>, at_most: usize) -> (Vec<AuditRow>, Option<AuditPosition>) {
    let mut next = parts.iter().filter_map(|(_, next)| *next).max();
    let rows = parts.into_iter().flat_map(|(rows, _)| rows);
    let mut rows: Vec<AuditRow> = rows.filter(|row| next.is_none_or(|next| row.position > next)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.position));
    if let Some(first_left) = rows.get(at_most) {
        next = Some(first_left.position);
    }
    rows.truncate(at_most);
    (rows, next)
}

/// A change by a command that opens the database itself.
pub fn request_of_command(at: UtcMillis, action: &'static str) -> Request {
    let (credential, object) = (COMMAND_LINE.into(), Vec::new());
    Request::new(at, Wanted { credential, address: None, action, rows: Rows::Each, object, request_id: None })
}

#[cfg(test)]
mod tests {
    use model::ids::AppId;

    use super::*;

    fn row(at: i64, app: i64) -> AuditRow {
        AuditRow {
            position: AuditPosition { at: UtcMillis(at), app: AppId(app), number: 0 },
            last_at: UtcMillis(at),
            n: 1,
            credential: String::new(),
            address: None,
            action: String::new(),
            object: String::new(),
            detail: None,
            request_id: None,
        }
    }

    #[test]
    fn pages_of_parts_become_one_that_leaves_nothing_out() {
        let position = |row: &AuditRow| row.position;
        let (first, second) = (vec![row(9, 1), row(5, 1)], vec![row(8, 2), row(3, 2)]);
        let all = vec![(first.clone(), None), (second.clone(), None)];
        let (rows, next) = merge(all.clone(), 10);
        assert_eq!(rows.iter().map(|row| row.position.at.0).collect::<Vec<_>>(), [9, 8, 5, 3]);
        assert_eq!(next, None);
        let (rows, next) = merge(all, 3);
        assert_eq!((rows.len(), next), (3, Some(position(&row(3, 2)))));
        let (rows, next) = merge(vec![(first, None), (second, Some(position(&row(7, 2))))], 10);
        assert_eq!(rows.iter().map(|row| row.position.at.0).collect::<Vec<_>>(), [9, 8]);
        assert_eq!(next, Some(position(&row(7, 2))));
    }
}
