//! Which in-app messages are for devices with a contact only.

use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::remote_data::Eligibility;
use store::documents::DocumentKind;
use store::{Tx, apps};

use crate::documents::{REQUIRES_ELIGIBILITY, Stored, only};
use crate::{ItemKind, RemoteData};

#[boxed]
impl RemoteData {
    /// Changes all of the messages or none.
    pub async fn set_eligibility(&self, app: AppId, eligibility: Eligibility) -> Result<()> {
        let now = self.0.clock.now();
        let write = move |tx: &mut Tx<'_>| {
            let changed = apps::note_data_change(tx, app, now)?;
            for id in eligibility.automation_ids.iter().map(ToString::to_string) {
                let before = only(tx, app, DocumentKind::InAppMessage, &id)?.ok_or(ItemKind::Message.not_found())?;
                let mut body = before.body.clone();
                match eligibility.requires_eligibility {
                    true => body.insert(REQUIRES_ELIGIBILITY.to_owned(), true.into()),
                    false => body.remove(REQUIRES_ELIGIBILITY),
                };
                let next = Stored::next(Some(&before), body, changed);
                next.put(tx, app, DocumentKind::InAppMessage, &id, now)?;
            }
            Ok::<_, Error>(())
        };
        self.0.store.write(app, write).await?;
        self.0.tenancy.forget_known_apps();
        Ok(())
    }
}
