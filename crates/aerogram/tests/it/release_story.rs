//! The script that makes a release: what it leaves alone, and what it makes of a program that was built already.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const COMMIT: &str = "0123456789ab";
/// When that was made.
const MOMENT: &str = "1700000000";

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

/// What is published can be installed, and be compared with its checksums by those who fetch it.
#[test]
fn a_release_has_everything_and_its_checksums() {
    let tools = ["dpkg-deb --version", "strip --version", "sha256sum --version", "python3 --version"];
    if let Some(missing) = tools.iter().find(|tool| !shell(Path::new("/"), tool).status().unwrap().success()) {
        println!("not tried: there is no {missing}");
        return;
    }
    let (target, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = place.path().join("release");
    // The program that the tests have built takes the place of a release build.
    let built = format!(
        "() {{ case $1 in build) install -D '{}' \"$CARGO_TARGET_DIR/release/aerogram\" ;; *) command cargo \"$@\" ;; esac; }}",
        env!("CARGO_BIN_EXE_aerogram")
    );
    let git = format!("() {{ case $1 in log) echo {MOMENT} ;; rev-parse) echo {COMMIT} ;; esac; }}");
    let mut release = command();
    release.arg(&folder).env("CARGO_TARGET_DIR", target.path());
    release.env("BASH_FUNC_cargo%%", built).env("BASH_FUNC_git%%", git);
    // Tests need no small package.
    release.env("DPKG_DEB_COMPRESSOR_TYPE", "gzip").env("DPKG_DEB_COMPRESSOR_LEVEL", "1");
    let output = release.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let files: BTreeSet<String> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let package = files.iter().find(|file| file.ends_with(".deb")).unwrap_or_else(|| panic!("{files:?}")).clone();
    let version = env!("CARGO_PKG_VERSION");
    assert!(package.starts_with(&format!("aerogram_{version}+{COMMIT}_")), "{package}");
    assert_eq!(files, ["SHA256SUMS", "aerogram", "aerogram.cdx.json", &package].map(str::to_owned).into());
    let says = |line: &str| {
        let output = shell(&folder, line).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };

    let sums = std::fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    let named: BTreeSet<&str> = sums.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(named, BTreeSet::from(["aerogram", "aerogram.cdx.json", &package]));
    says("sha256sum --check --strict SHA256SUMS");
    assert_eq!(says("./aerogram --version").trim(), format!("aerogram {version}"));
    says(&format!("dpkg-deb --extract '{package}' unpacked && cmp unpacked/usr/bin/aerogram aerogram"));
    for file in ["lib/systemd/system/aerogram.service", "usr/share/man/man1/aerogram-push.1.gz"] {
        assert!(folder.join("unpacked").join(file).is_file(), "{file}");
    }
    let bill: Value = serde_json::from_slice(&std::fs::read(folder.join("aerogram.cdx.json")).unwrap()).unwrap();
    assert_eq!(
        (&bill["bomFormat"], &bill["metadata"]["timestamp"]),
        (&"CycloneDX".into(), &"2023-11-14T22:13:20Z".into())
    );
    assert!(bill["components"].as_array().unwrap().iter().any(|component| component["name"] == "tokio"));

    std::fs::write(folder.join("aerogram"), "another program").unwrap();
    assert!(!shell(&folder, "sha256sum --check --status SHA256SUMS").status().unwrap().success());
}

fn shell(folder: &Path, line: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", line]).current_dir(folder).stderr(std::process::Stdio::piped());
    shell
}

/// The script, which ends where it would begin to build. It takes everything for committed.
fn command() -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/release"));
    // Functions that bash takes from the environment in place of the programs.
    command.env("BASH_FUNC_git%%", "() { :; }").env("BASH_FUNC_cargo%%", "() { return 9; }");
    command
}
