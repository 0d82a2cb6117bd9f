//! How far a command has got, for a person at a terminal who waits for longer than a moment.

use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// What takes no longer needs no bar, which would only flicker.
const MOMENT: Duration = Duration::from_secs(1);
const REDRAWN_EVERY: Duration = Duration::from_millis(200);
const BAR: &str = "{msg} [{wide_bar}] {pos} of {len}, {eta} left";
const BYTES: &str = "{msg} [{wide_bar}] {bytes} of {total_bytes}, {eta} left";
const SPINNER: &str = "{spinner} {msg} ({elapsed})";

/// Drawn to standard error, if that is a terminal.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Of so many things.
    pub(super) fn of(n: u64) -> Result<Self> {
        Self::styled(Some(n), BAR)
    }

    /// Of so many bytes, if it is known how many.
    pub(super) fn of_bytes(n: Option<u64>) -> Result<Self> {
        Self::styled(n, if n.is_some() { BYTES } else { SPINNER })
    }

    /// Of work that nobody knows the extent of.
    pub(super) fn of_unknown() -> Result<Self> {
        Self::styled(None, SPINNER)
    }

    fn styled(n: Option<u64>, template: &str) -> Result<Self> {
        let style = ProgressStyle::with_template(template).context("The bar cannot be drawn")?.progress_chars("##-");
        Ok(Self(ProgressBar::with_draw_target(n, ProgressDrawTarget::hidden()).with_style(style)))
    }

    pub(super) fn show(&self, n_done: u64, message: impl Into<String>) {
        if self.0.is_hidden() && self.0.elapsed() > MOMENT {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.0.set_message(message.into());
        self.0.set_position(n_done);
        self.0.tick();
    }

    /// Writes a line above the bar.
    pub(super) fn note(&self, text: &str) {
        self.0.suspend(|| output::note(format_args!("{text}")));
    }

    /// Does what writes to the terminal itself while the bar is not there.
    pub(super) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }

    /// Shows a message until the work ends, which says nothing of itself meanwhile.
    pub(super) async fn during<T>(&self, message: &str, work: impl Future<Output = T>) -> T {
        self.following(message, || 0, work).await
    }

    /// Shows how far the work has got until it ends.
    pub(super) async fn following<T>(
        &self,
        message: &str,
        n_done: impl Fn() -> u64,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        let mut redrawn = tokio::time::interval(REDRAWN_EVERY);
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = redrawn.tick() => self.show(n_done(), message),
            }
        }
    }
}

impl Drop for Progress {
    /// Whatever comes next is written below nothing.
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
