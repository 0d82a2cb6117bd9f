//! Places on earth with a boundary: which ones a point is in, which ones a box touches, and what a name may mean.
//!
//! The boundaries are in a file that is part of the program (`scripts/geo-data` makes it; NOTICE names its sources).
//! Reading it takes a moment and some memory, so that is done when [`atlas()`] is first asked for: by a server whose
//! devices tell where they are, at its start.

mod atlas;
mod boundary;
mod cells;
mod circles;
mod data;
mod fold;
mod load;
mod names;
mod outline;
mod regions;
mod shape;

use std::sync::LazyLock;

pub use atlas::{Area, Atlas};
pub use boundary::{Boundary, Code, Extent, Kind, Source};
pub use outline::{Corner, Outline};

/// The file of boundaries is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the boundaries that are part of this program are damaged")]
pub struct Damaged;

/// The atlas. It is part of the program and never changes, so there is one for all; the first caller waits a good part of a
/// second until it is unpacked.
pub fn atlas() -> Result<&'static Atlas, Damaged> {
    static ATLAS: LazyLock<Result<Atlas, Damaged>> = LazyLock::new(Atlas::read);
    ATLAS.as_ref().map_err(|damaged| *damaged)
}
