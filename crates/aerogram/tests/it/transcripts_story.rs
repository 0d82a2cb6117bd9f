//! Everyday stories of the command line, played on a terminal and in a pipe, and compared with the files in `transcripts`, which
//! are written to be read. `UPDATE_TRANSCRIPTS=1 cargo test -p aerogram --test it transcripts` writes them anew.

mod play;
mod screen;
mod script;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use play::Scene;
use script::Script;
use tokio::runtime::Runtime;

const FEWEST: usize = 10;

#[test]
fn the_stories_go_as_they_are_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/transcripts");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut stories: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    stories.sort();
    assert!(stories.len() >= FEWEST, "{stories:?}");
    let runtime = Runtime::new().unwrap();
    let wrong: Vec<String> = stories.iter().filter_map(|path| told_otherwise(path, &runtime)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What differs in a story from its file.
fn told_otherwise(path: &Path, runtime: &Runtime) -> Option<String> {
    let kept = fs::read_to_string(path).unwrap();
    let mut script = Script::read(&kept);
    let (mut terminal, mut pipe) = (Scene::new(runtime), Scene::new(runtime));
    for step in script.steps() {
        step.on_terminal = terminal.play_on_terminal(step);
        step.in_pipe = pipe.play_in_pipe(step);
    }
    let told = script.to_string();
    #[expect(clippy::disallowed_methods, reason = "a switch of the test suite, not a setting of the service")]
    if std::env::var_os("UPDATE_TRANSCRIPTS").is_some() {
        fs::write(path, &told).unwrap();
        return None;
    }
    let differs = |(kept, told): &(&str, &str)| kept != told;
    let (kept_lines, told_lines) = (kept.lines().chain([""]), told.lines().chain([""]));
    let first = kept_lines.zip(told_lines).find(differs);
    first.map(|(kept, told)| format!("{}:\n  is told: {kept}\n  happens: {told}", path.display()))
}
