//! The outside world: the HTTP client, and for every provider the request that carries a push to one device.
//! Knows HTTP and keys, not the store.

mod address_form;
pub mod adm;
pub mod answers;
pub mod apns;
mod certificate;
pub mod credential;
mod data_message;
mod endpoint;
pub mod fcm;
mod form;
pub mod http;
mod in_app;
mod jwt;
mod keys;
mod live;
mod network;
mod oauth;
pub mod open;
pub mod outcome;
pub mod platform;
mod recipient;
mod rendered;
mod rendering;
mod request;
mod room;
mod sender;
mod size;
mod tls;
mod token;
pub mod webhook;
pub mod webpush;
mod wire;
pub mod wns;

pub use address_form::{address_problem, keys_problem};
pub use endpoint::Endpoint;
pub use keys::{certified_key, leaf_expiry};
pub use live::{MarkedMessage, kept_message};
pub use network::Network;
pub use recipient::Recipient;
pub use rendered::{NotSendable, RenderedPush};
pub use rendering::Rendering;
pub use request::{PreparedRequest, percent_encoded};
pub use sender::Sender;
pub use size::{MessageSize, TooLarge, too_large};
pub use trust::{Complaint, Trust};
