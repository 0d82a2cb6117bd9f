//! The rows of the requests that the commands of a transaction were run for, written together at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use model::ids::{AppId, OperationId};
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::{MINUTE, Request, Rows, Tally, Wanted, first_bits};
use crate::{Result, Tx, Value};

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
    /// The rows that requests have for themselves, by app, time and number of the request.
    own: BTreeMap<(AppId, i64, i64), OwnRow>,
    shared: BTreeMap<SharedKey, Counted>,
    /// The requests whose rows are written by this transaction.
    requests: Vec<Arc<Request>>,
    /// Where counts may wait. Without it all are written at once.
    tally: Option<Arc<Tally>>,
    /// Apps whose counts have waited for long enough.
    due: BTreeSet<AppId>,
    /// Shared rows that this transaction has written, with all of their counts, and those whose counts can wait.
    written: Vec<(SharedKey, Counted)>,
    put_off: Vec<(SharedKey, Counted)>,
    /// Apps that this transaction deletes.
    gone: Vec<AppId>,
}

struct OwnRow {
    request: Arc<Request>,
    object: String,
    detail: Option<String>,
}

/// What the requests have in common that share a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SharedKey {
    pub(super) app: AppId,
    /// Its beginning.
    minute: i64,
    action: &'static str,
    address: Option<IpAddr>,
    credential: Arc<str>,
}

/// How many requests share a row, and the last of them.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) n: i64,
    request: Arc<Request>,
}

impl SharedKey {
    fn of(app: AppId, request: &Request) -> Self {
        let Wanted { credential, address, action, .. } = &request.wanted;
        let minute = request.at.0.div_euclid(MINUTE) * MINUTE;
        Self { app, minute, action, address: *address, credential: Arc::clone(credential) }
    }

    /// The number of the row among those of the minute: the same at all nodes.
    fn number(&self) -> i64 {
        let Self { credential, address, action, .. } = self;
        first_bits(digest(&SHA256, format!("{credential}\n{address:?}\n{action}").as_bytes()).as_ref())
    }
}

impl Counted {
    /// None, after these.
    pub(super) fn emptied(self) -> Self {
        Self { n: 0, ..self }
    }

    pub(super) fn add(&mut self, more: Counted) {
        self.n += more.n;
        if self.request.at <= more.request.at {
            self.request = more.request;
        }
    }
}

/// Rows to be written.
pub(crate) struct NewRows {
    /// Which are not there yet.
    own: Vec<NewRow>,
    /// One that is there gets its count, and becomes that of its last request. Ordered, so that all nodes take hold of them in the
    /// same sequence.
    shared: Vec<NewRow>,
}

struct NewRow {
    app: AppId,
    at: i64,
    number: i64,
    n: i64,
    request: Arc<Request>,
    object: String,
    detail: Option<String>,
}

impl PendingAudit {
    /// From here on counts of shared rows may wait. Only for a transaction that is committed or undone as a whole.
    pub(crate) fn use_tally(&mut self, tally: &Arc<Tally>) {
        self.tally = Some(Arc::clone(tally));
    }

    pub(crate) fn push(&mut self, app: AppId, request: Arc<Request>, about: About) {
        self.requests.push(Arc::clone(&request));
        match request.wanted.rows {
            Rows::Each => {
                let (object, detail) = (object(&request, about.objects), detail(&about.detail));
                let key = (app, request.at.0, request.number);
                self.own.entry(key).or_insert(OwnRow { request, object, detail });
            }
            Rows::PerMinute => {
                let (key, counted) = (SharedKey::of(app, &request), Counted { n: 1, request });
                match self.shared.get_mut(&key) {
                    Some(known) => known.add(counted),
                    None => drop(self.shared.insert(key, counted)),
                }
            }
        }
    }

    /// Has the counts of an app written that wait.
    pub(crate) fn write_counts(&mut self, app: AppId) {
        self.due.insert(app);
    }

    /// How many requests have their rows here.
    pub(crate) fn n_requests(&self) -> usize {
        self.requests.len()
    }

    /// Forgets the rows that are not written yet, and all requests after the first `n_requests`.
    pub(crate) fn undo_to(&mut self, n_requests: usize) {
        self.own.clear();
        self.shared.clear();
        self.requests.truncate(n_requests);
    }

    /// The app was deleted.
    pub(crate) fn forget(&mut self, app: AppId) {
        self.own.retain(|(of, ..), _| *of != app);
        self.shared.retain(|key, _| key.app != app);
        self.gone.push(app);
    }

    /// The rows that are to be written now.
    pub(crate) fn take_rows(&mut self) -> NewRows {
        let own = std::mem::take(&mut self.own).into_iter().map(|((app, at, _), row)| {
            let OwnRow { request, object, detail } = row;
            // Another one each time: whether an earlier transaction of the request was committed may be unknown.
            let number = first_bits(OperationId::random().uuid().as_bytes());
            NewRow { app, at, number, n: 1, request, object, detail }
        });
        let own = own.collect();
        let shared = self.take_shared().into_iter().map(|(key, Counted { n, request })| {
            let (app, at, number) = (key.app, key.minute, key.number());
            NewRow { app, at, number, n, request, object: "{}".to_owned(), detail: None }
        });
        let mut shared: Vec<NewRow> = shared.collect();
        shared.sort_unstable_by_key(|row| (row.app, row.at, row.number));
        NewRows { own, shared }
    }

