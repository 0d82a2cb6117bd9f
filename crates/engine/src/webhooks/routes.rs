//! What this process keeps of webhooks between runs: their connections, and events that are stuck. All of it can be made again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::ids::{AppId, WebhookId};
use providers::http::AddressPolicy;
use providers::webhook::{Hook, WebhookConfig};

use super::window::Window;

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
}

impl Webhooks {
    /// The way to a webhook, and what is left of the run that ended in this version.
    pub(super) fn take(
        &self,
        app: AppId,
        id: WebhookId,
        version: i64,
        config: &WebhookConfig,
        policy: AddressPolicy,
    ) -> (Hook, Option<Window>) {
        let mut kept = self.kept();
        if let Some(kept) = kept.get_mut(&(app, id)).filter(|kept| kept.config == *config) {
            let window = kept.window.take().filter(|(at, _)| *at == version).map(|(_, window)| window);
            return (kept.hook.clone(), window);
        }
        let hook = Hook::new(policy, config);
        kept.insert((app, id), Kept { config: config.clone(), hook: hook.clone(), window: None });
        (hook, None)
    }

    pub(super) fn keep(&self, app: AppId, id: WebhookId, version: i64, window: Window) {
        if let Some(kept) = self.kept().get_mut(&(app, id)) {
            kept.window = Some((version, window));
        }
    }

    pub(super) fn forget(&self, app: AppId, id: WebhookId) {
        self.kept().remove(&(app, id));
    }

    /// For an app that is being erased.
    pub(crate) fn forget_app(&self, app: AppId) {
        self.kept().retain(|(of, _), _| *of != app);
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<(AppId, WebhookId), Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
