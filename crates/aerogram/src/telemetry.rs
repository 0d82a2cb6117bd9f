//! Logs: to standard error, as text for people or as JSON for machines.

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogFormat, Logging};

/// Starts logging for the life of the process. To be called once.
pub(crate) fn start(logging: &Logging) -> Result<()> {
    let registry = tracing_subscriber::registry().with(logging.log_level.clone());
    let started = match logging.log {
        LogFormat::Text => {
            let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
            registry.with(layer).try_init()
        }
        LogFormat::Json => {
            // Fields at the top level are what log collectors index without configuration.
            let layer = tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(io::stderr);
            registry.with(layer).try_init()
        }
    };
    started.context("Logging was started twice")
}
