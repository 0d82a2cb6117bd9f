//! Where the values of settings come from: flag before environment before file before default.
//!
//! Clap knows the flags and the defaults. The two layers between become run-time defaults of the same arguments, so
//! that every setting is declared once and every value goes through the same parser.

mod exported_app;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, Parser};

use super::file::SettingsFile;
use super::{CONFIG, HEADING, SECRET};

const DEFAULT_FILE: &str = "aerogram.toml";

/// Why the command line is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Clap's own answer, which includes `--help` and `--version`.
    Usage(clap::Error),
    /// A setting that has a wrong value somewhere, or a secret, which clap would show.
    Setting(anyhow::Error),
}

/// The command line as it was read, and what it was read from.
#[derive(Debug)]
pub(crate) struct Parsed<Cli> {
    pub(crate) cli: Cli,
    pub(crate) sources: Sources,
}

/// What an operator should know of where settings come from.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Variables that are named like settings and are none.
    pub(crate) unknown_variables: Vec<String>,
    /// The settings of this command whose value is that of a variable.
    pub(crate) from_environment: Vec<String>,
    /// The settings file, if a secret stands in it.
    pub(crate) secrets_file: Option<PathBuf>,
}

impl Sources {
    /// What to tell of variables that are named like settings and are none. Their values may be secrets in a wrong place.
    pub(crate) fn about_unknown_variables(&self) -> Option<String> {
        let names = self.unknown_variables.join(", no ");
        (!names.is_empty()).then(|| format!("there is no setting {names}: without effect"))
    }
}

