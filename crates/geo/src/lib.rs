//! Places on earth with a boundary: which ones a point is in, which ones a box touches, and what a name may mean.
//!
//! The boundaries are in a file that is part of the program (`scripts/geo-data` makes it; NOTICE names its sources).
//! Reading it takes a moment and some memory, so [`LazyAtlas`] does so when it is first asked.

mod atlas;
mod boundary;
mod cells;
mod circles;
mod data;
mod fold;
mod load;
mod names;
mod shape;

use std::sync::OnceLock;

pub use atlas::{Area, Atlas};
pub use boundary::{Boundary, Code, Extent, Kind, Source};

/// The file of boundaries is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the boundaries that are part of this program are damaged")]
pub struct Damaged;

/// An atlas that is read when it is first needed.
#[derive(Default)]
pub struct LazyAtlas(OnceLock<Result<Atlas, Damaged>>);

impl LazyAtlas {
    /// The first call takes a good part of a second.
    pub fn get(&self) -> Result<&Atlas, Damaged> {
        self.0.get_or_init(Atlas::read).as_ref().map_err(|damaged| *damaged)
    }
}
