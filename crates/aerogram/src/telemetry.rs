//! Logs: to standard error, as text for people or as JSON for machines.

mod lines;

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogFormat, Logging};
use lines::{Lines, Writing};

/// Starts logging for the life of the process. To be called once; keep the returned guard until the end.
pub(crate) fn start(logging: &Logging) -> Result<Writing> {
    let (lines, writing) = Lines::to(io::stderr()).context("The thread that writes the log cannot be started")?;
    let lines = move || lines.clone();
    let registry = tracing_subscriber::registry().with(logging.log_level.clone());
    let started = match logging.log {
        LogFormat::Text => {
            let layer = tracing_subscriber::fmt::layer().with_writer(lines);
            // On a terminal the layer looks at NO_COLOR by itself.
            let layer = if io::stderr().is_terminal() { layer } else { layer.with_ansi(false) };
            registry.with(layer).try_init()
        }
        LogFormat::Json => {
            // Log collectors index fields at the top level without configuration.
            let layer = tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(lines);
            registry.with(layer).try_init()
        }
    };
    started.context("Logging was started twice")?;
    Ok(writing)
}
