//! The tests of the audience index, in one binary.

mod agreement;
mod arbitrary;
mod index;
mod naive;
mod plan;
mod snapshot;
mod storage;
