//! Every command and every argument, found in the tree of commands itself.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, CommandFactory};

use super::examples::EXAMPLES;
use super::*;
use crate::config::{Refusal, parse};

const NONSENSE: &str = "\u{7f} no such value";
/// Has the form of keys and secrets, which may begin with hyphens.
const HYPHENS: [&str; 2] = ["-hyphen-at-the-start-0", "--hyphens-at-the-start"];

fn parsed(words: &[String]) -> Result<Cli, Refusal> {
    parsed_with(words, &[])
}

fn parsed_with(words: &[String], environment: &[(String, String)]) -> Result<Cli, Refusal> {
    let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
    let environment = environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    parse::<Cli>(&arguments, environment).map(|parsed| parsed.cli)
}

/// Every command with the words that lead to it, with all its arguments built as when it runs.
fn all_commands() -> Vec<(Vec<String>, clap::Command)> {
    let mut root = Cli::command();
    root.build();
    let mut found = vec![(vec!["aerogram".to_owned()], root)];
    let mut next = 0;
    while let Some((words, command)) = found.get(next).cloned() {
        let below =
            |command: &clap::Command| ([&words[..], &[command.get_name().to_owned()]].concat(), command.clone());
        found.extend(command.get_subcommands().map(below));
        next += 1;
    }
    found
}

/// The argument as it is given on the command line.
fn given(arg: &Arg, value: &str) -> Vec<String> {
    match arg.get_long() {
        Some(long) => vec![format!("--{long}={value}")],
        None => vec![value.to_owned()],
    }
}

/// The error message for a wrong value; `None` if any value is accepted.
fn complaint(words: &[String]) -> Option<String> {
    match parsed(words) {
        Err(Refusal::Setting(error)) => Some(format!("{error:#}")),
        Err(Refusal::Usage(error)) => match error.kind() {
            ErrorKind::ValueValidation | ErrorKind::InvalidValue => Some(error.to_string()),
            _ => None,
        },
        Ok(_) => None,
    }
}

#[test]
fn a_wrong_value_of_any_argument_of_any_command_is_named() {
    for (words, command) in all_commands() {
        let takes_values = |arg: &&Arg| arg.get_action().takes_values() && arg.get_id() != "config";
        let is_first = |arg: &&Arg| arg.get_long().is_some() || arg.get_index() == Some(1);
        let mut n_refused = 0;
        for arg in command.get_arguments().filter(takes_values).filter(is_first) {
            let line = [&words[..], &given(arg, NONSENSE)].concat();
            let Some(complaint) = complaint(&line) else { continue };
            n_refused += 1;
            let shown = match arg.get_long() {
                Some(long) => format!("--{long}"),
                None => arg.to_string(),
            };
            assert!(complaint.contains(&shown), "{line:?}: {complaint}");
            assert!(!complaint.contains("invalid digit"), "{line:?}: {complaint}");
            let is_secret = arg.get_value_names().is_some_and(|names| names[0] == "SECRET");
            assert!(!is_secret || !complaint.contains(NONSENSE), "{line:?}: {complaint}");
        }
        assert!(n_refused > 0 || command.has_subcommands(), "{words:?} refuses nothing");
    }
}

#[test]
fn every_argument_says_what_it_is() {
    for (words, command) in all_commands() {
        for arg in command.get_arguments() {
            let is_told = arg.get_help().is_some() || matches!(arg.get_id().as_str(), "help" | "version");
            assert!(is_told, "{words:?}: {arg} has no help");
        }
    }
}

/// But those that print what is no answer: a log, a script, manual pages.
#[test]
fn every_command_answers_programs() {
    for (words, command) in all_commands() {
        let is_answer = !matches!(words.get(1).map(String::as_str), None | Some("serve" | "completions" | "man"));
        if is_answer && (!command.has_subcommands() || words[1..] == ["sim"]) {
            assert!(command.get_arguments().any(|arg| arg.get_long() == Some("json")), "{words:?} has no --json");
        }
    }
}

/// A flag without a value is a choice for a single run. Where a heading extends to the arguments after it, such a flag becomes a
/// setting by accident.
#[test]
fn settings_have_values() {
    for (words, command) in all_commands() {
        for arg in command.get_arguments().filter(|arg| arg.get_help_heading() == Some("Settings")) {
            assert!(arg.get_action().takes_values(), "{words:?}: {arg} can be set by a file");
        }
    }
}

