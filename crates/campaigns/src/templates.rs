//! Templates: created, changed and deleted. Using them is in the files beside.

mod made;
mod send;
mod stored;

use std::collections::BTreeMap;

use base::{Error, Result};
use boxed::boxed;
use model::ids::{AppId, OperationId};
use model::limits;
use model::payload::template::TemplateId;
use model::template::{Template, TemplateChange};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, DocumentKind, Order};
use tenancy::IdempotencyKey;

use crate::Campaigns;
pub use send::{CreatedTemplateSchedules, SentTemplates};

/// A template and its history.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateView {
    pub id: TemplateId,
    pub template: Template,
    pub created: UtcMillis,
    pub modified: UtcMillis,
    pub last_used: Option<UtcMillis>,
}

/// A page of a listing of templates.
#[derive(Clone, Debug)]
pub struct TemplatePage {
    pub shown: Vec<TemplateView>,
    /// How many there are on all pages.
    pub total: usize,
}

/// The sort orders of listings of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateSort {
    Created,
    Modified,
    /// Templates that were never used come first.
    LastUsed,
}

/// The answer to the creation of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedTemplate {
    pub operation_id: OperationId,
    pub id: TemplateId,
}

const NOT_FOUND: Error = Error::NotFound("template");

#[boxed]
impl Campaigns {
    pub async fn create_template(
        &self,
        app: AppId,
        template: Template,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedTemplate> {
        let now = self.0.clock.now();
        let created = CreatedTemplate { operation_id: OperationId::at(now), id: TemplateId::at(now) };
        let text = stored::print(&template)?;
        self.0
            .tenancy
            .write_once(app, idempotency_key, move |tx| {
                if documents::count(tx, app, DocumentKind::Template)? >= limits::TEMPLATES_PER_APP {
                    let most = limits::TEMPLATES_PER_APP;
                    return Err(Error::Conflict(format!("An app has at most {most} templates; delete one first.")));
                }
                documents::put(tx, app, DocumentKind::Template, &created.id.to_string(), &text, now)?;
                Ok(created)
            })
            .await
    }

    pub async fn template(&self, app: AppId, id: TemplateId) -> Result<TemplateView> {
        let read = move |tx: &mut Tx<'_>| {
            let id = id.to_string();
            let document = documents::get(tx, app, DocumentKind::Template, &id)?.ok_or(NOT_FOUND)?;
            let usage = documents::get(tx, app, DocumentKind::TemplateUse, &id)?;
            stored::view(&document, usage.map(|usage| usage.modified))
        };
        self.0.store.read(read).await
    }

    /// The templates of one page, counting pages from 1.
    pub async fn templates(
        &self,
        app: AppId,
        sort: TemplateSort,
        order: Order,
        page: u32,
        page_size: u32,
    ) -> Result<TemplatePage> {
        let read = move |tx: &mut Tx<'_>| {
            let mut heads = documents::heads(tx, app, DocumentKind::Template)?;
            let uses = documents::heads(tx, app, DocumentKind::TemplateUse)?;
            let uses: BTreeMap<String, UtcMillis> = uses.into_iter().map(|usage| (usage.id, usage.modified)).collect();
            // They are in the order of their creation, which decides between equals.
            match sort {
                TemplateSort::Created => {}
                TemplateSort::Modified => heads.sort_by_key(|head| head.modified),
                TemplateSort::LastUsed => heads.sort_by_key(|head| uses.get(&head.id)),
            }
            match order {
                Order::Ascending => {}
                Order::Descending => heads.reverse(),
            }
            let first = (page as usize - 1).saturating_mul(page_size as usize);
            let shown = heads.iter().skip(first).take(page_size as usize);
            let shown: Vec<&str> = shown.map(|head| head.id.as_str()).collect();
            let documents = documents::get_many(tx, app, DocumentKind::Template, &shown)?;
            let view = |document| stored::known_view(document, uses.get(&document.id).copied());
            Ok(TemplatePage { shown: documents.iter().filter_map(view).collect(), total: heads.len() })
        };
        self.0.store.read(read).await
    }

    /// Replaces the given parts of a template and keeps the rest. Pushes already scheduled with it stay as they are.
    pub async fn update_template(&self, app: AppId, id: TemplateId, change: TemplateChange) -> Result<()> {
        let now = self.0.clock.now();
        self.0
            .store
            .write(app, move |tx| {
                let (kind, id) = (DocumentKind::Template, id.to_string());
                let template = stored::read(&documents::get(tx, app, kind, &id)?.ok_or(NOT_FOUND)?.body)?;
                let template = template.changed(change.clone())?;
                Ok(documents::put(tx, app, kind, &id, &stored::print(&template)?, now)?)
            })
            .await
    }

    /// A concurrent sender cannot put it back: writers of an app wait for each other, on all nodes.
    pub async fn delete_template(&self, app: AppId, id: TemplateId) -> Result<()> {
        let delete = move |tx: &mut Tx<'_>| {
            documents::delete(tx, app, DocumentKind::TemplateUse, &id.to_string())?;
            documents::delete(tx, app, DocumentKind::Template, &id.to_string())
        };
        if self.0.store.write(app, delete).await? { Ok(()) } else { Err(NOT_FOUND) }
    }
}
