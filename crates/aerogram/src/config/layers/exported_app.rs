//! The app of commands about a thing of an app, such as `webhook show KEY WEBHOOK`: the exported one if no other is named.
//!
//! Clap cannot leave out a word before another that is required. So a command line is read once as it stands, and once more without
//! the key if what stands in its place has not the form of one. No id of ours has that form.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use crate::config::HEADING;

/// The setting that is the key of the app.
pub(super) const SETTING: &str = "app_key";
const FLAG: &str = "app-key";
/// How clap calls it where it has to be there.
const SHOWN: &str = "<KEY>";

/// Whether a command has words that are required behind the key of an app.
pub(super) fn leads(command: &Command) -> bool {
    command.get_positionals().any(is_key) && command.get_positionals().filter(|arg| arg.is_required_set()).count() > 1
}

/// Whether something stands where the key of an app has to, and has not its form.
pub(super) fn may_be_meant(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::ValueValidation && argument(error) == Some(SHOWN)
}

/// Whether a word does not fit where it stands when the key is left out: it was meant to stand behind a key, which is mistyped.
pub(super) fn has_misread_a_word(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::ArgumentConflict || argument(error).is_some_and(|shown| !shown.starts_with('-'))
}

/// The commands without the key before other words, as if it had been given as a flag.
pub(super) fn taken(command: Command, key: &str) -> Command {
    let leads = leads(&command);
    let given = |arg: Arg| {
        let is_given = leads && is_key(&arg);
        if is_given { arg.long(FLAG).required(false).default_value(key.to_owned()) } else { arg }
    };
    command.mut_args(given).mut_subcommands(|below| taken(below, key))
}

fn is_key(arg: &Arg) -> bool {
    arg.is_positional() && arg.get_id() == SETTING && arg.get_help_heading() == Some(HEADING)
}

/// The argument that is wrong, or the word that is one too many.
fn argument(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(shown) => Some(shown.as_str()),
        _ => None,
    }
}
