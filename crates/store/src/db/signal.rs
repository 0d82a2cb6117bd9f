//! Wake-ups: a commit wakes the subscribers of its kinds of change. Signals carry no data and repeat freely;
//! a subscriber keeps each distinct one until it is taken, so none is lost however slow the subscriber is.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use model::ids::AppId;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// There may be a job to claim, or an earlier due time.
    Jobs,
    /// An app was made, changed or removed.
    Apps,
    /// The app's log has grown.
    Log(AppId),
}

/// One subscription. Look at the state after subscribing and before waiting, and poll now and then: signals
/// of other nodes may be lost while the connection to the database is down.
pub struct Signals(Arc<SignalQueue>);

impl Signals {
    /// The next kind of change that has happened since it was last returned.
    pub async fn next(&mut self) -> Signal {
        loop {
            if let Some(signal) = self.0.waiting().pop_first() {
                return signal;
            }
            self.0.arrived.notified().await;
        }
    }

    /// Every kind of change that has happened since it was last returned; at least one.
    pub async fn all(&mut self) -> BTreeSet<Signal> {
        loop {
            let signals = std::mem::take(&mut *self.0.waiting());
            if !signals.is_empty() {
                return signals;
            }
            self.0.arrived.notified().await;
        }
    }
}

/// Distributes signals inside the process, and collects those for other nodes.
pub(crate) struct Hub {
    subscribers: Mutex<Vec<Weak<SignalQueue>>>,
    outgoing: Option<SignalQueue>,
    /// Commits of this process that may have recorded deliveries.
    n_deliveries: AtomicU64,
    closed: AtomicBool,
}

#[derive(Default)]
struct SignalQueue {
    /// The one kind of change that its owner waits for; `None` for all of them.
    only: Option<Signal>,
    waiting: Mutex<BTreeSet<Signal>>,
    arrived: Notify,
}

impl Hub {
    pub(crate) fn for_one_process() -> Self {
        let (n_deliveries, closed) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { subscribers: Mutex::default(), outgoing: None, n_deliveries, closed }
    }

    pub(crate) fn for_many_nodes() -> Self {
        Self { outgoing: Some(SignalQueue::default()), ..Self::for_one_process() }
    }

    pub(crate) fn subscribe(&self, only: Option<Signal>) -> Signals {
        let queue = Arc::new(SignalQueue { only, ..SignalQueue::default() });
        self.subscribers().push(Arc::downgrade(&queue));
        Signals(queue)
    }

    /// Announces a commit of this process, here and to the other nodes.
    pub(crate) fn publish(&self, signals: &BTreeSet<Signal>) {
        if signals.is_empty() {
            return;
        }
        self.publish_here(signals);
        if let Some(outgoing) = &self.outgoing {
            outgoing.put(signals);
        }
    }

    /// Counts a commit of this process, if it has recorded deliveries.
    pub(crate) fn count_deliveries(&self, has_deliveries: bool) {
        self.n_deliveries.fetch_add(u64::from(has_deliveries), Ordering::SeqCst);
    }

    /// `None` if other nodes record deliveries, too.
    pub(crate) fn n_deliveries(&self) -> Option<u64> {
        self.outgoing.is_none().then(|| self.n_deliveries.load(Ordering::SeqCst))
    }

    /// Announces a commit of another node, here only.
    pub(crate) fn publish_here(&self, signals: &BTreeSet<Signal>) {
        self.subscribers().retain(|subscriber| match subscriber.upgrade() {
            Some(queue) => {
                queue.put(signals);
                true
            }
            None => false,
        });
    }

    /// Waits for signals for other nodes; `None` when the store is closing.
    pub(crate) async fn outgoing(&self) -> Option<BTreeSet<Signal>> {
        let outgoing = self.outgoing.as_ref()?;
        loop {
            let signals = std::mem::take(&mut *outgoing.waiting());
            if !signals.is_empty() {
                return Some(signals);
            }
            if self.closed.load(Ordering::SeqCst) {
                return None;
            }
            outgoing.arrived.notified().await;
        }
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        if let Some(outgoing) = &self.outgoing {
            outgoing.arrived.notify_one();
        }
    }

    fn subscribers(&self) -> MutexGuard<'_, Vec<Weak<SignalQueue>>> {
        self.subscribers.lock()
    }
}

impl SignalQueue {
    fn put(&self, signals: &BTreeSet<Signal>) {
        match &self.only {
            None => self.waiting().extend(signals),
            Some(only) if signals.contains(only) => self.waiting().extend([*only]),
            // Most commits concern other subscribers, and waking a thread costs more than a check.
            Some(_) => return,
        }
        self.arrived.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<Signal>> {
        self.waiting.lock()
    }
}
