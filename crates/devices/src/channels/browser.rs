//! Registration of browsers, whose pages have nothing but the key of the app: a new channel, and a secret by which the browser
//! proves from then on to be this channel.

use base::Result;
use boxed::boxed;
use model::channel::Registration;
use model::ids::{AppId, OperationId};
use serde::{Deserialize, Serialize};
use store::channel_secrets;
use tenancy::{IdempotencyKey, credentials};

use super::register::{NewId, Registered, create};
use crate::Devices;

/// A new channel and its secret, which cannot be shown again.
#[derive(Clone, Serialize, Deserialize)]
pub struct RegisteredBrowser {
    pub channel: Registered,
    pub secret: String,
}

#[boxed]
impl Devices {
    pub async fn register_browser(
        &self,
        app: AppId,
        registration: Registration,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<RegisteredBrowser> {
        let seen = self.seen_by(&registration).await?;
        let operation_id = OperationId::at(self.0.clock.now());
        let secret = credentials::new_secret()?;
        let hash = credentials::hash(secret.reveal());
        self.change_audience_once(app, idempotency_key, move |tx, context| {
            let channel = create(tx, context, NewId::Ours, &registration)?;
            channel_secrets::put(tx, app, channel.ordinal, &hash)?;
            context.seen(tx, channel.ordinal, &seen)?;
            let channel = Registered { operation_id, id: channel.id, created: true };
            Ok(RegisteredBrowser { channel, secret: secret.reveal().to_owned() })
        })
        .await
    }
}
