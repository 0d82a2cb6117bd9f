//! The rows of a list: their form in the store, and reading them all without holding them all.

use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::static_list::{ListName, Member};
use store::lists::{self, Upload, UploadNumber};

use super::record::Record;
use super::refuse_reserved;
use crate::Targeting;

const ROWS_PER_PAGE: u32 = 2000;

/// The rows of a list, page by page.
pub struct ListContent {
    targeting: Targeting,
    app: AppId,
    list: ListName,
    /// The upload that was the list's content at the beginning; `None` for a list that has none, and at the end.
    upload: Option<UploadNumber>,
    last: Option<lists::Member>,
}

#[boxed]
impl Targeting {
    pub async fn list_content(&self, app: AppId, list: ListName) -> Result<ListContent> {
        refuse_reserved(&list)?;
        let name = list.clone();
        let record = self.0.store.read(move |tx| Record::load(tx, app, name.as_str())).await?;
        let upload = record.ok_or(Error::NotFound("list"))?.content.map(|content| content.upload);
        Ok(ListContent { targeting: self.clone(), app, list, upload, last: None })
    }
}

#[boxed]
impl ListContent {
    /// The next rows in the order of their types and identifiers; empty at the end. Fails when the list gets another
    /// content meanwhile: the rest of the old one may be gone already.
    pub async fn next(&mut self) -> Result<Vec<Member>> {
        let Some(number) = self.upload else { return Ok(Vec::new()) };
        let (app, list, last) = (self.app, self.list.clone(), self.last.take());
        let read = self.targeting.0.store.read(move |tx| {
            let record = Record::load(tx, app, list.as_str())?;
            if record.and_then(|record| record.content).is_none_or(|content| content.upload != number) {
                return Err(Error::Conflict("The list was replaced while it was read.".to_owned()));
            }
            let upload = Upload { list: list.as_str(), number };
            Ok(lists::after(tx, app, upload, last.as_ref(), ROWS_PER_PAGE)?)
        });
        let page = read.await?;
        match page.last() {
            Some(last) => self.last = Some(last.clone()),
            None => self.upload = None,
        }
        page.iter().map(member).collect()
    }
}

pub(super) fn stored(member: &Member) -> lists::Member {
    lists::Member { kind: member.identifier_type().to_owned(), identifier: member.identifier().into_owned() }
}

pub(super) fn member(stored: &lists::Member) -> Result<Member> {
    Member::new(&stored.kind, &stored.identifier).map_err(Error::internal)
}