#[test]
fn keys_and_secrets_may_begin_with_hyphens() {
    let mut n_tried = 0;
    for (words, command) in all_commands() {
        let is_credential = |arg: &&Arg| {
            let name = arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
            let is_file = arg.get_id().as_str() == "secrets_key";
            matches!(name, Some("KEY" | "SECRET")) && arg.get_action().takes_values() && !is_file
        };
        for (arg, value) in
            command.get_arguments().filter(is_credential).flat_map(|arg| HYPHENS.map(|value| (arg, value)))
        {
            assert_eq!(value.len(), 22);
            n_tried += 1;
            let flag = arg.get_long().map(|long| format!("--{long}"));
            let line: Vec<String> = words.iter().cloned().chain(flag).chain([value.to_owned()]).collect();
            match parsed(&line) {
                // Other arguments may be missing, which does not matter here.
                Err(Refusal::Usage(error)) => assert!(
                    matches!(
                        error.kind(),
                        ErrorKind::MissingRequiredArgument
                            | ErrorKind::MissingSubcommand
                            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                    ),
                    "{line:?}: {error}"
                ),
                Err(Refusal::Setting(error)) => panic!("{line:?}: {error:#}"),
                Ok(_) => {}
            }
        }
    }
    assert!(n_tried > 40, "{n_tried}");
}

#[test]
fn keys_do_not_swallow_flags() {
    let line = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let key = HYPHENS[0];
    let cli = parsed(&line(&format!("aerogram app delete --yes {key} --json"))).unwrap();
    let shown = format!("{cli:?}");
    assert!(shown.contains("yes: true") && shown.contains("json: true") && shown.contains(key), "{shown}");
    let cli = parsed(&line(&format!("aerogram webhook --json dead {key} an-id redeliver --limit 7"))).unwrap();
    let shown = format!("{cli:?}");
    assert!(shown.contains("limit: 7") && shown.contains("what: Redeliver"), "{shown}");
    let mistyped = complaint(&line("aerogram app delete --yess")).unwrap();
    assert!(mistyped.contains("--yess"), "{mistyped}");
}

#[test]
fn which_secret_to_replace_has_no_default() {
    let words = ["aerogram", "app", "rotate", "abcdefghijklmnopqrstuv"].map(str::to_owned);
    let Err(Refusal::Usage(error)) = parsed(&words) else { panic!("not refused") };
    assert_eq!(error.kind(), ErrorKind::MissingRequiredArgument);
    assert!(error.to_string().contains("--secret"), "{error}");
}

#[test]
fn nothing_is_called_by_dots() {
    for name in ["", ".", ".."] {
        let words = ["aerogram", "webhook", "show", "abcdefghijklmnopqrstuv", name].map(str::to_owned);
        assert!(complaint(&words).is_some_and(|complaint| complaint.contains("<WEBHOOK>")), "{name:?}");
    }
}

#[test]
fn every_command_has_an_example_that_can_be_read() {
    let all = all_commands();
    for (words, command) in all.iter().filter(|(_, command)| !command.is_hide_set()) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let first = help.lines().nth(1).unwrap_or_default().trim();
        let (_, shown) = of_shell(first);
        assert!(shown.starts_with(words), "{words:?} has no example in examples.rs");
    }
    for (of, lines) in EXAMPLES {
        let command = format!("aerogram {of}");
        assert!(all.iter().any(|(words, _)| words.join(" ") == command), "there is no command '{command}'");
        for line in *lines {
            let (environment, words) = of_shell(line);
            assert!(words.join(" ").starts_with(&command), "{line}");
            if let Err(refusal) = parsed_with(&words, &environment) {
                panic!("{line}: {refusal:?}");
            }
        }
    }
}

/// The settings before an example and its words, as a shell takes them apart.
fn of_shell(line: &str) -> (Vec<(String, String)>, Vec<String>) {
    let words = as_words(line);
    let begin = words.iter().position(|word| !word.starts_with("AEROGRAM_")).unwrap_or(words.len());
    let settings = words[..begin].iter().filter_map(|word| word.split_once('='));
    // What another command would print is a value like any other.
    let value =
        |text: &str| if text == "KEY" || text.starts_with('$') { HYPHENS[0].to_owned() } else { text.to_owned() };
    (settings.map(|(name, text)| (name.to_owned(), value(text))).collect(), words[begin..].to_vec())
}

/// The words of an example as a shell passes them on, with values for the words in capitals.
fn as_words(line: &str) -> Vec<String> {
    const UUID: &str = "00000000-0000-4000-8000-000000000000";
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.split(['<', '>']).next().unwrap_or(line).trim().chars().chain([' ']) {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, ' ') => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            _ => word.push(c),
        }
    }
    let value = |word: String| match word.as_str() {
        "KEY" | "SECRET" => HYPHENS[0].to_owned(),
        name if name.ends_with("_ID") => UUID.to_owned(),
        _ => word,
    };
    words.into_iter().map(value).collect()
}
