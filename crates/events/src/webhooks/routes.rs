//! State of webhooks that this process keeps between runs: their connections, and events that are stuck. All of it can be made
//! again.

use std::collections::HashMap;
use std::time::Duration;

use model::ids::{AppId, WebhookId};
use model::time::UtcMillis;
use parking_lot::{Mutex, MutexGuard};
use providers::Network;
use providers::webhook::{Hook, WebhookConfig};

use super::window::Window;

/// Longer than any pause between two tries of an event, unless the webhook asks for a longer one: state that was not used in the
/// meantime belongs to another node by now, or is read again.
const KEPT_FOR: Duration = Duration::from_secs(10 * 60);

#[derive(Default)]
pub(crate) struct Webhooks {
    kept: Mutex<HashMap<(AppId, WebhookId), Kept>>,
}

struct Kept {
    /// The configuration that the connections were made with.
    config: WebhookConfig,
    hook: Hook,
    /// With the version of the position that it continues from. A run that finds another version in the store reads again.
    window: Option<(i64, Window)>,
    used: UtcMillis,
}

impl Webhooks {
    /// The connections to a webhook, and the events left by the run that ended in this version.
    pub(super) fn take(
        &self,
        (app, id): (AppId, WebhookId),
        version: i64,
        config: &WebhookConfig,
        network: &Network,
        now: UtcMillis,
    ) -> (Hook, Option<Window>) {
        let mut kept = self.kept();
        if let Some(kept) = kept.get_mut(&(app, id)).filter(|kept| kept.config == *config) {
            kept.used = now;
            let window = kept.window.take().filter(|(at, _)| *at == version).map(|(_, window)| window);
            return (kept.hook.clone(), window);
        }
        let hook = Hook::new(network, config);
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

    /// The apps whose webhooks have any.
    pub(crate) fn apps(&self) -> Vec<AppId> {
        self.kept().keys().map(|(app, _)| *app).collect()
    }

    /// For an app that was deleted.
    pub(crate) fn forget_app(&self, app: AppId) {
        self.kept().retain(|(of, _), _| *of != app);
    }

    /// Drops state that was unused for a while.
    pub(crate) fn forget_unused(&self, now: UtcMillis) {
        self.kept().retain(|_, kept| kept.used.plus(KEPT_FOR) > now);
    }

    /// How many events are in memory between runs.
    pub(crate) fn n_events(&self) -> usize {
        self.kept().values().filter_map(|kept| kept.window.as_ref()).map(|(_, window)| window.len()).sum()
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<(AppId, WebhookId), Kept>> {
        self.kept.lock()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::event::{EventOffset, EventTypes, RecordKind};
    use model::ids::{EventId, Offset};
    use providers::http::{AddressPolicy, check_url};

    use super::*;
    use crate::PublicEvent;
    use crate::webhooks::cursor::WebhookCursor;

    #[test]
    fn what_another_node_took_over_is_let_go_in_time() {
        let (webhooks, app, id) = (Webhooks::default(), AppId(1), WebhookId::random());
        let config =
            WebhookConfig::new(check_url("https://example.com/", AddressPolicy::ANY).unwrap(), EventTypes::all());
        let network = Network::new(AddressPolicy::ANY);
        let take = |version, now| webhooks.take((app, id), version, &config, &network, now).1;
        assert!(take(1, UtcMillis(0)).is_none());
        let mut window = Window::new(EventOffset::START, &WebhookCursor::default(), None);
        let offset = EventOffset::new(Offset(1), 0);
        let (kind, json) = (RecordKind::Custom, Bytes::from_static(b"{}"));
        let event = PublicEvent { offset, kind, id: EventId::random(), channel: None, ordinal: None, json };
        window.take_in(vec![event], offset, 0);
        webhooks.keep(app, id, 2, window, UtcMillis(0));
        let soon = UtcMillis(0).plus(KEPT_FOR / 2);
        webhooks.forget_unused(soon);
        assert_eq!(webhooks.n_events(), 1);
        let window = take(2, soon).unwrap();
        webhooks.keep(app, id, 3, window, soon);
        webhooks.forget_unused(soon.plus(KEPT_FOR / 2));
        assert_eq!(webhooks.n_events(), 1, "it was used in between");
        webhooks.forget_unused(soon.plus(KEPT_FOR));
        assert_eq!((webhooks.n_events(), take(3, soon).is_none()), (0, true));
    }
}
