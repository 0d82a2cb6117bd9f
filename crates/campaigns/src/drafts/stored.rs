//! A draft as it is stored: the request, and how far it has got.

use base::{Error, Result, readable};
use model::draft::{DraftBody, DraftState, DraftType};
use model::ids::{AppId, DraftId};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use store::Tx;
use store::documents::{self, Document, DocumentKind};

use super::{DraftView, NOT_FOUND, SentDraft};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) name: Option<String>,
    pub(super) kind: DraftType,
    pub(super) document: Box<RawValue>,
    pub(super) editor: Option<String>,
    pub(super) version: u32,
    pub(super) state: DraftState,
    pub(super) written_by: Option<String>,
    pub(super) submitted_by: Option<String>,
    pub(super) approved_by: Option<String>,
    pub(super) sent_by: Option<String>,
    pub(super) sent: Option<SentDraft>,
}

impl Stored {
    /// A version that nobody has seen yet.
    pub(super) fn new(body: &DraftBody, version: u32) -> Result<Self> {
        Ok(Self {
            name: body.name.clone(),
            kind: body.kind,
            document: to_raw_value(&body.document).map_err(Error::internal)?,
            editor: body.editor.clone(),
            version,
            state: DraftState::Draft,
            written_by: None,
            submitted_by: None,
            approved_by: None,
            sent_by: None,
            sent: None,
        })
    }

    pub(super) fn find(tx: &mut Tx<'_>, app: AppId, id: DraftId) -> Result<Self> {
        let document = documents::get(tx, app, DocumentKind::Draft, &id.to_string())?.ok_or(NOT_FOUND)?;
        Self::read(&document)
    }

    /// The draft, if it is still in this version and was not sent.
    pub(super) fn unsent(tx: &mut Tx<'_>, app: AppId, id: DraftId, version: u32) -> Result<Self> {
        let found = Self::find(tx, app, id)?;
        if found.state == DraftState::Sent {
            return Err(Error::Conflict("The draft was sent, and stays as it is.".to_owned()));
        }
        if found.version != version {
            let text = format!("The draft has been changed meanwhile: it has version {}. Read it anew.", found.version);
            return Err(Error::Conflict(text));
        }
        Ok(found)
    }

    pub(super) fn put(&self, tx: &mut Tx<'_>, app: AppId, id: DraftId, now: UtcMillis) -> Result<()> {
        let body = serde_json::to_string(self).map_err(Error::internal)?;
        documents::put(tx, app, DocumentKind::Draft, &id.to_string(), &body, now)?;
        tx.note_detail("version", self.version);
        Ok(())
    }

    pub(super) fn view(document: &Document) -> Result<DraftView> {
        let id = document.id.parse().map_err(Error::internal)?;
        Ok(Self::read(document)?.view_of(id, document.created, document.modified))
    }

    pub(super) fn view_of(self, id: DraftId, created: UtcMillis, modified: UtcMillis) -> DraftView {
        DraftView {
            id,
            name: self.name,
            kind: self.kind,
            document: self.document,
            editor: self.editor,
            version: self.version,
            state: self.state,
            written_by: self.written_by,
            submitted_by: self.submitted_by,
            approved_by: self.approved_by,
            sent_by: self.sent_by,
            sent: self.sent,
            created,
            modified,
        }
    }

    /// For listings: an unreadable one does not hide the others.
    pub(super) fn readable_view(document: &Document) -> Option<DraftView> {
        readable(DocumentKind::Draft, &document.id, Self::view(document))
    }

    fn read(document: &Document) -> Result<Self> {
        serde_json::from_str(&document.body).map_err(Error::internal)
    }
}
