//! The script that makes a release, as far as it could do harm.

use std::path::Path;
use std::process::Command;

#[test]
fn a_folder_with_something_in_it_is_not_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("thesis.txt");
    std::fs::write(&kept, "all of it").unwrap();
    for argument in [folder.path(), kept.as_path()] {
        let output = command().arg(argument).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("is not an empty folder"), "{output:?}");
    }
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "all of it");
}

#[test]
fn a_folder_is_named_from_where_somebody_is() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    std::fs::write(folder.path().join("mine/thesis.txt"), "all of it").unwrap();
    let output = command().arg("mine").current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("mine is not an empty folder"), "{output:?}");
}

#[test]
fn a_release_elsewhere_deletes_no_other() {
    let target = tempfile::tempdir().unwrap();
    let other = target.path().join("release-files/aerogram.deb");
    std::fs::create_dir(other.parent().unwrap()).unwrap();
    std::fs::write(&other, "the one before").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    for (arguments, is_kept) in [(vec![elsewhere.path()], true), (vec![], false)] {
        let output = command().args(arguments).env("CARGO_TARGET_DIR", target.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(9), "{output:?}");
        assert_eq!(other.exists(), is_kept);
    }
}

/// The script, which ends where it would begin to build. It takes everything for committed.
fn command() -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/release"));
    // Functions that bash takes from the environment in place of the programs.
    command.env("BASH_FUNC_git%%", "() { :; }").env("BASH_FUNC_cargo%%", "() { return 9; }");
    command
}
