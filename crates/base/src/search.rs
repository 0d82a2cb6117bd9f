//! Searching an app for things by id or name: what is looked for, what is found, and going through documents.

use model::ids::AppId;
use store::Tx;
use store::documents::{self, Document, DocumentKind, Order};

use crate::Result;

/// Things of one kind that a search finds at most.
const MOST_OF_A_KIND: usize = 10;
/// Documents of one kind that a search looks at: the newest.
const MOST_LOOKED_AT: u32 = 1_000;

/// What is looked for: an id, the beginning of the id of a named user, an address, or a part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchText {
    given: String,
    lower: String,
}

/// Something that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub kind: FoundKind,
    pub id: String,
    /// By what people recognize it, if it has anything of the kind.
    pub title: Option<String>,
    /// The text that has what was looked for, if that is not the title.
    pub matched: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoundKind {
    Push,
    Channel,
    NamedUser,
    Segment,
    List,
    Schedule,
    Template,
    Pipeline,
    Experiment,
}

/// Things of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub found: Vec<Found>,
    /// Whether there may be more than what was found or looked at.
    pub is_cut: bool,
}

impl SearchText {
    pub fn new(text: &str) -> Self {
        Self { given: text.to_owned(), lower: text.to_lowercase() }
    }

    pub fn as_str(&self) -> &str {
        &self.given
    }

    /// Whether a name has the text in it, in letters of either case.
    pub fn is_in(&self, name: &str) -> bool {
        name.to_lowercase().contains(&self.lower)
    }
}

impl FoundKind {
    /// Whether it is a person or the device of one.
    pub fn is_somebody(self) -> bool {
        matches!(self, FoundKind::Channel | FoundKind::NamedUser)
    }

    pub const ALL: [FoundKind; 9] = [
        FoundKind::Push,
        FoundKind::Channel,
        FoundKind::NamedUser,
        FoundKind::Segment,
        FoundKind::List,
        FoundKind::Schedule,
        FoundKind::Template,
        FoundKind::Pipeline,
        FoundKind::Experiment,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            FoundKind::Push => "push",
            FoundKind::Channel => "channel",
            FoundKind::NamedUser => "named_user",
            FoundKind::Segment => "segment",
            FoundKind::List => "list",
            FoundKind::Schedule => "schedule",
            FoundKind::Template => "template",
            FoundKind::Pipeline => "pipeline",
            FoundKind::Experiment => "experiment",
        }
    }
}

impl Findings {
    /// Whether nothing more is taken.
    pub fn is_full(&self) -> bool {
        self.found.len() >= MOST_OF_A_KIND
    }

    /// Takes something that was not found before, unless there is enough.
    pub fn add(&mut self, found: Found) {
        if self.found.iter().any(|known| known.kind == found.kind && known.id == found.id) {
            return;
        }
        if self.is_full() {
            self.is_cut = true;
        } else {
            self.found.push(found);
        }
    }
}

/// The document with the id that is looked for, and the newest of those with the text in their names. `title` reads the name of a
/// document; an unreadable one has none, and does not hide the others.
pub fn search_documents(
    tx: &mut Tx<'_>,
    app: AppId,
    (kind, found_kind): (DocumentKind, FoundKind),
    text: &SearchText,
    title: impl Fn(&Document) -> Option<String>,
) -> Result<Findings> {
    let mut findings = Findings::default();
    let found = |document: &Document, title| Found { kind: found_kind, id: document.id.clone(), title, matched: None };
    // Ids are printed in small letters; the names of lists are ids, too, and are as they were given.
    for id in [text.as_str(), &text.lower] {
        if let Some(document) = documents::get(tx, app, kind, id)? {
            findings.add(found(&document, title(&document)));
        }
    }
    let newest = documents::page(tx, app, kind, None, Order::Descending, MOST_LOOKED_AT + 1)?;
    findings.is_cut = newest.len() > MOST_LOOKED_AT as usize;
    for document in newest.iter().take(MOST_LOOKED_AT as usize) {
        let title = title(document);
        if title.as_ref().is_some_and(|title| text.is_in(title)) {
            findings.add(found(document, title));
        }
    }
    Ok(findings)
}
