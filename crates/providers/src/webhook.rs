//! Webhooks for events: where they are, and the one request that carries events to one of them.

mod config;
pub(crate) mod delivery;
mod line;

pub use config::{CustomHeader, NewWebhook, WebhookChange, WebhookConfig, WebhookSettings};
pub use delivery::{Hook, HookAnswer};
