//! Content templates: created, listed, replaced and deleted.

use base::{Error, Result};
use boxed::boxed;
use model::content_template::{ContentTemplate, ContentTemplateId};
use model::ids::{AppId, OperationId};
use model::limits;
use sending::{ContentTemplateName, ContentTemplateView, all_content_templates, find_content_template};
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, DocumentKind, Order};
use tenancy::IdempotencyKey;

use crate::Campaigns;

const KIND: DocumentKind = DocumentKind::ContentTemplate;
const NOT_FOUND: Error = Error::NotFound("content template");

/// A page of a listing.
#[derive(Clone, Debug)]
pub struct ContentTemplatePage {
    pub shown: Vec<ContentTemplateView>,
    /// How many there are on all pages.
    pub total: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentTemplateSort {
    Created,
    Modified,
}

/// The answer to the creation of a content template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedContentTemplate {
    pub operation_id: OperationId,
    pub id: ContentTemplateId,
}

#[boxed]
impl Campaigns {
    pub async fn create_content_template(
        &self,
        app: AppId,
        template: ContentTemplate,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedContentTemplate> {
        let now = self.0.clock.now();
        let created = CreatedContentTemplate { operation_id: OperationId::at(now), id: ContentTemplateId::at(now) };
        let text = print(&template)?;
        let write = move |tx: &mut Tx<'_>| {
            let most = limits::TEMPLATES_PER_APP;
            if documents::count(tx, app, KIND)? >= most {
                let text = format!("An app has at most {most} content templates; delete one first.");
                return Err(Error::Conflict(text));
            }
            refuse_taken(tx, app, &template, None)?;
            documents::put(tx, app, KIND, &created.id.to_string(), &text, now)?;
            Ok(created)
        };
        self.0.tenancy.write_once(app, idempotency_key, write).await
    }

    pub async fn content_template(&self, app: AppId, name: ContentTemplateName) -> Result<ContentTemplateView> {
        self.0.store.read(move |tx| find(tx, app, &name)).await
    }

    /// The content templates of one page, counting pages from 1.
    pub async fn content_templates(
        &self,
        app: AppId,
        sort: ContentTemplateSort,
        order: Order,
        page: u32,
        page_size: u32,
    ) -> Result<ContentTemplatePage> {
        let mut found = self.0.store.read(move |tx| all_content_templates(tx, app)).await?;
        // They are in the order of their creation, which decides between equals.
        match sort {
            ContentTemplateSort::Created => {}
            ContentTemplateSort::Modified => found.sort_by_key(|view| view.modified),
        }
        match order {
            Order::Ascending => {}
            Order::Descending => found.reverse(),
        }
        let total = found.len();
        let first = (page as usize - 1).saturating_mul(page_size as usize);
        Ok(ContentTemplatePage { shown: found.into_iter().skip(first).take(page_size as usize).collect(), total })
    }

    pub async fn replace_content_template(
        &self,
        app: AppId,
        name: ContentTemplateName,
        template: ContentTemplate,
    ) -> Result<()> {
        let (now, text) = (self.0.clock.now(), print(&template)?);
        let write = move |tx: &mut Tx<'_>| {
            let current = find(tx, app, &name)?;
            if current.template.kind != template.kind {
                return Err(Error::invalid("type", "A content template keeps its type; create another one."));
            }
            refuse_taken(tx, app, &template, Some(current.id))?;
            Ok(documents::put(tx, app, KIND, &current.id.to_string(), &text, now)?)
        };
        self.0.store.write(app, write).await
    }

    pub async fn delete_content_template(&self, app: AppId, name: ContentTemplateName) -> Result<()> {
        let write = move |tx: &mut Tx<'_>| {
            let current = find(tx, app, &name)?;
            documents::delete(tx, app, KIND, &current.id.to_string())?;
            Ok(())
        };
        self.0.store.write(app, write).await
    }
}

fn find(tx: &mut Tx<'_>, app: AppId, name: &ContentTemplateName) -> Result<ContentTemplateView> {
    find_content_template(tx, app, name)?.ok_or(NOT_FOUND)
}

/// An external id belongs to one content template.
fn refuse_taken(tx: &mut Tx<'_>, app: AppId, template: &ContentTemplate, own: Option<ContentTemplateId>) -> Result<()> {
    let Some(external_id) = &template.external_id else { return Ok(()) };
    let is_taken =
        |other: &ContentTemplateView| Some(other.id) != own && other.template.external_id.as_ref() == Some(external_id);
    match all_content_templates(tx, app)?.iter().find(|other| is_taken(other)) {
        Some(other) => {
            let text = format!("The content template {} has the external_id '{external_id}' already.", other.id);
            Err(Error::invalid("external_id", text))
        }
        None => Ok(()),
    }
}

fn print(template: &ContentTemplate) -> Result<String> {
    Error::refuse(template.mistakes())?;
    let text = serde_json::to_string(template).map_err(Error::internal)?;
    let most = limits::TEMPLATE_BYTES;
    if text.len() > most {
        let text = format!("A content template has at most {most} bytes; this has {}.", text.len());
        return Err(Error::invalid("", text));
    }
    Ok(text)
}
