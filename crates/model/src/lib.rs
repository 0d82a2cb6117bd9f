//! The language of the domain: ids, audiences, the push payload, channels, device properties, events.
//! Pure: no input or output, no async, no SQL; time and randomness come in as arguments.

pub mod app;
pub mod channel;
pub mod event;
pub mod ids;
pub mod json;
pub mod limits;
pub mod payload;
pub mod platform;
pub mod problem;
pub mod property;
pub mod selector;
pub mod tag;
pub mod term;
pub mod time;
