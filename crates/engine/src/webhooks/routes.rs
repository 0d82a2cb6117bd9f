//! What this process keeps of webhooks between runs: their connections, and events that are stuck. All of it can be made again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::ids::{AppId, WebhookId};
use model::time::UtcMillis;
use providers::http::AddressPolicy;
use providers::webhook::{Hook, WebhookConfig};

use super::window::Window;

/// Longer than any pause between two tries of an event: what was not asked for in the meantime is another node's business by now.
const KEPT_FOR: Duration = Duration::from_secs(10 * 60);

#[derive(Default)]
pub(crate) struct Webhooks {
    kept: Mutex<HashMap<(AppId, WebhookId), Kept>>,
}

struct Kept {
    /// What the connections were made with.
    config: WebhookConfig,
    hook: Hook,
    /// With the version of the place that it goes on from. Whoever finds another version in the store reads again.
    window: Option<(i64, Window)>,
    used: UtcMillis,
}

impl Webhooks {
    /// The way to a webhook, and what is left of the run that ended in this version.
    pub(super) fn take(
        &self,
        (app, id): (AppId, WebhookId),
        version: i64,
        config: &WebhookConfig,
        policy: AddressPolicy,
        now: UtcMillis,
    ) -> (Hook, Option<Window>) {
        let mut kept = self.kept();
        if let Some(kept) = kept.get_mut(&(app, id)).filter(|kept| kept.config == *config) {
            kept.used = now;
            let window = kept.window.take().filter(|(at, _)| *at == version).map(|(_, window)| window);
            return (kept.hook.clone(), window);
        }
        let hook = Hook::new(policy, config);
        kept.insert((app, id), Kept { config: config.clone(), hook: hook.clone(), window: None, used: now });
        (hook, None)
    }

    pub(super) fn keep(&self, app: AppId, id: WebhookId, version: i64, window: Window, now: UtcMillis) {
        if let Some(kept) = self.kept().get_mut(&(app, id)) {
            kept.window = Some((version, window));
            kept.used = now;
        }
    }

    pub(super) fn forget(&self, app: AppId, id: WebhookId) {
        self.kept().remove(&(app, id));
    }

    /// For an app that is being erased.
    pub(crate) fn forget_app(&self, app: AppId) {
        self.kept().retain(|(of, _), _| *of != app);
    }

    /// Lets go of what nobody has asked for in a while.
    pub(crate) fn forget_unused(&self, now: UtcMillis) {
        self.kept().retain(|_, kept| kept.used.plus(KEPT_FOR) > now);
    }

    /// How many events lie in memory between runs.
    pub(crate) fn n_events(&self) -> usize {
        self.kept().values().filter_map(|kept| kept.window.as_ref()).map(|(_, window)| window.len()).sum()
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<(AppId, WebhookId), Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
