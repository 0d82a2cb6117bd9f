//! Delivering one block.
mod block;
