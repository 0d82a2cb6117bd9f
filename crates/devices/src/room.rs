//! Room for what channels and named users have. Devices fill half of a named user, so that what servers say always has room; and a
//! holder that is full keeps a change from itself and from nobody else.

use std::result;

use base::{Error, Result};
use store::channels::Holder;

use crate::Author;
use crate::change_context::ChangeContext;
use crate::mistaken::{Meant, Mistaken};

/// A channel or named user has no room for a change. Nothing was written for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    /// The place in the request that asks for too much.
    path: &'static str,
    message: String,
}

/// Whether a holder has room for a change.
pub(crate) type Room = result::Result<(), Full>;

/// The sentences that a batch names in its answer; there may be a thousand.
const MOST_NAMED: usize = 100;

/// How many of something one holder may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    most: usize,
    /// Whether this is the part of devices.
    is_share: bool,
}

/// The outcome of a change of several holders.
#[derive(Default)]
pub(crate) struct Batch {
    n_changed: usize,
    mistaken: Vec<Mistaken>,
    /// Holders without room, with their names.
    full: Vec<(String, Full)>,
}

impl Full {
    pub(crate) fn new(path: &'static str, message: String) -> Self {
        Self { path, message }
    }

    pub(crate) fn path(&self) -> &'static str {
        self.path
    }

    pub(crate) fn into_message(self) -> String {
        self.message
    }
}

impl From<Full> for Error {
    fn from(Full { path, message }: Full) -> Self {
        Error::invalid(path, message)
    }
}

impl Limit {
    pub(crate) const fn whole(most: usize) -> Self {
        Self { most, is_share: false }
    }

    /// The limit of a named user that an author changes.
    pub(crate) const fn of_user(most: usize, author: Author) -> Self {
        match author {
            Author::Servers => Self::whole(most),
            Author::Devices => Self { most: most / 2, is_share: true },
        }
    }

    pub(crate) const fn most(self) -> usize {
        self.most
    }

    /// A change that adds nothing always has room: servers may have filled more than the part of devices.
    pub(crate) fn check(self, before: usize, after: usize, path: &'static str, what: &str) -> Room {
        let Self { most, is_share } = self;
        if after <= most || after <= before {
            return Ok(());
        }
        Err(Full::new(
            path,
            match is_share {
                false => format!("A channel or named user has at most {most} {what}; this would make {after}."),
                true => format!(
                    "Devices give a named user at most {most} {what}; this would make {after}. A server can add more, with the master \
                 secret."
                ),
            },
        ))
    }
}

impl Batch {
    /// The channels to change, without those that the request mistakes.
    pub(crate) fn of(Meant { installed, mistaken }: Meant) -> (Self, Vec<Holder>) {
        (Self { mistaken, ..Self::default() }, installed)
    }

    pub(crate) fn mistake(&mut self, mistaken: Option<Mistaken>) {
        self.mistaken.extend(mistaken);
    }

    pub(crate) fn add(&mut self, name: impl FnOnce() -> String, room: Room) {
        match room {
            Ok(()) => self.n_changed += 1,
            Err(full) => self.full.push((name(), full)),
        }
    }

    /// A sentence about every holder that was passed over. Fails when those without room have kept it from changing anything.
    pub(crate) fn finish(self) -> Result<Vec<String>> {
        let Self { n_changed, mistaken, mut full } = self;
        if n_changed == 0 && !full.is_empty() {
            return Err(full.swap_remove(0).1.into());
        }
        let n_more = (mistaken.len() + full.len()).saturating_sub(MOST_NAMED);
        let full = full.iter().map(|(name, full)| format!("The {name} is passed over. {}", full.message));
        let mut sentences: Vec<String> = mistaken.iter().map(Mistaken::sentence).chain(full).take(MOST_NAMED).collect();
        if n_more > 0 {
            sentences.push(format!("{n_more} more are passed over."));
        }
        Ok(sentences)
    }
}

impl ChangeContext<'_> {
    pub(crate) fn author(&self) -> Author {
        if self.is_by_device() { Author::Devices } else { Author::Servers }
    }
}
