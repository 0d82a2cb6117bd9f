//! Landing pages whose body came inside a push: the service hosts them.

use std::collections::BTreeMap;

use base::{Error, Result};
use boxed::boxed;
use model::app::AppKey;
use model::ids::PushId;
use model::payload::Push;
use model::payload::actions::{Actions, InlinePage};
use model::payload::notification::Notification;

use crate::Sending;
use crate::push::stored_push;

/// The address of a page of a push.
pub(crate) fn url(public_url: &str, app: &AppKey, push_id: PushId, push: &Push, page: &InlinePage) -> String {
    let n = pages_of(push).iter().position(|known| *known == page).unwrap_or(0);
    numbered_url(public_url, app, push_id, n)
}

/// The addresses of all pages of a push, in order.
pub(crate) fn urls(public_url: &str, app: &AppKey, push_id: PushId, push: &Push) -> Vec<String> {
    (0..pages_of(push).len()).map(|n| numbered_url(public_url, app, push_id, n)).collect()
}

/// Every page of a push once, for all recipients.
fn pages_of(push: &Push) -> Vec<&InlinePage> {
    let localized = || push.localizations.iter().flatten();
    let notifications = push.notification.iter().chain(localized().filter_map(|one| one.notification.as_ref()));
    let in_apps = push.in_app().into_iter().chain(localized().filter_map(|one| one.in_app.as_ref()));
    let in_app_actions = in_apps.flat_map(|in_app| {
        let buttons = in_app.interactive.iter().filter_map(|interactive| interactive.button_actions.as_ref());
        in_app.actions.iter().chain(buttons.flat_map(BTreeMap::values))
    });
    let of_notifications = notifications.flat_map(Notification::inline_pages);
    let mut pages: Vec<&InlinePage> = Vec::new();
    for page in of_notifications.chain(in_app_actions.filter_map(Actions::inline_page)) {
        if !pages.contains(&page) {
            pages.push(page);
        }
    }
    pages
}

fn numbered_url(public_url: &str, app: &AppKey, push_id: PushId, n: usize) -> String {
    format!("{public_url}/pages/{app}/{push_id}/{n}")
}

#[boxed]
impl Sending {
    /// A hosted page. Its address is enough to read it: devices open it in a browser, without credentials.
    pub async fn page(&self, app: &str, push: PushId, n: usize) -> Result<InlinePage> {
        let app = self.0.tenancy.app(app).await?.id;
        let row = self.0.store.read(move |tx| store::pushes::by_id(tx, app, push)).await?;
        let row = row.ok_or(Error::NotFound("page"))?;
        let push = stored_push(&row)?.ok_or(Error::NotFound("page"))?;
        pages_of(&push).get(n).map(|page| (*page).clone()).ok_or(Error::NotFound("page"))
    }
}
