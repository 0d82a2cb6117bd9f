//! Browsers that prove to be their channels by the secret that they were given when they registered.

use base::Result;
use boxed::boxed;
use model::ids::ChannelId;

use crate::{Bearer, Caller, KnownBy, Rights, Tenancy, credentials};

#[boxed]
impl Tenancy {
    /// The caller with this channel and its secret; `None` when they do not fit together. Without the key of the app, all apps
    /// with such a channel are tried.
    pub async fn authenticate_channel(
        &self,
        app_key: Option<&str>,
        channel: ChannelId,
        secret: &str,
    ) -> Result<Option<Caller>> {
        let (given, id) = (credentials::hash(secret), channel.to_string());
        let named = Bearer { app_key, channel_id: Some(&id), ..Bearer::default() };
        for known in self.candidates(&named).await? {
            let app = known.app.id;
            let kept = self.0.store.read(move |tx| store::channel_secrets::of_channel(tx, app, channel)).await?;
            if kept.is_some_and(|kept| credentials::matches(&given, &kept)) {
                return Ok(Some(Caller::new(&known, Rights::Channel(channel), KnownBy::Secret)));
            }
        }
        Ok(None)
    }
}
