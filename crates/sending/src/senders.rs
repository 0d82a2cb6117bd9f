//! The routes to the providers: built when first needed, shared by all blocks for the same platform of an app.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering};

use model::app::{AppKey, Mode};
use model::device_type::DeviceType;
use model::ids::AppId;
use model::time::UtcMillis;
use parking_lot::{Mutex, MutexGuard};
use providers::open::OpenPlatformConfig;
use providers::platform::PlatformConfig;
use providers::webpush::PushHosts;
use providers::{Network, Sender};
use store::apps::App;

use crate::PlatformName;

pub(crate) struct Senders {
    network: Network,
    routes: Mutex<HashMap<(AppId, DeviceType), Cached>>,
    /// Open platforms that are noted to take messages, with the configuration that they took them with.
    noted: Mutex<HashMap<(AppId, DeviceType), OpenPlatformConfig>>,
}

struct Cached {
    /// The configuration that the route was made from: when it changes, here or on another node, a new one is made.
    config: PlatformConfig,
    /// Of the app, which decides at which hosts browsers may be.
    mode: Mode,
    route: Arc<Route>,
}

/// The way to one platform of one app.
pub(crate) struct Route {
    /// The operator's names of the app and the platform.
    app: AppKey,
    platform: String,
    /// In the order in which they are tried; at least one.
    keys: Vec<Sender>,
    /// The key in use.
    current: AtomicUsize,
    /// Blocks that are being sent this way.
    n_users: AtomicUsize,
    /// Until then the provider wants to be left alone.
    quiet_until: AtomicI64,
    /// Whether the provider has taken any message with these credentials.
    has_served: AtomicBool,
    /// Whether that is noted for people to see.
    is_noted: AtomicBool,
    /// Refused addresses that took a message before, since another such one took one.
    n_suspicious: AtomicU32,
}

/// Use of a route by one block, counted until it is dropped.
pub(crate) struct RouteUse(Arc<Route>);

/// This many addresses that took messages before are not all refused in a row, unless it is us.
pub(crate) const TOO_SUSPICIOUS: u32 = 20;

impl Senders {
    pub(crate) fn new(network: Network) -> Self {
        Self { network, routes: Mutex::default(), noted: Mutex::default() }
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// The hosts at which the browsers of an app may be. A development app has no honest devices to protect, and may be tried with
    /// any push service.
    pub(crate) fn hosts_for(&self, mode: Mode) -> PushHosts {
        match mode {
            Mode::Production => self.network.push_hosts().clone(),
            Mode::Development => self.network.push_hosts().and_others(),
        }
    }

    /// The route to a platform; `None` for open platforms, which are not sent to one message at a time.
    pub(crate) fn route(&self, app: &App, device_type: &DeviceType, config: &PlatformConfig) -> Option<Arc<Route>> {
        let key = (app.id, device_type.clone());
        if let Some(cached) =
            self.routes().get(&key).filter(|cached| cached.config == *config && cached.mode == app.mode)
        {
            return Some(cached.route.clone());
        }
        let keys = config.senders(&self.network, &self.hosts_for(app.mode));
        if keys.is_empty() {
            return None;
        }
        let route = Arc::new(Route::new(app.key.clone(), device_type, keys));
        self.routes().insert(key, Cached { config: config.clone(), mode: app.mode, route: route.clone() });
        Some(route)
    }

    /// Drops connections and tokens that are no longer used. A change is noticed without it.
    pub(crate) fn forget(&self, app: AppId, device_type: &DeviceType) {
        self.routes().remove(&(app, device_type.clone()));
        self.noted.lock().remove(&(app, device_type.clone()));
    }

    /// The apps that have a route.
    pub(crate) fn apps(&self) -> Vec<AppId> {
        self.routes().keys().map(|(app, _)| *app).collect()
    }

    /// The same for an app that was deleted.
    pub(crate) fn forget_app(&self, app: AppId) {
        self.routes().retain(|(of, _), _| *of != app);
        self.noted.lock().retain(|(of, _), _| *of != app);
    }

    /// Whether it is noted that an open platform takes messages with its configuration of now.
    pub(crate) fn is_noted(&self, app: AppId, device_type: &DeviceType, config: &OpenPlatformConfig) -> bool {
        self.noted.lock().get(&(app, device_type.clone())) == Some(config)
    }

    pub(crate) fn proof_is_noted(&self, app: AppId, device_type: &DeviceType, config: &OpenPlatformConfig) {
        self.noted.lock().insert((app, device_type.clone()), config.clone());
    }

    fn routes(&self) -> MutexGuard<'_, HashMap<(AppId, DeviceType), Cached>> {
        self.routes.lock()
    }
}

