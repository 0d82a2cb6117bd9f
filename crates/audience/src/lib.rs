//! Audiences as sets of channels: the index that knows them, the plans that combine them, the blocks that divide them.
//! Pure computation: no input or output, no async.

pub mod block;
pub mod builder;
pub mod codec;
mod eval;
pub mod index;
pub mod plan;
mod segment;
