//! The push that has devices look for new data at once. Nobody sees it.

use base::{Error, Result};
use model::ids::{AppId, OperationId, PushId};
use model::json;
use model::origin::{Origin, Provenance};
use model::payload::Push;
use model::time::UtcMillis;
use sending::NewPush;
use serde_json::json;
use store::Tx;

use crate::RemoteData;

/// By which device libraries know that there is something new.
const UPDATE: &str = "com.urbanairship.remote-data.update";

impl RemoteData {
    /// Sends the push in the transaction of the change.
    pub(crate) fn notify_devices(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        operation: OperationId,
        now: UtcMillis,
    ) -> Result<()> {
        let extra = json!({UPDATE: "1"});
        let text = json!({
            "audience": "all",
            "device_types": ["ios", "android", "amazon"],
            "notification": {
                "ios": {"content_available": true, "extra": extra},
                "android": {"extra": extra},
                "amazon": {"extra": extra},
            },
        });
        let push = json::parse(text.to_string().as_bytes(), Push::parse).map_err(Error::internal)?;
        let payload = serde_json::to_string(&push).map_err(Error::internal)?;
        let provenance = Provenance::of(Origin::Api);
        let new =
            NewPush { id: PushId::at(now), push: &push, payload: &payload, provenance: &provenance, author: None };
        self.0.sending.insert_pushes(tx, app, now, operation, &[new])
    }
}
