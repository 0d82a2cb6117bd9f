//! The channels that a request about journeys was about when it came: a document for each block of them, which goes once the block
//! is done. So a portion reads a block, however many channels there are, and nobody is added or missed while the request waits.

use audience::block::blocks;
use audience::codec;
use base::{Error, Result, readable};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::ids::{AppId, Ordinal};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::documents::{self, Document, DocumentKind, Order};

const KIND: DocumentKind = DocumentKind::JourneyAudience;

/// Channels of a request that come next.
pub(super) struct Next {
    pub(super) channels: Vec<Ordinal>,
    /// The block that is done with them.
    done: Option<String>,
}

/// Keeps the channels of a request.
pub(super) fn keep(tx: &mut Tx<'_>, app: AppId, request: &str, channels: &RoaringBitmap, now: UtcMillis) -> Result<()> {
    for (block, members) in blocks(channels) {
        let body = serde_json::to_string(&STANDARD.encode(codec::encode(&members))).map_err(Error::internal)?;
        documents::put(tx, app, KIND, &format!("{}{:05}", prefix(request), block.0), &body, now)?;
    }
    Ok(())
}

/// Up to `at_most` channels after one; `None` if there are no more. None of a block that cannot be read.
pub(super) fn next(
    tx: &mut Tx<'_>,
    app: AppId,
    request: &str,
    after: Option<Ordinal>,
    at_most: usize,
) -> Result<Option<Next>> {
    let Some(Document { id, body, .. }) = first(tx, app, request)? else { return Ok(None) };
    let mut members = readable(KIND, &id, read(&body)).unwrap_or_default();
    if let Some(Ordinal(after)) = after {
        members.remove_range(..=after);
    }
    let channels: Vec<Ordinal> = members.iter().take(at_most).map(Ordinal).collect();
    let is_done = members.len() == channels.len() as u64;
    Ok(Some(Next { channels, done: is_done.then_some(id) }))
}

/// Gives up what is kept of a request.
pub(super) fn forget(tx: &mut Tx<'_>, app: AppId, request: &str) -> Result<()> {
    while let Some(block) = first(tx, app, request)? {
        documents::delete(tx, app, KIND, &block.id)?;
    }
    Ok(())
}

impl Next {
    /// Written with the channels.
    pub(super) fn end(&self, tx: &mut Tx<'_>, app: AppId) -> Result<()> {
        if let Some(done) = &self.done {
            documents::delete(tx, app, KIND, done)?;
        }
        Ok(())
    }
}

fn first(tx: &mut Tx<'_>, app: AppId, request: &str) -> Result<Option<Document>> {
    let prefix = prefix(request);
    let first = documents::page(tx, app, KIND, Some(&prefix), Order::Ascending, 1)?.pop();
    Ok(first.filter(|first| first.id.starts_with(&prefix)))
}

/// Ids of requests have one length, so that none begins with another.
fn prefix(request: &str) -> String {
    format!("{request}-")
}

fn read(body: &str) -> Result<RoaringBitmap> {
    let text: String = serde_json::from_str(body).map_err(Error::internal)?;
    let bytes = STANDARD.decode(text).map_err(Error::internal)?;
    codec::decode(&bytes).map_err(Error::internal)
}
