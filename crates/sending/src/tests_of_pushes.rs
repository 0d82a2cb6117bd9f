//! Tests: pushes to the test group of an app, a few people who look at messages before others get them.

use std::sync::Arc;

use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::json::{self, OneOrMany};
use model::limits;
use model::payload::Push;
use model::payload::device_types::DeviceTypes;
use model::selector::{Audience, Selector};
use model::test_push::TestGroup;
use store::apps::App;
use store::documents::{self, DocumentKind};
use targeting::{audience_problems, unknown_pushes};
use tenancy::IdempotencyKey;

use crate::Sending;
use crate::push::AcceptedPushes;

/// The only document of its kind.
const DOCUMENT: &str = "group";

/// More devices than this are no test: whoever may test need not be allowed to send.
const MOST_DEVICES: u64 = 100;

/// What the names of tests begin with, so that they are told from what everybody got.
pub(crate) const TEST_NAME: &str = "Test: ";

#[boxed]
impl Sending {
    pub async fn test_group(&self, app: AppId) -> Result<TestGroup> {
        let read = self.0.store.read(move |tx| documents::get(tx, app, DocumentKind::TestGroup, DOCUMENT)).await?;
        let Some(document) = read else { return Ok(TestGroup { audience: None }) };
        json::parse(document.body.as_bytes(), TestGroup::parse).map_err(Error::internal)
    }

    pub async fn set_test_group(&self, app: AppId, group: TestGroup) -> Result<()> {
        if let Some(selector) = &group.audience {
            self.0.targeting.ready_atlas_for(selector).await?;
            Error::refuse(audience_problems(selector, "audience"))?;
        }
        let now = self.0.clock.now();
        let text = serde_json::to_string(&group).map_err(Error::internal)?;
        self.0
            .store
            .write(app, move |tx| {
                if let Some(selector) = &group.audience {
                    Error::refuse(unknown_pushes(tx, app, selector, "audience")?)?;
                }
                Ok(documents::put(tx, app, DocumentKind::TestGroup, DOCUMENT, &text, now)?)
            })
            .await
    }

    /// Sends a push to the test group in place of its audience. It is a push like any other, named as a test.
    pub async fn send_test(
        &self,
        app: &Arc<App>,
        mut push: Push,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<AcceptedPushes> {
        let none = || Error::Conflict("The app has no test group yet; an administrator chooses it.".to_owned());
        let selector = self.test_group(app.id).await?.audience.ok_or_else(none)?;
        self.refuse_crowd(app.id, &selector, push.device_types.clone()).await?;
        let name = push.name.clone().or_else(|| push.shown_texts().alert).unwrap_or_default();
        let name = format!("{TEST_NAME}{name}").chars().take(limits::PUSH_NAME_CHARS).collect();
        push.audience = Audience::Selector(selector);
        push.name = Some(name);
        self.accept_pushes(app, OneOrMany::One(push), idempotency_key).await
    }
}

impl Sending {
    async fn refuse_crowd(&self, app: AppId, selector: &Selector, types: DeviceTypes) -> Result<()> {
        let explained = self.0.targeting.explain(app, Audience::Selector(selector.clone()), types).await?;
        if explained.matched > MOST_DEVICES {
            let n_devices = explained.matched;
            let text = format!("The test group has {n_devices} devices; a test is for {MOST_DEVICES} at most.");
            return Err(Error::Conflict(text));
        }
        Ok(())
    }
}
