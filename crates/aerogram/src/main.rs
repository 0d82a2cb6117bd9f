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
use serde_json::json;

use client::Refused;
use commands::{Cli, Command};
use config::{Parsed, Refusal, Unusable};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The exit code for a command line or a setting that cannot be used, as clap has it.
const USAGE: u8 = 2;
const FAILURE: u8 = 1;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Whoever reads answers as JSON reads errors so, too.
    let is_json = arguments.iter().any(|argument| argument == "--json");
    let complain = if is_json { complain_in_json } else { complain_in_words };
    let Parsed { cli, sources } = match config::parse::<Cli>(&arguments, std::env::vars_os()) {
        Ok(parsed) => parsed,
        // Help and the version are what was asked for.
        Err(Refusal::Usage(error)) if is_json && error.use_stderr() => return complain(&misuse(&error), USAGE),
        Err(Refusal::Usage(error)) => error.exit(),
        Err(Refusal::Setting(error)) => return complain(&error, USAGE),
    };
    // The service tells of them in its log.
    if !is_json
        && !matches!(cli.command, Command::Serve(_))
        && let Some(text) = sources.about_unknown_variables()
    {
        output::note(format_args!("aerogram: {text}; --help of a command lists its settings"));
    }
    match commands::run(cli, &sources) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Unusable>() => complain(&error, USAGE),
        Err(error) => complain(&error, FAILURE),
    }
}

/// What clap says of a command line, without its colors.
fn misuse(error: &clap::Error) -> anyhow::Error {
    let text = error.render().to_string();
    anyhow::anyhow!(text.trim().trim_start_matches("error: ").to_owned())
}

fn complain_in_words(error: &anyhow::Error, code: u8) -> ExitCode {
    output::note(format_args!("aerogram: {}", output::explained(error)));
    code.into()
}

/// With the status and the code of the API, if it was the server that refused.
fn complain_in_json(error: &anyhow::Error, code: u8) -> ExitCode {
    let mut told = json!({"ok": false, "error": output::explained(error)});
    if let Some(refused) = error.downcast_ref::<Refused>() {
        told["status"] = refused.status.as_u16().into();
        told["error_code"] = refused.code.into();
    }
    output::note(format_args!("{told}"));
    code.into()
}

/// The reader of our output has closed it, which is not a failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
