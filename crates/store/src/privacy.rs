//! Requests to export or erase a person: how far each has come, its receipt, and the lines of an export. What is done with the rows
//! of each table says [`plan`].

mod cleaning;
mod documents;
mod lists;
mod outcomes;
mod owned;
mod person;
pub mod plan;
mod portion;
mod webhooks;

pub(crate) use cleaning::rows_within;
pub use documents::{CleanedDocuments, clean_documents};
pub use lists::{delete_list_rows, without_erased};
pub use outcomes::clean_outcomes;
pub use person::{Person, PersonChannel, PersonUpload, Stretch};
pub use portion::{After, Catalog, Found, Portion, Work, count_owned, erase, erase_by_name, export_some, search};

use model::ids::{AppId, PrivacyId};
use model::time::UtcMillis;

use crate::{CleanUp, Error, Extent, Result, Row, Tx};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    Export,
    Erase,
}

impl RequestKind {
    /// Stored, and shown.
    pub const fn word(self) -> &'static str {
        match self {
            RequestKind::Export => "export",
            RequestKind::Erase => "erase",
        }
    }
}

/// One request. Its JSON is of the caller's making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub id: PrivacyId,
    pub kind: RequestKind,
    pub created: UtcMillis,
    pub ended: Option<UtcMillis>,
    pub subject: Option<String>,
    pub person: Option<String>,
    pub progress: String,
    pub receipt: String,
}

const COLUMNS: &str = "id, kind, created, ended, subject, person, progress, receipt";

pub fn insert(tx: &mut Tx<'_>, app: AppId, request: &Request) -> Result<()> {
    let sql = format!("insert into privacy_request (app, {COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)");
    let Request { id, kind, created, ended, subject, person, progress, receipt } = request.clone();
    tx.write(
        &sql,
        &[
            app.into(),
            id.into(),
            kind.word().into(),
            created.into(),
            ended.into(),
            subject.into(),
            person.into(),
            progress.into(),
            receipt.into(),
        ],
    )
}

pub fn get(tx: &mut Tx<'_>, app: AppId, id: PrivacyId) -> Result<Option<Request>> {
    let sql = format!("select {COLUMNS} from privacy_request where app = $1 and id = $2");
    tx.query_opt(&sql, &[app.into(), id.into()], read)
}

/// Writes everything that can change about a request.
pub fn save(tx: &mut Tx<'_>, app: AppId, request: &Request) -> Result<()> {
    let Request { id, ended, subject, person, progress, receipt, .. } = request.clone();
    tx.write(
        "update privacy_request set ended = $3, subject = $4, person = $5, progress = $6, receipt = $7
         where app = $1 and id = $2",
        &[app.into(), id.into(), ended.into(), subject.into(), person.into(), progress.into(), receipt.into()],
    )
}

/// Up to `at_most` requests of a kind that ended before an instant.
pub fn ended_before(
    tx: &mut Tx<'_>,
    app: AppId,
    kind: RequestKind,
    instant: UtcMillis,
    at_most: u32,
) -> Result<Vec<Request>> {
    let sql = format!(
        "select {COLUMNS} from privacy_request
         where app = $1 and kind = $2 and ended is not null and ended < $3 order by ended limit $4"
    );
    tx.query(&sql, &[app.into(), kind.word().into(), instant.into(), at_most.into()], read)
}

/// All requests. There are few, because those that have ended are deleted.
fn all(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<Request>> {
    tx.query(&format!("select {COLUMNS} from privacy_request where app = $1 order by id"), &[app.into()], read)
}

/// Deletes a request with what it has found.
pub fn delete(tx: &mut Tx<'_>, app: AppId, id: PrivacyId) -> Result<()> {
    forget_result(tx, app, id)?;
    tx.execute("delete from privacy_request where app = $1 and id = $2", &[app.into(), id.into()]).map(drop)
}

/// Keeps the next piece of what an export has found.
pub fn add_result(tx: &mut Tx<'_>, app: AppId, id: PrivacyId, n: u32, body: Vec<u8>) -> Result<()> {
    let sql = "insert into privacy_result (app, request, n, body) values ($1, $2, $3, $4)";
    tx.write(sql, &[app.into(), id.into(), n.into(), body.into()])
}

pub fn result(tx: &mut Tx<'_>, app: AppId, id: PrivacyId, n: u32) -> Result<Option<Vec<u8>>> {
    let sql = "select body from privacy_result where app = $1 and request = $2 and n = $3";
    tx.query_opt(sql, &[app.into(), id.into(), n.into()], |row| row.get(0))
}

/// Deletes what an export has found.
pub fn forget_result(tx: &mut Tx<'_>, app: AppId, id: PrivacyId) -> Result<()> {
    tx.execute("delete from privacy_result where app = $1 and request = $2", &[app.into(), id.into()]).map(drop)
}

/// Overwrites from now on what this transaction deletes, where the database would leave it in its file.
pub fn overwrite_deleted(tx: &mut Tx<'_>) -> Result<()> {
    tx.overwrite_deleted()
}

/// Has the database's file cleaned of what was deleted, after this transaction. The next one is told how it went by [`clean_up`].
pub fn request_clean_up(tx: &mut Tx<'_>, extent: Extent) {
    tx.request_clean_up(extent);
}

/// How the last clean-up went; `None` if there was none, as on PostgreSQL.
pub fn clean_up(tx: &Tx<'_>) -> Option<CleanUp> {
    tx.clean_up()
}

fn read(row: &Row<'_>) -> Result<Request> {
    let (id, kind): (_, &str) = (row.next()?, row.next()?);
    let kinds = [RequestKind::Export, RequestKind::Erase];
    let kind = kinds.into_iter().find(|known| known.word() == kind);
    Ok(Request {
        id,
        kind: kind.ok_or_else(|| Error::corrupt("a privacy request of an unknown kind"))?,
        created: row.next()?,
        ended: row.next()?,
        subject: row.next()?,
        person: row.next()?,
        progress: row.next()?,
        receipt: row.next()?,
    })
}
