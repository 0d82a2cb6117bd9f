//! A template as it is stored, and when it was used, which is kept apart: sending a template does not change it.

use base::{Error, Result, readable};
use model::ids::AppId;
use model::json;
use model::limits;
use model::payload::template::TemplateId;
use model::template::Template;
use model::time::UtcMillis;
use store::Tx;
use store::documents::{self, Document, DocumentKind};

use super::TemplateView;

/// The text to store, unless it is too long.
pub(super) fn print(template: &Template) -> Result<String> {
    let text = serde_json::to_string(template).map_err(Error::internal)?;
    if text.len() > limits::TEMPLATE_BYTES {
        let most = limits::TEMPLATE_BYTES;
        return Err(Error::invalid("", format!("A template has at most {most} bytes; this has {}.", text.len())));
    }
    Ok(text)
}

/// It was checked when it was stored, so a problem now is our fault.
pub(super) fn read(body: &str) -> Result<Template> {
    json::parse(body.as_bytes(), Template::parse_stored).map_err(Error::internal)
}

pub(super) fn view(document: &Document, last_used: Option<UtcMillis>) -> Result<TemplateView> {
    let id = document.id.parse().map_err(Error::internal)?;
    let (created, modified) = (document.created, document.modified);
    Ok(TemplateView { id, template: read(&document.body)?, created, modified, last_used })
}

/// For listings: an unreadable one does not hide the others.
pub(super) fn known_view(document: &Document, last_used: Option<UtcMillis>) -> Option<TemplateView> {
    readable(DocumentKind::Template, &document.id, view(document, last_used))
}

pub(super) fn set_used(tx: &mut Tx<'_>, app: AppId, id: TemplateId, now: UtcMillis) -> Result<()> {
    Ok(documents::put(tx, app, DocumentKind::TemplateUse, &id.to_string(), "", now)?)
}
