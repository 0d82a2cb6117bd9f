//! Open platforms: messages go to an endpoint of the customer's own.

mod body;
mod config;
mod delivery;
pub(crate) mod handshake;
pub(crate) mod outcome;
mod signature;

pub use body::{Batch, MOST_BATCH_BYTES, MOST_VALUES, OpenPush};
pub use config::{OpenAuth, OpenPlatformChange, OpenPlatformConfig};
pub use delivery::deliver;
pub use handshake::{HandshakeError, validate};
pub use outcome::BatchOutcome;
