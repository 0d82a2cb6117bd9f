//! A template as it is stored: what was asked for, and when it was changed and used.

use model::ids::AppId;
use model::json::{self, At};
use model::payload::template::TemplateId;
use model::template::Template;
use model::time::UtcMillis;
use serde::Serialize;
use store::Tx;
use store::documents::{self, Document, DocumentKind};

use super::TemplateView;
use crate::{Error, Result};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Stored {
    pub(super) template: Template,
    /// Apart from the document's own, which moves when the template is used.
    pub(super) modified: UtcMillis,
    pub(super) last_used: Option<UtcMillis>,
}

pub(super) fn find(tx: &mut Tx<'_>, app: AppId, id: TemplateId) -> Result<Option<Stored>> {
    let document = documents::get(tx, app, DocumentKind::Template, &id.to_string())?;
    document.map(|document| Stored::read(&document.body)).transpose()
}

impl Stored {
    /// It was checked when it was stored, so a problem now is ours.
    fn read(body: &str) -> Result<Self> {
        json::parse(body.as_bytes(), Self::parse).map_err(Error::internal)
    }

    pub(super) fn view(document: &Document) -> Result<TemplateView> {
        let Self { template, modified, last_used } = Self::read(&document.body)?;
        let id = document.id.parse().map_err(Error::internal)?;
        Ok(TemplateView { id, template, created: document.created, modified, last_used })
    }

    pub(super) fn print(&self) -> Result<String> {
        serde_json::to_string(self).map_err(Error::internal)
    }

    pub(super) fn put(&self, tx: &mut Tx<'_>, app: AppId, id: TemplateId, now: UtcMillis) -> Result<()> {
        Ok(documents::put(tx, app, DocumentKind::Template, &id.to_string(), &self.print()?, now)?)
    }

    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let template = fields.required("template", Template::parse);
        let modified = fields.required("modified", instant);
        let last_used = fields.nullable("last_used", instant);
        fields.finish();
        Some(Self { template: template?, modified: modified?, last_used })
    }
}

fn instant(at: &At<'_>) -> Option<UtcMillis> {
    at.integer(i64::MIN..=i64::MAX).map(UtcMillis)
}
