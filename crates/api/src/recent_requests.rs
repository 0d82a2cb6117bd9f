//! The last requests of every app, in the memory of this node, for developers to look at: of a development app all of them, of a
//! production app the refused ones. Requests whose credentials are refused are not among them: anybody can send those.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use axum::extract::Request;
use model::app::Mode;
use model::ids::AppId;
use model::time::UtcMillis;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::auth::Calling;
use crate::holder::Holder;
use crate::inside::Actor;

/// Routes that are kept only if they are refused, and then without their bodies: a page that shows requests would fill the list
/// with its own, and a person who is to be erased must not be named here.
const UNNOTED: [&str; 4] = ["/api/requests", "/api/requests/stream", "/api/privacy/export", "/api/privacy/erase"];

/// Requests of one party of an app that are kept, and the bytes that they may take. An app has two parties, its servers and its
/// devices, so that devices cannot push out what servers have asked for.
const MOST_REQUESTS: usize = 500;
const MOST_PARTY_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of all apps together.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// What is left when there were more.
const BYTES_LEFT: usize = 48 * 1024 * 1024;
/// The longest time for which a request is kept.
const KEPT_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// The most of a body.
const MOST_BODY_BYTES: usize = 16 * 1024;
/// About what a request takes beside its texts.
const ENTRY_BYTES: usize = 256;

/// A request that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecentRequest {
    /// Rises with every request of the node, and is larger after a restart.
    pub(crate) number: u64,
    pub(crate) at: UtcMillis,
    pub(crate) by_server: bool,
    pub(crate) method: &'static str,
    /// As in the route table.
    pub(crate) route: &'static str,
    /// As it was asked for; of a development app only.
    pub(crate) path: Option<String>,
    pub(crate) status: u16,
    pub(crate) error: Option<RecentError>,
    pub(crate) request_bytes: Option<u64>,
    pub(crate) answer_bytes: Option<u64>,
    pub(crate) millis: u64,
    pub(crate) id: String,
    /// The beginning of the body; of a development app only.
    pub(crate) body: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecentError {
    pub(crate) code: u32,
    pub(crate) text: String,
    /// Of the first problem.
    pub(crate) path: Option<String>,
}

/// Whose request is being answered, and what may be kept of it.
pub(crate) struct Noting {
    pub(crate) holder: Holder,
    /// As in the route table.
    pub(crate) route: &'static str,
    /// The path and the body of a request of a development app.
    whole: Option<(String, KeptBody)>,
    /// Whether a page of the console asks, which is nothing that a developer has written.
    is_of_page: bool,
}

/// Where the reader of a body leaves its beginning.
#[derive(Clone, Default)]
pub(crate) struct KeptBody(Arc<OnceLock<String>>);

impl KeptBody {
    pub(crate) fn keep(&self, body: &[u8]) {
        let beginning = &body[..body.len().min(MOST_BODY_BYTES)];
        self.0.get_or_init(|| String::from_utf8_lossy(beginning).into_owned());
    }

    fn text(&self) -> Option<String> {
        self.0.get().filter(|body| !body.is_empty()).cloned()
    }
}

impl Noting {
    /// For an admitted request. One of a development app gets a place for its body.
    pub(crate) fn of(request: &mut Request, route: &'static str) -> Self {
        let holder = Holder::of(request);
        let caller = request.extensions().get::<Calling>();
        let is_development = caller.is_some_and(|Calling(caller)| caller.app().mode == Mode::Development);
        let is_of_page = request.extensions().get::<Actor>().is_some();
        // Looking at requests is no request to look at.
        if !is_development || is_of_page || UNNOTED.contains(&route) {
            return Self { holder, route, whole: None, is_of_page };
        }
        let body = KeptBody::default();
        request.extensions_mut().insert(body.clone());
        Self { holder, route, whole: Some((request.uri().path().to_owned(), body)), is_of_page }
    }

    /// Whether a request with this end is kept.
    pub(crate) fn keeps(&self, is_refused: bool) -> bool {
        !self.is_of_page && (is_refused || self.whole.is_some())
    }

