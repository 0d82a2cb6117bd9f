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

/// As it is by the service, see `start_story`.
#[test]
fn a_misspelled_variable_is_pointed_out_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let list = |more: &[&str]| {
        let mut command = aerogram(folder.path());
        command.args(["app", "list", "--operator-token", "0123456789abcdef", "--url", "http://127.0.0.1:1"]);
        stderr(&command.args(more).env("AEROGRAM_URI", "a-value-that-may-be-secret").output().unwrap())
    };
    let told = list(&[]);
    assert!(told.starts_with("aerogram: there is no setting AEROGRAM_URI: without effect"), "{told}");
    assert!(told.contains("No server answers") && !told.contains("a-value"), "{told}");
    // Nothing else stands beside an error for programs.
    let told: Value = serde_json::from_str(&list(&["--json"])).unwrap();
    assert_eq!(told["ok"], false);
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
fn what_is_no_id_is_told_with_the_way_to_find_it() {
    let folder = tempfile::tempdir().unwrap();
    let channel = "This is no id of a channel; `aerogram channel list --address ADDRESS` finds it by its address.";
    let push = "This is no id of a push; `aerogram pushes` shows the ids";
    for (wrong, told) in [
        (&["channel", "show", "nope"][..], channel),
        (&["channel", "uninstall", "nope"], channel),
        (&["user", "associate", "kim", "nope"], channel),
        (&["events", "list", "--push", "nope"], push),
        (&["events", "list", "--channel", "nope"], channel),
        (&["sandbox", "--push", "nope"], push),
        (&["privacy", "export", "--channel", "nope"], channel),
    ] {
        let output = aerogram(folder.path()).args(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(stderr(&output).contains(told), "{wrong:?}: {}", stderr(&output));
    }
}

#[test]
fn commands_that_ask_no_server_answer_in_json_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let told = |arguments: &[&str]| {
        let output = aerogram(folder.path()).args(arguments).arg("--json").output().unwrap();
        let said = if output.status.success() { &output.stdout } else { &output.stderr };
        // The log comes before it.
        let said = String::from_utf8_lossy(said);
        let last = said.lines().last().unwrap_or_default();
        let told: Value = serde_json::from_str(last).unwrap_or_else(|why| panic!("{why}: {output:?}"));
        (output.status.code(), told)
    };
    let refused = |arguments: &[&str]| {
        let (code, told) = told(arguments);
        assert!(code != Some(0) && told["ok"] == false, "{told}");
        told["error"].as_str().unwrap().to_owned()
    };
    assert!(refused(&["backup", "copy.db"]).contains("there is no"));
    let (from, to) = ("sqlite:aerogram-data/aerogram.db", "sqlite:other.db");
    assert!(refused(&["copy", "--from", from, "--to", from, "--start-over"]).contains("--yes"));
    assert!(refused(&["secrets", "accept"]).contains("--yes"));
    assert!(refused(&["sim", "--folder", "/dev/null"]).contains("/dev/null"));
    assert!(refused(&["migrate", "--database", "sqlite:/dev/null/aerogram.db"]).contains("/dev/null"));

    let migrated = told(&["migrate"]);
    assert_eq!((migrated.0, &migrated.1["ok"], &migrated.1["up_to_date"]), (Some(0), &true.into(), &true.into()));
    let copied = told(&["copy", "--from", from, "--to", to]);
    assert!(copied.0 == Some(0) && copied.1["rows"].as_u64() > Some(0), "{copied:?}");
    assert!(copied.1["tables"].as_array().unwrap().iter().any(|table| table["table"] == "job"), "{copied:?}");
    assert!(refused(&["secrets", "accept", "--yes"]).contains("belongs to no key"));
    let backup = told(&["backup", "copy.db"]);
    let n_bytes = std::fs::metadata(folder.path().join("copy.db")).unwrap().len();
    assert_eq!((backup.0, &backup.1["file"], &backup.1["bytes"]), (Some(0), &"copy.db".into(), &n_bytes.into()));
    let verified = told(&["privacy", "verify", "nobody@example.com"]);
    assert_eq!(verified, (Some(0), serde_json::json!({"ok": true, "found": []})));
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
