//! A simulator of the push providers: Apple's, Google's, Amazon's and Microsoft's services, browsers' push services and the
//! endpoint of an open platform, on loopback. It takes the requests that they would take, refuses others in their words, fails as
//! often as it is told to, and counts.

mod adm;
mod answer;
mod apns;
mod book;
mod browser;
mod browsers;
mod call;
mod chance;
mod control;
mod faults;
mod fcm;
mod frames;
mod jwt;
pub mod keys;
mod oidc;
mod open;
mod protocol;
mod serve;
mod serve_h1;
mod serve_h2;
mod settings;
mod shared;
mod simulator;
mod specimen;
mod stats;
mod tokens;
mod webpush;
mod wns;

pub use book::{Delivery, Fate};
pub use faults::{Faults, GoAway};
pub use keys::Keys;
pub use oidc::{OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OidcFault, OidcKey, OidcPerson, OidcProvider, OidcReturn};
pub use protocol::Protocol;
pub use settings::{DEFAULT_TOPIC, SimSettings};
pub use simulator::{Simulator, device_address};
pub use specimen::Specimen;
pub use stats::{Stats, Tally};
