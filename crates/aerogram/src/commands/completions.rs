//! `aerogram completions`, `aerogram man`: what a shell and `man` need to know of the commands; packages install it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// For which shell
    shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct Man {
    /// A folder that there is; it gets a file for each command
    #[arg(value_name = "FOLDER", value_parser = folder)]
    folder: PathBuf,
}

impl Completions {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "aerogram", &mut script);
        output::bytes(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Man {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        clap_mangen::generate_to(Cli::command(), &self.folder)
            .with_context(|| format!("The pages cannot be written to {}", self.folder.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn folder(text: &str) -> Result<PathBuf, &'static str> {
    let folder = PathBuf::from(text);
    if folder.is_dir() { Ok(folder) } else { Err("There is no such folder.") }
}
