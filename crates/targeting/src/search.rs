//! Finding segments and lists by id and name.

use base::{Findings, FoundKind, Result, SearchText, search_documents};
use boxed::boxed;
use model::ids::AppId;
use serde::Deserialize;
use store::documents::{Document, DocumentKind};

use crate::Targeting;

/// As much of a stored segment as a search needs.
#[derive(Deserialize)]
struct Named {
    display_name: String,
}

#[boxed]
impl Targeting {
    pub async fn search(&self, app: AppId, text: SearchText) -> Result<[Findings; 2]> {
        self.0
            .store
            .read(move |tx| {
                let segments =
                    search_documents(tx, app, (DocumentKind::Segment, FoundKind::Segment), &text, segment_name)?;
                let list_name = |document: &Document| Some(document.id.clone());
                let lists = search_documents(tx, app, (DocumentKind::List, FoundKind::List), &text, list_name)?;
                Ok([segments, lists])
            })
            .await
    }
}

fn segment_name(document: &Document) -> Option<String> {
    serde_json::from_str(&document.body).ok().map(|Named { display_name }| display_name)
}
