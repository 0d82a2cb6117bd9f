//! The language of the domain: ids, audiences, the push payload, channels, device properties, events.
//! Pure: no input or output, no async, no SQL; time and randomness come in as arguments.

// Generated code names this crate as others do.
extern crate self as model;

pub mod account;
pub mod app;
pub mod attribute;
pub mod change_list;
pub mod channel;
pub mod contact;
pub mod content_template;
pub mod create_and_send;
pub mod custom_event;
pub mod demo;
pub mod device_event;
pub mod device_type;
pub mod draft;
pub mod event;
pub mod experiment;
pub mod ids;
pub mod inbox;
pub mod json;
pub mod legacy_tag;
pub mod lenient_base64;
pub mod lifecycle;
pub mod limits;
pub mod live;
pub mod message_deletion;
pub mod name;
pub mod named_user;
pub mod network;
pub mod origin;
pub mod p384;
pub mod payload;
pub mod pipeline;
pub mod place;
pub mod privacy;
pub mod problem;
pub mod property;
pub mod push_outcome;
pub mod report;
pub mod request_audience;
pub mod retention;
pub mod sandbox;
pub mod schedule;
pub mod segment;
pub mod selector;
pub mod server_token;
pub mod static_list;
pub mod subscription;
pub mod tag;
pub mod tagging;
pub mod template;
pub mod term;
pub mod test_push;
pub mod time;
