//! Audiences as sets of channels: the index that knows them, the plans that combine them, the blocks that divide them.
//! Pure computation: no input or output of its own, no async.

#![expect(clippy::disallowed_types, reason = "the locks of an index are poisoned on purpose; see index.rs")]

pub mod block;
mod bound;
pub mod builder;
mod bytes;
pub mod codec;
mod dictionary;
mod eval;
mod holders;
pub mod index;
pub mod plan;
mod shard;
pub mod snapshot;
pub mod tally;
