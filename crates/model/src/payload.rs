//! The push object: who a push is for, what it says on each platform, and how it is sent.

pub mod actions;
pub mod campaigns;
pub mod color;
pub mod content;
pub mod decimal;
pub mod device_types;
pub mod expiry;
pub mod extra;
pub mod http_url;
pub mod in_app;
pub mod interactive;
pub mod message;
pub mod options;
pub mod orchestration;
pub mod references;
pub mod template;
