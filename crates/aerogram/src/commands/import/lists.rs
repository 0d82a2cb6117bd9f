//! The uploaded lists of an import: made or changed when their line comes, filled when all of their rows have.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{Method, StatusCode};
use providers::http::Outgoing;
use providers::percent_encoded;
use serde_json::Value;

use super::answers::patiently;
use super::documents::Object;
use crate::client::{Client, Refused};

pub(super) struct Lists {
    client: Arc<Client>,
    open: Option<OpenList>,
}

/// A list whose rows come, packed into a file without a name: there may be ten million.
struct OpenList {
    name: String,
    packed: GzEncoder<File>,
}

/// Reads a file from its beginning, whatever else reads it: a request that has failed may still do so.
struct FromBeginning {
    file: Arc<File>,
    offset: u64,
}

impl Lists {
    pub(super) fn new(client: Arc<Client>) -> Self {
        Self { client, open: None }
    }

    pub(super) fn open_name(&self) -> Option<&str> {
        self.open.as_ref().map(|open| open.name.as_str())
    }

    pub(super) async fn put(&self, list: Object) -> Result<()> {
        let path =
            format!("/api/lists/{}", percent_encoded(list.get("name").and_then(Value::as_str).unwrap_or_default()));
        let list = Value::Object(list);
        match patiently(|| self.client.send(Method::POST, "/api/lists", &list)).await {
            Err(error) if is_conflict(&error) => {
                patiently(|| self.client.send(Method::PUT, &path, &list)).await.map(drop)
            }
            made => made.map(drop),
        }
    }

    /// Adds rows to the open list, or to another if none is open.
    pub(super) fn add_rows(&mut self, list: String, rows: &[String]) -> Result<()> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => {
                let file = tempfile::tempfile().context("There is no room for the rows of a list (see TMPDIR)")?;
                OpenList { name: list, packed: GzEncoder::new(file, Compression::fast()) }
            }
        };
        let written = rows.iter().try_for_each(|row| writeln!(open.packed, "{row}"));
        written.context("The rows of a list cannot be packed (see TMPDIR)")?;
        self.open = Some(open);
        Ok(())
    }

    /// Uploads the rows of the open list, which replace those that it has.
    pub(super) async fn upload(&mut self) -> Result<()> {
        let Some(OpenList { name, packed }) = self.open.take() else { return Ok(()) };
        let file = Arc::new(packed.finish().context("The rows of a list cannot be packed (see TMPDIR)")?);
        let n_bytes = file.metadata().context("The packed rows of a list cannot be read")?.len();
        let path = format!("/api/lists/{}/csv", percent_encoded(&name));
        let upload = || {
            let rows = FromBeginning { file: file.clone(), offset: 0 };
            self.client.upload(Method::PUT, &path, "text/csv", Outgoing::new(rows, Some(n_bytes)))
        };
        patiently(upload).await.map(drop)
    }
}

impl Read for FromBeginning {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.file.read_at(buffer, self.offset)?;
        self.offset += n_read as u64;
        Ok(n_read)
    }
}

fn is_conflict(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == StatusCode::CONFLICT)
}
