//! The binary: reads the command line, runs one command, and turns its result into an exit code.

mod client;
mod commands;
mod config;
mod data;
mod first_start;
mod output;
mod run;
mod telemetry;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use mimalloc::MiMalloc;

use commands::Cli;
use config::{Parsed, Refusal, Unusable};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The exit code for a command line or a setting that cannot be used, as clap has it.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let Parsed { cli, sources } = match config::parse::<Cli>(&arguments, std::env::vars_os()) {
        Ok(parsed) => parsed,
        Err(Refusal::Usage(error)) => error.exit(),
        Err(Refusal::Setting(error)) => return complain(&error, ExitCode::from(USAGE)),
    };
    match commands::run(cli, &sources) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Unusable>() => complain(&error, ExitCode::from(USAGE)),
        Err(error) => complain(&error, ExitCode::FAILURE),
    }
}

fn complain(error: &anyhow::Error, code: ExitCode) -> ExitCode {
    output::note(format_args!("aerogram: {}", output::explained(error)));
    code
}

/// The reader of our output has closed it, which is not a failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