    pub(crate) fn path(&self) -> Option<String> {
        self.whole.as_ref().map(|(path, _)| path.clone())
    }

    pub(crate) fn body(&self) -> Option<String> {
        self.whole.as_ref().and_then(|(_, body)| body.text())
    }
}

#[derive(Default)]
pub(crate) struct RecentRequests(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    parties: HashMap<Holder, Ring>,
    n_bytes: usize,
    last_number: u64,
    /// Those who wait for the next request of an app.
    listeners: HashMap<AppId, watch::Sender<u64>>,
}

#[derive(Default)]
struct Ring {
    requests: VecDeque<Arc<RecentRequest>>,
    n_bytes: usize,
}

impl RecentRequests {
    /// Keeps a request, whose number is given here.
    pub(crate) fn note(&self, holder: Holder, mut request: RecentRequest) {
        let (Holder::Servers(app) | Holder::Devices(app)) = holder else { return };
        let mut kept = self.0.lock();
        // Numbers go on where another process on this machine has stopped.
        let first = u64::try_from(request.at.0).unwrap_or(0) * 1000;
        kept.last_number = (kept.last_number + 1).max(first);
        request.number = kept.last_number;
        let (number, now) = (request.number, request.at);
        kept.add(holder, Arc::new(request), now);
        if kept.n_bytes > MOST_BYTES {
            kept.make_room();
        }
        if let Some(listener) = kept.listeners.get(&app) {
            listener.send_replace(number);
        }
    }

    /// The requests of an app after a number, the oldest first.
    pub(crate) fn after(&self, app: AppId, number: u64, now: UtcMillis) -> Vec<Arc<RecentRequest>> {
        let kept = self.0.lock();
        let parties = [Holder::Servers(app), Holder::Devices(app)];
        let rings = parties.iter().filter_map(|holder| kept.parties.get(holder));
        let requests = rings.flat_map(|ring| &ring.requests).filter(|request| request.number > number);
        let mut found: Vec<_> = requests.filter(|request| !is_old(request, now)).cloned().collect();
        drop(kept);
        found.sort_unstable_by_key(|request| request.number);
        found
    }

    /// The number of the last request, and a receiver that tells when an app has another one.
    pub(crate) fn listen(&self, app: AppId) -> (u64, watch::Receiver<u64>) {
        let mut kept = self.0.lock();
        kept.listeners.retain(|_, listener| listener.receiver_count() > 0);
        let number = kept.last_number;
        (number, kept.listeners.entry(app).or_insert_with(|| watch::channel(number).0).subscribe())
    }

    /// Forgets what is kept of an app.
    pub(crate) fn forget(&self, app: AppId) {
        let mut kept = self.0.lock();
        for holder in [Holder::Servers(app), Holder::Devices(app)] {
            kept.remove(holder);
        }
    }
}

impl Kept {
    fn add(&mut self, holder: Holder, request: Arc<RecentRequest>, now: UtcMillis) {
        let ring = self.parties.entry(holder).or_default();
        let before = ring.n_bytes;
        ring.n_bytes += size(&request);
        ring.requests.push_back(request);
        while ring.requests.len() > MOST_REQUESTS
            || ring.n_bytes > MOST_PARTY_BYTES
            || ring.requests.front().is_some_and(|oldest| is_old(oldest, now))
        {
            let Some(oldest) = ring.requests.pop_front() else { break };
            ring.n_bytes -= size(&oldest);
        }
        self.n_bytes = self.n_bytes + ring.n_bytes - before;
    }

    /// Gives up those that have had no request for the longest time.
    fn make_room(&mut self) {
        let newest = |ring: &Ring| ring.requests.back().map_or(0, |request| request.number);
        let mut by_age: Vec<(u64, Holder)> =
            self.parties.iter().map(|(holder, ring)| (newest(ring), *holder)).collect();
        by_age.sort_unstable_by_key(|(number, _)| *number);
        for (_, holder) in by_age {
            if self.n_bytes <= BYTES_LEFT {
                return;
            }
            self.remove(holder);
        }
    }

