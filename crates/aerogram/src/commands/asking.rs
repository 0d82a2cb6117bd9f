//! Asks the person at the terminal, before something is done that is not easily undone.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::Result;

use crate::config::Unusable;

/// Shows what is about to happen, and asks. Where nobody can be asked, it is an error to say so.
pub(super) fn is_agreed(show: impl FnOnce() -> Result<()>, question: &str, unasked: &str) -> Result<bool> {
    let mut input = io::stdin().lock();
    if !input.is_terminal() {
        return Err(Unusable::new(unasked).into());
    }
    show()?;
    let mut terminal = io::stderr().lock();
    write!(terminal, "{question} [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