    /// The shared rows that cannot wait, with the counts that have waited for them.
    fn take_shared(&mut self) -> BTreeMap<SharedKey, Counted> {
        let mut shared = std::mem::take(&mut self.shared);
        let Some(tally) = &self.tally else { return shared };
        let due = std::mem::take(&mut self.due);
        let (put_off, written, due_apps) = (&mut self.put_off, &self.written, &due);
        let is_written = |key: &SharedKey| written.iter().any(|(other, _)| other == key);
        shared.retain(|key, counted| match tally.waiting(key) {
            // What waited went with it.
            Some(_) if is_written(key) => true,
            Some((_, true)) if !due_apps.contains(&key.app) => {
                put_off.push((key.clone(), counted.clone()));
                false
            }
            Some((n, _)) => {
                counted.n += n;
                true
            }
            None => true,
        });
        for (key, counted) in due.iter().flat_map(|app| tally.of_app(*app)) {
            shared.entry(key).or_insert(counted);
        }
        self.written.extend(shared.iter().map(|(key, counted)| (key.clone(), counted.clone())));
        shared
    }

    /// The transaction was committed.
    pub(crate) fn committed(&mut self) {
        self.requests.iter().for_each(|request| request.set_recorded());
        if let Some(tally) = &self.tally {
            tally.note(std::mem::take(&mut self.written), std::mem::take(&mut self.put_off));
            self.gone.iter().for_each(|app| tally.forget(*app));
        }
    }
}

pub(crate) fn write(tx: &mut Tx<'_>, NewRows { own, shared }: NewRows) -> Result<()> {
    if !own.is_empty() {
        let sql = "insert into audit (app, at, id, last_at, n, credential, address, action, object, detail, request)
                   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
        tx.write_many(sql, own.into_iter().map(NewRow::values))?;
    }
    if !shared.is_empty() {
        let sql = "insert into audit (app, at, id, last_at, n, credential, address, action, object, detail, request)
                   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
                   on conflict (app, at, id) do update set
                     n = audit.n + excluded.n, last_at = excluded.last_at, request = excluded.request";
        tx.write_many(sql, shared.into_iter().map(NewRow::values))?;
    }
    Ok(())
}

impl NewRow {
    fn values(self) -> [Value; 11] {
        let Self { app, at, number, n, request, object, detail } = self;
        let Wanted { credential, address, action, request_id, .. } = &request.wanted;
        [
            app.into(),
            at.into(),
            number.into(),
            request.at.into(),
            n.into(),
            (&**credential).into(),
            address.map(|address| address.to_string()).into(),
            (*action).into(),
            object.into(),
            detail.into(),
            request_id.clone().into(),
        ]
    }
}

/// The things that a request names and those that its command has made: one id, or a list of them.
fn object(request: &Request, made: Vec<(&'static str, String)>) -> String {
    if let ([], [(name, id)]) = (&request.wanted.object[..], &made[..]) {
        return bounded(&BTreeMap::from([(name, id)])).unwrap_or_else(|| "{}".to_owned());
    }
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
fn bounded(json: &impl Serialize) -> Option<String> {
    serde_json::to_string(json).ok().filter(|text| text.len() <= MOST_BYTES)
}

#[cfg(test)]
mod tests {
    use model::time::UtcMillis;

    use super::*;

    fn request(credential: &str) -> Arc<Request> {
        let wanted = Wanted {
            credential: credential.into(),
            address: None,
            action: "channel.tag",
            rows: Rows::PerMinute,
            object: Vec::new(),
            request_id: None,
        };
        Arc::new(Request::new(UtcMillis(61_000), wanted))
    }

    #[test]
    fn requests_that_share_a_row_have_one_number() {
        let number = |credential| SharedKey::of(AppId(1), &request(credential)).number();
        assert_eq!(number("a"), number("a"));
        assert_ne!(number("a"), number("b"));
        assert!(number("a") >= 0);
    }

    const NONE: [i64; 0] = [];

    /// One transaction with requests; the counts that it writes.
    fn commit(tally: &Arc<Tally>, n_requests: usize, is_committed: bool, is_due: bool) -> Vec<i64> {
        let mut pending = PendingAudit::default();
        pending.use_tally(tally);
        (0..n_requests).for_each(|_| pending.push(AppId(1), request("a"), About::default()));
        if is_due {
            pending.write_counts(AppId(1));
        }
        let counts = pending.take_rows().shared.iter().map(|row| row.n).collect();
        if is_committed {
            pending.committed();
        }
        counts
    }

    #[test]
    fn a_row_is_written_first_and_counted_later() {
        let tally = Arc::new(Tally::default());
        assert_eq!(commit(&tally, 3, false, false), [3], "undone, so the next writes it, too");
        assert_eq!(commit(&tally, 2, true, false), [2]);
        assert_eq!(commit(&tally, 4, true, false), NONE);
        assert_eq!(commit(&tally, 5, false, false), NONE, "undone, and so not counted");
        assert_eq!(commit(&tally, 1, false, true), [5], "the four and itself, undone");
        assert_eq!(commit(&tally, 0, true, true), [4]);
        assert_eq!(commit(&tally, 0, true, true), NONE);
        assert_eq!(commit(&tally, 6, true, false), NONE);
        tally.doubt();
        assert_eq!(commit(&tally, 1, true, false), [7], "the row may be lost");
        assert_eq!(commit(&tally, 8, true, false), NONE);
        assert_eq!(tally.apps(), [AppId(1)].into());
        tally.forget(AppId(1));
        assert_eq!(commit(&tally, 1, true, false), [1]);
    }
}