    fn remove(&mut self, holder: Holder) {
        self.n_bytes -= self.parties.remove(&holder).map_or(0, |ring| ring.n_bytes);
    }
}

fn is_old(request: &RecentRequest, now: UtcMillis) -> bool {
    now.0 - request.at.0 > KEPT_MILLIS
}

fn size(request: &RecentRequest) -> usize {
    let texts = [&request.path, &request.body].into_iter().flatten().map(String::len).sum::<usize>();
    let error = request.error.as_ref().map_or(0, |error| error.text.len() + error.path.as_ref().map_or(0, String::len));
    ENTRY_BYTES + request.id.len() + texts + error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(at: i64, body: &str) -> RecentRequest {
        RecentRequest {
            number: 0,
            at: UtcMillis(at),
            by_server: true,
            method: "GET",
            route: "/api/x",
            path: None,
            status: 200,
            error: None,
            request_bytes: None,
            answer_bytes: None,
            millis: 0,
            id: String::new(),
            body: Some(body.to_owned()),
        }
    }

    #[test]
    fn parties_do_not_push_each_other_out() {
        let (recent, app) = (RecentRequests::default(), AppId(1));
        recent.note(Holder::Servers(app), request(1, "first"));
        for n in 0..2_000 {
            recent.note(Holder::Devices(app), request(n, ""));
        }
        recent.note(Holder::Public, request(1, ""));
        let all = recent.after(app, 0, UtcMillis(2_000));
        assert_eq!((all.len(), all[0].body.as_deref()), (MOST_REQUESTS + 1, Some("first")));
        assert!(all.is_sorted_by_key(|request| request.number));
        assert_eq!(recent.after(app, all[MOST_REQUESTS - 1].number, UtcMillis(2_000)).len(), 1);
        assert_eq!(recent.after(app, 0, UtcMillis(KEPT_MILLIS + 1_990)).len(), 10);
        recent.forget(app);
        assert_eq!((recent.after(app, 0, UtcMillis(0)).len(), recent.0.lock().n_bytes), (0, 0));
    }

    #[test]
    fn memory_is_bounded_for_each_party_and_for_all() {
        let (recent, long) = (RecentRequests::default(), "x".repeat(MOST_BODY_BYTES));
        for app in 0..60 {
            for n in 0..200 {
                recent.note(Holder::Servers(AppId(app)), request(n, &long));
            }
            let kept = recent.0.lock();
            let ring = &kept.parties[&Holder::Servers(AppId(app))];
            assert!(ring.n_bytes <= MOST_PARTY_BYTES && kept.n_bytes <= MOST_BYTES);
            assert_eq!(kept.n_bytes, kept.parties.values().map(|ring| ring.n_bytes).sum::<usize>());
        }
        assert!(recent.after(AppId(0), 0, UtcMillis(0)).is_empty(), "the app that has asked for nothing for longest");
        assert!(!recent.after(AppId(59), 0, UtcMillis(0)).is_empty());
    }

    #[test]
    fn a_listener_hears_of_its_app_alone() {
        let recent = RecentRequests::default();
        let (_, mut news) = recent.listen(AppId(1));
        recent.note(Holder::Servers(AppId(2)), request(1, ""));
        assert!(!news.has_changed().unwrap());
        recent.note(Holder::Devices(AppId(1)), request(1, ""));
        assert!(news.has_changed().unwrap());
        news.borrow_and_update();
        drop(news);
        recent.listen(AppId(3));
        assert!(!recent.0.lock().listeners.contains_key(&AppId(1)));
    }

    #[test]
    fn long_bodies_are_cut() {
        let kept = KeptBody::default();
        kept.keep(&vec![b'x'; MOST_BODY_BYTES + 1]);
        assert_eq!(kept.text().map(|body| body.len()), Some(MOST_BODY_BYTES));
        assert_eq!(KeptBody::default().text(), None);
    }
}