/// Reads the command line with the environment and the settings file behind it.
pub(crate) fn parse<Cli: Parser>(
    arguments: &[OsString],
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Parsed<Cli>, Refusal> {
    let known = setting_names(&Cli::command());
    let layers = Layers::read::<Cli>(arguments, environment, &known).map_err(Refusal::Setting)?;
    let mut command = layers.behind(Cli::command());
    // Clap builds only the subcommand that it meets, and an argument that is not built cannot be shown.
    command.build();
    let matches = command.try_get_matches_from_mut(arguments).or_else(|error| {
        let again = exported_app::may_be_meant(&error).then(|| layers.with_exported_app::<Cli>(arguments)).flatten();
        again.unwrap_or_else(|| Err(layers.explain(&command, arguments, error)))
    })?;
    let cli = Cli::from_arg_matches(&matches).map_err(Refusal::Usage)?;
    let secrets_file = layers.file.holds_secrets().then(|| layers.file.path().to_owned());
    let from_environment = layers.environment.into_keys().filter(|name| !is_on_command_line(&matches, name)).collect();
    Ok(Parsed { cli, sources: Sources { unknown_variables: layers.unknown_variables, from_environment, secrets_file } })
}

/// Whether the command, or the subcommand below it, was given a setting as a flag.
fn is_on_command_line(matches: &ArgMatches, name: &str) -> bool {
    let is_given =
        matches.try_contains_id(name).is_ok() && matches.value_source(name) == Some(ValueSource::CommandLine);
    is_given || matches.subcommand().is_some_and(|(_, below)| is_on_command_line(below, name))
}

const PREFIX: &str = "AEROGRAM_";

/// `listen` is `AEROGRAM_LISTEN` in the environment.
pub(super) fn environment_name(setting: &str) -> String {
    format!("{PREFIX}{}", setting.to_uppercase())
}

/// The names of all settings of a command and its subcommands, except the one that names the file.
fn setting_names(command: &Command) -> Vec<String> {
    let mut names: Vec<String> =
        all_arguments(command).into_iter().filter(|arg| is_setting(arg)).map(|arg| arg.get_id().to_string()).collect();
    names.retain(|name| name != CONFIG);
    names.sort();
    names.dedup();
    names
}

struct Layers {
    /// By setting name, not by the name of the variable.
    environment: BTreeMap<String, String>,
    unknown_variables: Vec<String>,
    file: SettingsFile,
}

/// Whether a variable tells of a Service: Kubernetes gives several to every container beside one whose name begins like ours.
fn is_of_kubernetes(name: &str, value: &OsStr) -> bool {
    let has_port_number = || {
        let mut ports = name.split("_PORT_").skip(1);
        ports.any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    let is_address = || value.to_str().is_some_and(|value| value.contains("://"));
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
        || has_port_number()
        || name.ends_with("_PORT") && is_address()
}

impl Layers {
    fn read<Cli: Parser>(
        arguments: &[OsString],
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        known: &[String],
    ) -> anyhow::Result<Self> {
        let (mut environment, mut unknown_variables) = (BTreeMap::new(), Vec::new());
        for (variable, value) in variables {
            let wanted = |name: &&str| variable.to_str() == Some(&environment_name(name));
            let Some(name) = known.iter().map(String::as_str).chain([CONFIG]).find(wanted) else {
                let name = variable.to_str().filter(|name| name.starts_with(PREFIX));
                unknown_variables.extend(name.filter(|name| !is_of_kubernetes(name, &value)).map(str::to_owned));
                continue;
            };
            let Ok(value) = value.into_string() else {
                anyhow::bail!("{} is not valid UTF-8.", environment_name(name));
            };
            // Container tools pass variables that nobody filled in as empty.
            if !value.is_empty() {
                environment.insert(name.to_owned(), value);
            }
        }
        let named = config_flag(Cli::command(), arguments).or_else(|| environment.get(CONFIG).map(PathBuf::from));
        let file = match named {
            Some(path) => SettingsFile::read(&path, known)?,
            None if Path::new(DEFAULT_FILE).exists() => SettingsFile::read(Path::new(DEFAULT_FILE), known)?,
            None => SettingsFile::default(),
        };
        unknown_variables.sort();
        Ok(Self { environment, unknown_variables, file })
    }

    /// The value of a flag that was not given, from the other layers, and its source.
    fn get(&self, name: &str) -> Option<(&str, String)> {
        match self.environment.get(name) {
            Some(value) => Some((value, environment_name(name))),
            None => self.file.get(name),
        }
    }

    fn behind(&self, command: Command) -> Command {
        let leads = exported_app::leads(&command);
        command.mut_args(|arg| self.behind_argument(arg, leads)).mut_subcommands(|command| self.behind(command))
    }

    /// The command line once more, with the exported app where none is named. `None` if that is not what is wrong with it.
    fn with_exported_app<Cli: Parser>(&self, arguments: &[OsString]) -> Option<Result<ArgMatches, Refusal>> {
        let (key, _) = self.get(exported_app::SETTING)?;
        let mut command = exported_app::taken(self.behind(Cli::command()), key);
        command.build();
        match command.try_get_matches_from_mut(arguments) {
            Ok(matches) => Some(Ok(matches)),
            Err(error) if exported_app::has_misread_a_word(&error) => None,
            Err(error) => Some(Err(self.explain(&command, arguments, error))),
        }
    }

    fn behind_argument(&self, arg: Arg, leads: bool) -> Arg {
        if !is_setting(&arg) {
            return arg;
        }
        let name = arg.get_id().to_string();
        let help = arg.get_help().cloned().unwrap_or_default();
        let arg = arg.help(format!("{help} [{}]", environment_name(&name)));
        match self.get(&name) {
            // Clap lets nothing that is required stand behind what is not.
            Some(_) if leads && arg.is_positional() => arg,
            // Clap asks for a required argument even when it has a default.
            Some((value, _)) => {
                arg.required(false).default_value(value.to_owned()).hide_default_value(SECRET.contains(&name.as_str()))
            }
            None => arg,
        }
    }

    /// Says which setting is wrong, where its value came from and why, without showing a secret.
    fn explain(&self, command: &Command, arguments: &[OsString], error: clap::Error) -> Refusal {
        if let Some(word) = word_too_many(command, arguments, &error) {
            return Refusal::Setting(anyhow::anyhow!("'{word}' is one word too many: put the text in quotes."));
        }
        if !matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue) {
            return Refusal::Usage(error);
        }
        let Some(ContextValue::String(shown)) = error.get(ContextKind::InvalidArg) else {
            return Refusal::Usage(error);
        };
        let mut given = named_command(command, arguments).get_arguments();
        let Some(arg) = given.find(|arg| arg.to_string() == *shown) else {
            return Refusal::Usage(error);
        };
        if !is_setting(arg) || is_typed(arg, arguments, &error) {
            return match is_secret(arg) {
                true => {
                    Refusal::Setting(anyhow::anyhow!("{shown} has a value that cannot be used. {}", reason(&error)))
                }
                false => Refusal::Usage(error),
            };
        }
        let name = arg.get_id().as_str();
        let flag = format!("--{}", arg.get_long().unwrap_or(name));
        let given = arguments.iter().filter_map(|argument| argument.to_str());
        let on_command_line = given
            .into_iter()
            .any(|text| text == flag || text.strip_prefix(&flag).is_some_and(|rest| rest.starts_with('=')));
        let source = match self.get(name) {
            Some((_, source)) if !on_command_line => source,
            Some(_) | None => flag,
        };
        let complaint = match error.get(ContextKind::InvalidValue) {
            Some(ContextValue::String(value)) if !SECRET.contains(&name) => format!("cannot be '{value}'"),
            Some(_) | None => "has a value that cannot be used".to_owned(),
        };
        let reason = reason(&error);
        Refusal::Setting(anyhow::anyhow!("The setting '{name}' {complaint} (from {source}). {reason}"))
    }
}

/// The next word of a text that is not in quotes, where clap looks for a subcommand.
fn word_too_many<'e>(command: &Command, arguments: &[OsString], error: &'e clap::Error) -> Option<&'e str> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let named = named_command(command, arguments);
    let has_text = named.get_positionals().next().is_some() && named.find_subcommand(word).is_none();
    (has_text && error.kind() == ErrorKind::ArgumentConflict).then_some(word.as_str())
}

