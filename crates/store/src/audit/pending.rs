//! The rows of the requests that the commands of a transaction were run for, written together at its end.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::ids::AppId;
use serde_json::{Map, Value as Json};

use super::{MINUTE, Request, Rows, Wanted};
use crate::{Result, Tx};

/// The longest object and the longest detail, in bytes of JSON.
const MOST_BYTES: usize = 4096;
/// The most things of one kind that an object lists: a request sends up to a hundred pushes.
const MOST_IDS: usize = 100;

/// What a running command has told about its change.
#[derive(Default)]
pub(crate) struct About {
    /// The app that was made: its row belongs to it.
    pub(crate) new_app: Option<AppId>,
    pub(crate) objects: Vec<(&'static str, String)>,
    pub(crate) detail: Map<String, Json>,
}

#[derive(Default)]
pub(crate) struct PendingAudit {
    /// Ordered, so that all nodes take hold of the rows in the same sequence.
    rows: NewRows,
    /// The requests whose rows are written by this transaction.
    requests: Vec<Arc<Request>>,
}

/// By app, time and number.
pub(crate) type NewRows = BTreeMap<(AppId, i64, i64), NewRow>;

pub(crate) struct NewRow {
    request: Arc<Request>,
    n: i64,
    object: String,
    detail: Option<String>,
}

impl PendingAudit {
    pub(crate) fn push(&mut self, app: AppId, request: Arc<Request>, about: About) {
        self.requests.push(Arc::clone(&request));
        match request.wanted.rows {
            Rows::Each => {
                let (object, detail) = (object(&request, about.objects), detail(&about.detail));
                let key = (app, request.at.0, request.number);
                self.rows.entry(key).or_insert(NewRow { request, n: 1, object, detail });
            }
            Rows::PerMinute => {
                let key = (app, request.at.0.div_euclid(MINUTE) * MINUTE, request.number);
                let empty = || NewRow { request: Arc::clone(&request), n: 0, object: "{}".to_owned(), detail: None };
                let row = self.rows.entry(key).or_insert_with(empty);
                row.n += 1;
                if row.request.at <= request.at {
                    row.request = request;
                }
            }
        }
    }

    /// How many requests have their rows here.
    pub(crate) fn n_requests(&self) -> usize {
        self.requests.len()
    }

    /// Forgets the rows that are not written yet, and all requests after the first `n_requests`.
    pub(crate) fn undo_to(&mut self, n_requests: usize) {
        self.rows.clear();
        self.requests.truncate(n_requests);
    }

    /// The app was deleted.
    pub(crate) fn forget(&mut self, app: AppId) {
        self.rows.retain(|(of, ..), _| *of != app);
    }

    /// The rows that are not written yet.
    pub(crate) fn take_rows(&mut self) -> NewRows {
        std::mem::take(&mut self.rows)
    }

    /// The transaction was committed.
    pub(crate) fn committed(&self) {
        self.requests.iter().for_each(|request| request.set_recorded());
    }
}

pub(crate) fn write(tx: &mut Tx<'_>, rows: NewRows) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let rows = rows.into_iter().map(|((app, at, id), NewRow { request, n, object, detail })| {
        let Wanted { credential, address, action, request_id, .. } = &request.wanted;
        [
            app.into(),
            at.into(),
            id.into(),
            request.at.into(),
            n.into(),
            credential.into(),
            address.map(|address| address.to_string()).into(),
            (*action).into(),
            object.into(),
            detail.into(),
            request_id.clone().into(),
        ]
    });
    let sql = "insert into audit (app, at, id, last_at, n, credential, address, action, object, detail, request)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
               on conflict (app, at, id) do update set
                 n = audit.n + excluded.n, last_at = excluded.last_at, request = excluded.request";
    tx.write_many(sql, rows)
}

/// The things that a request names and those that its command has made: one id, or a list of them.
fn object(request: &Request, made: Vec<(&'static str, String)>) -> String {
    let mut by_name: Map<String, Json> = Map::new();
    let named = request.wanted.object.iter().cloned();
    for (name, id) in named.chain(made.into_iter().map(|(name, id)| (name.to_owned(), id))) {
        match by_name.get_mut(&name) {
            None => drop(by_name.insert(name, Json::String(id))),
            Some(Json::Array(ids)) if ids.len() < MOST_IDS => ids.push(Json::String(id)),
            Some(Json::String(first)) if *first != id => {
                let first = Json::String(std::mem::take(first));
                by_name.insert(name, Json::Array(vec![first, Json::String(id)]));
            }
            Some(_) => {}
        }
    }
    bounded(&by_name).unwrap_or_else(|| "{}".to_owned())
}

fn detail(detail: &Map<String, Json>) -> Option<String> {
    if detail.is_empty() { None } else { bounded(detail) }
}

/// What is too long is left out: the row says that there is a change, and by whom, in any case.
fn bounded(json: &Map<String, Json>) -> Option<String> {
    serde_json::to_string(json).ok().filter(|text| text.len() <= MOST_BYTES)
}
