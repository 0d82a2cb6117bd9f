//! The program from outside: exit codes, and complaints a person can act on.

use std::process::Output;

use serde_json::Value;

use crate::server::aerogram;

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_settings_file_of_the_working_folder_is_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("aerogram.toml"), "\nlistenn = \"x\"\n").unwrap();
    let output = aerogram(folder.path()).arg("serve").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let complaint = stderr(&output);
    assert!(
        complaint.starts_with("aerogram: aerogram.toml line 2: there is no setting named 'listenn'"),
        "{complaint}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is made before the settings are right");
}

#[test]
fn a_variable_of_the_environment_is_named_when_it_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let output = aerogram(folder.path()).env("AEROGRAM_LISTEN", "8080").arg("serve").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let complaint = stderr(&output);
    assert!(complaint.contains("'listen' cannot be '8080' (from AEROGRAM_LISTEN)"), "{complaint}");
}

#[test]
fn half_of_the_first_app_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let output = aerogram(folder.path()).args(["serve", "--app-key", "abcdefghijklmnopqrstuv"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let complaint = stderr(&output);
    assert!(complaint.contains("app_secret and master_secret is not set"), "{complaint}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn commands_say_what_they_miss() {
    let folder = tempfile::tempdir().unwrap();
    let no_token = aerogram(folder.path()).args(["app", "list"]).output().unwrap();
    assert_eq!(no_token.status.code(), Some(1));
    assert!(stderr(&no_token).contains("set AEROGRAM_OPERATOR_TOKEN"), "{}", stderr(&no_token));

    let no_app = aerogram(folder.path()).args(["push", "hello", "--audience", "all", "--yes"]).output().unwrap();
    assert!(stderr(&no_app).contains("--app-key or AEROGRAM_APP_KEY"), "{}", stderr(&no_app));

    // Port 1 of the own machine: nobody listens there.
    let away = ["app", "list", "--url", "http://127.0.0.1:1", "--operator-token", "0123456789abcdef"];
    let no_server = aerogram(folder.path()).args(away).output().unwrap();
    assert_eq!(no_server.status.code(), Some(1));
    assert!(stderr(&no_server).contains("No server answers at http://127.0.0.1:1"), "{}", stderr(&no_server));
}

#[test]
fn a_command_line_that_is_wrong_is_told_in_json_to_those_who_read_json() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| aerogram(folder.path()).args(arguments).output().unwrap();
    for wrong in [&["push", "--json"][..], &["push", "Hello", "--audiance", "all", "--json"], &["pussh", "--json"]] {
        let output = run(wrong);
        assert_eq!(output.status.code(), Some(2));
        let told: Value = serde_json::from_str(&stderr(&output)).unwrap_or_else(|why| panic!("{why}: {output:?}"));
        let text = told["error"].as_str().unwrap();
        assert!(told["ok"] == false && !text.starts_with("error") && !text.contains('\u{1b}'), "{told}");
        assert_eq!(run(&wrong[..wrong.len() - 1]).status.code(), Some(2));
    }
    let help = run(&["push", "--json", "--help"]);
    assert!(help.status.success() && String::from_utf8(help.stdout).unwrap().contains("Usage: aerogram push"));
}

#[test]
fn commands_look_for_the_server_where_the_settings_let_it_listen() {
    let folder = tempfile::tempdir().unwrap();
    // Port 1 again.
    std::fs::write(folder.path().join("aerogram.toml"), "listen = \"0.0.0.0:1\"\n").unwrap();
    let list = |more: &[&str]| {
        let command = ["app", "list", "--operator-token", "0123456789abcdef"];
        let output = aerogram(folder.path()).args([&command, more].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        stderr(&output)
    };
    let nobody = list(&[]);
    assert!(nobody.contains("No server answers at http://127.0.0.1:1"), "{nobody}");
    let named = list(&["--url", "http://127.0.0.1:2"]);
    assert!(named.contains("No server answers at http://127.0.0.1:2"), "{named}");
    let help = aerogram(folder.path()).args(["app", "list", "--help"]).output().unwrap();
    assert!(!String::from_utf8(help.stdout).unwrap().contains("--listen"));
}

#[test]
fn deleting_an_app_needs_confirmation() {
    let folder = tempfile::tempdir().unwrap();
    let delete = ["app", "delete", "abcdefghijklmnopqrstuv", "--operator-token", "0123456789abcdef"];
    let output = aerogram(folder.path()).args(delete).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--yes"), "{}", stderr(&output));
}
