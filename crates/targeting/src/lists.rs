//! Uploaded lists: named sets of channels and named users that come as files and that audiences refer to by name.
//!
//! The rows of an upload are stored as they arrive, under a number of their own. When all are there, one transaction makes them
//! the content of the list, and a job adds the list's term to its members and removes it from all others.

mod apply;
mod content;
mod record;
mod stored;
mod upload;

pub(crate) use apply::ApplyList;
pub use content::ListContent;
pub use record::ListStatus;
pub use upload::{BadRow, ListUpload, uploads_under_way};

use audience::index::Index;
use base::{Error, Result, readable};
use boxed::boxed;
use index::term_plan;
use model::ids::{AppId, OperationId};
use model::limits;
use model::static_list::{ListDetails, ListName, ListUpdate, NewList};
use model::term::Term;
use model::time::UtcMillis;
use store::Tx;
use store::documents::{self, Document, DocumentKind};
use tenancy::IdempotencyKey;

use crate::Targeting;
use record::Record;

/// A list as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListView {
    pub name: String,
    pub details: ListDetails,
    pub created: UtcMillis,
    /// When the content or the details were last given.
    pub updated: UtcMillis,
    pub status: ListStatus,
    /// Installed channels that are on the list now, including those of its named users.
    pub channel_count: u64,
    /// Rows of the last upload that were left out.
    pub n_bad_rows: u64,
}

#[boxed]
impl Targeting {
    /// Returns the id under which it was done.
    pub async fn create_list(
        &self,
        app: AppId,
        list: NewList,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<OperationId> {
        refuse_reserved(&list.name)?;
        let now = self.0.clock.now();
        let operation_id = OperationId::at(now);
        let write = move |tx: &mut Tx<'_>| {
            let name = list.name.as_str();
            if documents::get(tx, app, DocumentKind::List, name)?.is_some() {
                return Err(Error::Conflict(format!("There is a list named '{name}' already.")));
            }
            if documents::get(tx, app, DocumentKind::DeletedList, name)?.is_some() {
                return Err(Error::Conflict(format!(
                    "There was a list named '{name}', and the names of deleted lists cannot be used again."
                )));
            }
            let most = limits::LISTS_PER_APP;
            if usize::try_from(documents::count(tx, app, DocumentKind::List)?).is_ok_and(|n_lists| n_lists >= most) {
                return Err(Error::Conflict(format!("An app has at most {most} lists; delete one first.")));
            }
            Record::new(list.details.clone(), now).save(tx, app, name, now)?;
            Ok(operation_id)
        };
        self.0.tenancy.write_once(app, idempotency_key, write).await
    }

    /// Changes the description of a list. Its rows stay.
    pub async fn update_list(&self, app: AppId, name: ListName, update: ListUpdate) -> Result<()> {
        refuse_reserved(&name)?;
        let now = self.0.clock.now();
        self.0
            .store
            .write(app, move |tx| {
                let mut record = Record::load(tx, app, name.as_str())?.ok_or(Error::NotFound("list"))?;
                update.apply(&mut record.details);
                record.updated = now;
                record.save(tx, app, name.as_str(), now)
            })
            .await
    }

    /// From here on the list is empty and its name is used up; a job removes its term from its members.
    pub async fn delete_list(&self, app: AppId, name: ListName) -> Result<()> {
        refuse_reserved(&name)?;
        let now = self.0.clock.now();
        self.0
            .store
            .write(app, move |tx| {
                let record = Record::load(tx, app, name.as_str())?.ok_or(Error::NotFound("list"))?;
                record.into_remains().save(tx, app, name.as_str(), now)?;
                documents::delete(tx, app, DocumentKind::List, name.as_str())?;
                documents::delete(tx, app, DocumentKind::ListErrors, name.as_str())?;
                apply::enqueue(tx, app, name.as_str(), now)
            })
            .await
    }

    pub async fn list(&self, app: AppId, name: ListName) -> Result<ListView> {
        if let Some(view) = self.lifecycle_list(app, name.as_str()).await? {
            return Ok(view);
        }
        let wanted = name.clone();
        let found = self.0.store.read(move |tx| documents::get(tx, app, DocumentKind::List, wanted.as_str())).await?;
        let index = self.0.index.current(app).await?;
        list_view(&index, found.ok_or(Error::NotFound("list"))?)
    }

    /// All uploaded lists, by name.
    pub async fn lists(&self, app: AppId) -> Result<Vec<ListView>> {
        let found = self.0.store.read(move |tx| documents::list(tx, app, DocumentKind::List)).await?;
        let index = self.0.index.current(app).await?;
        let view = |document: Document| {
            let id = document.id.clone();
            readable(DocumentKind::List, &id, list_view(&index, document))
        };
        Ok(found.into_iter().filter_map(view).collect())
    }

    /// The rows of the list's last upload that were left out, up to as many as are kept.
    pub async fn list_errors(&self, app: AppId, name: ListName) -> Result<Vec<BadRow>> {
        refuse_reserved(&name)?;
        self.0
            .store
            .read(move |tx| {
                if documents::get(tx, app, DocumentKind::List, name.as_str())?.is_none() {
                    return Err(Error::NotFound("list"));
                }
                let errors = documents::get(tx, app, DocumentKind::ListErrors, name.as_str())?;
                let errors = errors.map(|errors| serde_json::from_str(&errors.body)).transpose();
                Ok(errors.map_err(Error::internal)?.unwrap_or_default())
            })
            .await
    }
}

fn list_view(index: &Index, document: Document) -> Result<ListView> {
    let record = Record::of(&document)?;
    let channel_count = index.count(&term_plan(index, &Term::List(document.id.clone())));
    Ok(ListView {
        status: record.status(),
        details: record.details,
        created: document.created,
        updated: record.updated,
        channel_count,
        n_bad_rows: record.n_bad_rows,
        name: document.id,
    })
}

fn refuse_reserved(name: &ListName) -> Result<()> {
    if name.is_reserved() {
        let why = format!(
            "'{name}' begins with 'ua_', which marks the lists that the service keeps itself: they can be looked up and \
             named in audiences, but not changed, and their rows cannot be downloaded."
        );
        return Err(Error::Forbidden(why));
    }
    Ok(())
}