impl Route {
    fn new(app: AppKey, device_type: &DeviceType, keys: Vec<Sender>) -> Self {
        Self {
            app,
            platform: PlatformName::for_log(device_type),
            keys,
            current: AtomicUsize::new(0),
            n_users: AtomicUsize::new(0),
            quiet_until: AtomicI64::new(i64::MIN),
            has_served: AtomicBool::new(false),
            is_noted: AtomicBool::new(false),
            n_suspicious: AtomicU32::new(0),
        }
    }

    pub(crate) fn enter(self: &Arc<Self>) -> RouteUse {
        self.n_users.fetch_add(1, Ordering::Relaxed);
        RouteUse(self.clone())
    }

    /// The number of the key in use.
    pub(crate) fn key(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    pub(crate) fn sender(&self, key: usize) -> &Sender {
        self.keys.get(key).unwrap_or(&self.keys[0])
    }

    /// The provider refuses a key. Returns whether another one takes over; several blocks may ask.
    pub(crate) fn give_up(&self, refused: usize) -> bool {
        let next = refused + 1;
        if next < self.keys.len() && self.current.fetch_max(next, Ordering::Relaxed) < next {
            let n_keys = self.keys.len();
            let (app, platform) = (self.app.as_str(), &self.platform);
            tracing::warn!(app, platform, key = next, n_keys, "a key is refused, the next one takes over");
        }
        self.key() > refused
    }

    /// Begins with the first key again, for a platform that is being tried after a pause.
    pub(crate) fn start_over(&self) {
        self.current.store(0, Ordering::Relaxed);
        self.n_suspicious.store(0, Ordering::Relaxed);
    }

    /// How many messages one block may have under way in a lane: the blocks that are being sent share the room evenly.
    pub(crate) fn share(&self, lane: usize) -> usize {
        let room = self.sender(self.key()).room(lane);
        (room / self.n_users.load(Ordering::Relaxed).max(1)).max(1)
    }

    pub(crate) fn leave_alone(&self, until: UtcMillis) {
        let longer = |known: i64| Some(UtcMillis(known).end_of_wait(until).max(until).0);
        // Always succeeds, since the closure always has a value.
        let _ = self.quiet_until.fetch_update(Ordering::Relaxed, Ordering::Relaxed, longer);
    }

    /// Lets a provider be asked again that is to be left alone for longer than this.
    pub(crate) fn end_quiet_beyond(&self, instant: UtcMillis) {
        if self.quiet_until.load(Ordering::Relaxed) > instant.0 {
            self.quiet_until.store(i64::MIN, Ordering::Relaxed);
        }
    }

    pub(crate) fn quiet_until(&self, now: UtcMillis) -> UtcMillis {
        UtcMillis(self.quiet_until.load(Ordering::Relaxed)).end_of_wait(now)
    }

    /// The provider took a message for an address that had taken one before, if `is_proven`.
    pub(crate) fn served(&self, is_proven: bool) {
        if !self.has_served.load(Ordering::Relaxed) {
            self.has_served.store(true, Ordering::Relaxed);
        }
        if is_proven && self.n_suspicious.load(Ordering::Relaxed) > 0 {
            self.n_suspicious.store(0, Ordering::Relaxed);
        }
    }

    /// Whether the provider has taken a message, and that is not noted yet.
    pub(crate) fn is_newly_proven(&self) -> bool {
        self.has_served() && !self.is_noted.load(Ordering::Relaxed)
    }

    pub(crate) fn proof_is_noted(&self) {
        self.is_noted.store(true, Ordering::Relaxed);
    }

    /// The provider refuses an address that took a message before. Returns how many of those it refused in a row.
    pub(crate) fn suspect(&self) -> u32 {
        self.n_suspicious.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    pub(crate) fn n_suspicious(&self) -> u32 {
        self.n_suspicious.load(Ordering::Relaxed)
    }

    /// Whether the provider has taken any message. Until then a refusal may be due to wrong credentials, and no address is given
    /// up for it.
    pub(crate) fn has_served(&self) -> bool {
        self.has_served.load(Ordering::Relaxed)
    }
}

impl std::ops::Deref for RouteUse {
    type Target = Route;

    fn deref(&self) -> &Route {
        &self.0
    }
}

impl Drop for RouteUse {
    fn drop(&mut self) {
        self.0.n_users.fetch_sub(1, Ordering::Relaxed);
    }
}