/// Whether the wrong value of a setting without a flag stands on the command line.
fn is_typed(arg: &Arg, arguments: &[OsString], error: &clap::Error) -> bool {
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else { return false };
    arg.is_positional() && arguments.iter().any(|argument| argument == value.as_str())
}

fn reason(error: &clap::Error) -> String {
    if let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue)
        && !valid.is_empty()
    {
        return format!("Use one of: {}.", valid.join(", "));
    }
    match std::error::Error::source(error) {
        Some(cause) => cause.to_string(),
        None => "A value is missing.".to_owned(),
    }
}

/// The file named on the command line, found before the command line is parsed as a whole.
fn config_flag(command: Command, arguments: &[OsString]) -> Option<PathBuf> {
    let matches = command.ignore_errors(true).try_get_matches_from(arguments).ok()?;
    matches.get_one::<PathBuf>(CONFIG).cloned()
}

/// The command or subcommand that a wrong argument was given to: others may have an argument of the same name that is not a
/// setting.
fn named_command<'c>(command: &'c Command, arguments: &[OsString]) -> &'c Command {
    let matches = forgiving(command.clone()).try_get_matches_from(arguments).unwrap_or_default();
    let (mut named, mut matches) = (command, &matches);
    while let Some((name, below)) = matches.subcommand() {
        let Some(subcommand) = named.find_subcommand(name) else { break };
        (named, matches) = (subcommand, below);
    }
    named
}

/// A command that is built passes on no more to what is below it.
fn forgiving(command: Command) -> Command {
    command.ignore_errors(true).mut_subcommands(forgiving)
}

fn is_setting(arg: &Arg) -> bool {
    arg.get_help_heading() == Some(HEADING)
}

/// For arguments that are not settings. Secret settings are in a list of their own, because a database URL is secret as well.
fn is_secret(arg: &Arg) -> bool {
    arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "SECRET"))
}

fn all_arguments(command: &Command) -> Vec<&Arg> {
    command.get_arguments().chain(command.get_subcommands().flat_map(all_arguments)).collect()
}
