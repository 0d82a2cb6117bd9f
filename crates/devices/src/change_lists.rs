//! Tag lists and attribute lists: files of channels or named users, whose tags or attributes change by them.
//!
//! The rows of an upload are stored as they arrive, under a number of their own. When all are there, a job makes the changes, some
//! rows at a time, each row deleted in the transaction that applies it.

mod apply;
mod record;
mod upload;

pub(crate) use apply::ApplyChanges;
pub use record::{ChangeCounts, ChangeListStatus, RowProblem};
pub use upload::{ChangeUpload, uploads_under_way};

use base::{Error, Result, readable};
use boxed::boxed;
use model::change_list::{ChangeKind, NewAttributeList, NewTagList, TagChanges};
use model::ids::{AppId, OperationId};
use model::limits;
use model::static_list::{ListDetails, ListName};
use model::time::UtcMillis;
use store::Tx;
use store::documents;
use tenancy::IdempotencyKey;

use crate::Devices;
use record::{Record, errors_kind, list_kind};

/// A list as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeListView {
    pub name: String,
    pub details: ListDetails,
    /// Of a tag list.
    pub tags: TagChanges,
    pub created: UtcMillis,
    /// When the last upload was complete, or the list was created.
    pub updated: UtcMillis,
    pub status: ChangeListStatus,
    /// Of the last upload.
    pub counts: ChangeCounts,
}

#[boxed]
impl Devices {
    /// Returns the id under which it was done.
    pub async fn create_tag_list(
        &self,
        app: AppId,
        list: NewTagList,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<OperationId> {
        let NewTagList { name, description, extra, tags } = list;
        let details = ListDetails { description, extra };
        self.create_change_list(app, ChangeKind::Tags, name, details, tags, idempotency_key).await
    }

    /// Returns the id under which it was done.
    pub async fn create_attribute_list(
        &self,
        app: AppId,
        list: NewAttributeList,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<OperationId> {
        let NewAttributeList { name, details } = list;
        self.create_change_list(app, ChangeKind::Attributes, name, details, TagChanges::default(), idempotency_key)
            .await
    }

    async fn create_change_list(
        &self,
        app: AppId,
        kind: ChangeKind,
        name: ListName,
        details: ListDetails,
        tags: TagChanges,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<OperationId> {
        let now = self.0.clock.now();
        let operation_id = OperationId::at(now);
        let write = move |tx: &mut Tx<'_>| {
            match Record::load(tx, app, kind, name.as_str())? {
                Some(record) if record.is_deleted => {
                    let text = format!("The list '{name}' is being deleted; try again in a moment.");
                    return Err(Error::Conflict(text));
                }
                Some(_) => return Err(Error::Conflict(format!("There is a list named '{name}' already."))),
                None => {}
            }
            let most = limits::LISTS_PER_APP;
            let n_lists = documents::count(tx, app, list_kind(kind))?;
            if usize::try_from(n_lists).is_ok_and(|n_lists| n_lists >= most) {
                return Err(Error::Conflict(format!("An app has at most {most} lists of a kind; delete one first.")));
            }
            let newest = record::reached_by_deleted(tx, app, kind)?;
            Record::new(details.clone(), tags.clone(), newest, now).save(tx, app, kind, name.as_str(), now)?;
            Ok(operation_id)
        };
        self.0.tenancy.write_once(app, idempotency_key, write).await
    }

    /// All lists of a kind, by name.
    pub async fn change_lists(&self, app: AppId, kind: ChangeKind) -> Result<Vec<ChangeListView>> {
        let found = self.0.store.read(move |tx| documents::list(tx, app, list_kind(kind))).await?;
        let view = |document: documents::Document| {
            let record = readable(list_kind(kind), &document.id, Record::of(&document))?;
            (!record.is_deleted).then(|| record.into_view(document))
        };
        Ok(found.into_iter().filter_map(view).collect())
    }

    /// The rows of a list's last upload that were not applied, up to as many as are kept.
    pub async fn change_list_errors(&self, app: AppId, kind: ChangeKind, name: ListName) -> Result<Vec<RowProblem>> {
        self.0
            .store
            .read(move |tx| {
                Record::load_shown(tx, app, kind, &name)?;
                record::errors(tx, app, kind, name.as_str())
            })
            .await
    }

    /// No upload is taken from here on. Uploads that are complete are still applied, and then nothing is left of the list.
    pub async fn delete_change_list(&self, app: AppId, kind: ChangeKind, name: ListName) -> Result<()> {
        let now = self.0.clock.now();
        self.0
            .store
            .write(app, move |tx| {
                let mut record = Record::load_shown(tx, app, kind, &name)?;
                record.delete();
                record.save(tx, app, kind, name.as_str(), now)?;
                documents::delete(tx, app, errors_kind(kind), name.as_str())?;
                apply::enqueue(tx, app, kind, name.as_str(), now)
            })
            .await
    }
}
