//! How far an import has got, for a person at a terminal.

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};

use super::source::BytesRead;

const BAR: &str = "{msg} [{wide_bar}] {bytes} of {total_bytes}, {eta} left";
const SPINNER: &str = "{spinner} {msg}";

/// Drawn to standard error, if that is a terminal.
pub(super) struct Progress {
    bar: ProgressBar,
    n_bytes: Option<BytesRead>,
}

impl Progress {
    /// Of files, by their size.
    pub(super) fn of_files(n_bytes: BytesRead, size: Option<u64>) -> Result<Self> {
        match size {
            Some(size) => Self::drawn(ProgressBar::new(size), BAR, Some(n_bytes)),
            None => Self::of_unknown(),
        }
    }

    /// Of a source whose size is not known.
    pub(super) fn of_unknown() -> Result<Self> {
        Self::drawn(ProgressBar::new_spinner(), SPINNER, None)
    }

    fn drawn(bar: ProgressBar, template: &str, n_bytes: Option<BytesRead>) -> Result<Self> {
        let style = ProgressStyle::with_template(template).context("The bar cannot be drawn")?.progress_chars("##-");
        Ok(Self { bar: bar.with_style(style), n_bytes })
    }

    pub(super) fn show(&self, n_rows: u64, n_refused: u64) {
        if let Some(n_bytes) = &self.n_bytes {
            self.bar.set_position(n_bytes.get());
        }
        let remark = if n_refused > 0 { format!(", {n_refused} left out") } else { String::new() };
        self.bar.set_message(format!("{n_rows} rows{remark}"));
        self.bar.tick();
    }

    /// Shows that rows wait for the upload of a list.
    pub(super) fn show_upload(&self, list: &str) {
        self.bar.set_message(format!("uploading the list {list}"));
        self.bar.tick();
    }

    /// Writes a line above the bar.
    pub(super) fn note(&self, text: &str) {
        self.aside(|| crate::output::note(format_args!("{text}")));
    }

    /// Does what writes to the terminal itself while the bar is not there.
    pub(super) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
