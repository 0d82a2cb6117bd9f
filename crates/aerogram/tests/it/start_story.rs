//! What a start makes, and what it refuses to go on with.

use serde_json::{Value, json};

use crate::operator_story::Story;
use crate::server::{Server, aerogram};
use crate::terminal::Terminal;

#[test]
fn the_first_start_writes_credentials_down_once_and_sigterm_ends_in_order() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    server.signal("TERM");
    let (code, shown, log) = server.wait();
    assert_eq!(code, Some(0), "{log}");
    // Standard output is no terminal here, as it is not under a service manager.
    assert!(shown.contains("aerogram-data/first-app.env"), "{shown}");
    let path = folder.path().join("aerogram-data/first-app.env");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("export AEROGRAM_URL=http://127.0.0.1:"), "{written}");
    for name in ["AEROGRAM_APP_KEY=", "AEROGRAM_APP_SECRET=", "AEROGRAM_MASTER_SECRET="] {
        let value = written.split(name).nth(1).and_then(|rest| rest.lines().next()).unwrap();
        assert_eq!(value.len(), 22, "{written}");
        assert!(!shown.contains(value), "{shown}");
        assert!(name == "AEROGRAM_APP_KEY=" || !log.contains(value), "{log}");
    }
    assert!(log.contains("\"stopped\""), "{log}");
    assert_eq!(log.matches("the tables of a new database were made").count(), 1, "{log}");
    assert!(!log.contains("brought up to date"), "{log}");

    let server = Server::start(folder.path(), &[]);
    server.signal("INT");
    let (code, shown, log) = server.wait();
    assert_eq!((code, shown.as_str()), (Some(0), ""), "{log}");
}

#[test]
fn the_link_to_open_first_is_shown_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = aerogram(folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    let mut terminal = Terminal::start(command);
    // In the last lines of the frame.
    terminal.wait_for("\"Hello\"");
    let shown = terminal.stop();
    let (console, demo) = (shown.find("/console/start?code=").unwrap(), shown.find("/demo#").unwrap());
    assert!(console < demo, "{shown}");
}

/// Every connection is an open file, and many systems allow a program 1,024 of them unless it asks for more.
#[test]
fn a_start_raises_the_limit_of_open_files_to_the_most_there_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with_few_files(folder.path());
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.process())).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let (soft, hard) = line.trim().split_once(' ').unwrap();
    assert_eq!(Some(soft), hard.split_whitespace().next(), "{limits}");
    assert_ne!(soft, "256");
    server.signal("TERM");
}

#[test]
fn the_atlas_is_read_at_the_start_of_a_server_whose_devices_tell_where_they_are() {
    const READ: &str = "the atlas of places is in memory";
    let story = Story::begin();
    let device = json!({"device_type": "ios", "push_address": "ab".repeat(32),
        "location": {"latitude": 45.52, "longitude": -122.68}});
    std::fs::write(story.folder.path().join("devices.jsonl"), device.to_string()).unwrap();
    story.says(&["import", "jsonl", "devices.jsonl"]);
    let found: Value =
        serde_json::from_str(&story.says(&["api", "GET", "/api/location/?q=Portland&type=city"])).unwrap();
    assert!(!found["features"].as_array().unwrap().is_empty(), "{found}");
    let Story { folder, server } = story;
    server.signal("TERM");
    let (_, _, log) = server.wait();
    assert!(!log.contains(READ), "nobody had told of places when it was started: {log}");

    let server = Server::start_and_hear(folder.path(), READ);
    server.signal("TERM");
    let (code, _, log) = server.wait();
    assert_eq!(code, Some(0), "{log}");
    assert!(!log.contains("/api/location"), "{log}");
}

#[test]
fn without_the_key_of_the_database_nothing_starts() {
    let folder = tempfile::tempdir().unwrap();
    let stop = |server: Server| {
        server.signal("TERM");
        assert_eq!(server.wait().0, Some(0));
    };
    stop(Server::start(folder.path(), &[]));
    let path = folder.path().join("aerogram-data/secrets.key");
    let key = std::fs::read_to_string(&path).unwrap();
    let run = |arguments: &[&str]| {
        let output = aerogram(folder.path()).args(arguments).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), said)
    };
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    std::fs::remove_file(&path).unwrap();
    let (code, missing) = run(&serve);
    assert_eq!(code, Some(1), "{missing}");
    assert!(missing.contains("There is no ") && missing.contains("AEROGRAM_SECRETS_KEY"), "{missing}");
    assert!(!path.exists(), "no other key is made");
    stop(Server::start(folder.path(), &["--secrets-key", key.trim()]));
    assert!(!path.exists());

    let other = "A".repeat(43);
    std::fs::write(&path, &other).unwrap();
    let (code, wrong) = run(&serve);
    assert_eq!(code, Some(1), "{wrong}");
    assert!(wrong.contains("another secrets key") && wrong.contains("aerogram secrets accept"), "{wrong}");
    assert!(!wrong.contains(&other), "{wrong}");
    let (code, unsure) = run(&["secrets", "accept"]);
    assert_eq!(code, Some(1), "{unsure}");
    assert!(unsure.contains("--yes"), "{unsure}");
    let (code, accepted) = run(&["secrets", "accept", "--yes"]);
    assert_eq!(code, Some(0), "{accepted}");
    assert!(
        accepted.contains("a new key pair for web push") && accepted.contains("aerogram-data/secrets.key"),
        "{accepted}"
    );
    stop(Server::start(folder.path(), &[]));
    assert_eq!(run(&[&serve[..], &["--secrets-key", key.trim()]].concat()).0, Some(1));
}

#[test]
fn what_keeps_it_from_starting_is_said_once_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let serve = |arguments: &[&str]| {
        let output = aerogram(folder.path()).arg("serve").args(arguments).output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        said.lines().rfind(|line| line.starts_with("aerogram: ")).unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let said = serve(&["--listen", &taken.local_addr().unwrap().to_string()]);
    assert!(said.contains("choose another with --listen"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it has made nothing");
    let said = serve(&["--listen", "localhost:1"]);
    assert!(said.contains("a name such as localhost is none"), "{said}");
    std::fs::write(folder.path().join("text.db"), "not a database at all, but long enough to be looked at".repeat(100))
        .unwrap();
    let said = serve(&["--listen", "127.0.0.1:0", "--database", "sqlite:text.db"]);
    assert_eq!(said.matches("file is not a database").count(), 1, "{said}");
    let said = serve(&["--database", "/var/text.db"]);
    assert!(said.contains("\"sqlite:/var/text.db\""), "{said}");
}

#[test]
fn a_misspelled_variable_is_pointed_out() {
    let folder = tempfile::tempdir().unwrap();
    // A folder is no database, so that the start ends by itself.
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let output = aerogram(folder.path())
        .args(["serve", "--listen", "127.0.0.1:0", "--database", "sqlite:folder"])
        .env("AEROGRAM_EVNT_DAYS", "a-value-that-may-be-secret")
        .env("AEROGRAM_LISTN", "a-value-too")
        .env("AEROGRAM_LOG", "json")
        .output();
    let log = String::from_utf8(output.unwrap().stderr).unwrap();
    assert_eq!(log.matches("there is no setting").count(), 1, "{log}");
    assert!(
        log.contains("there is no setting AEROGRAM_EVNT_DAYS, no AEROGRAM_LISTN:") && !log.contains("a-value"),
        "{log}"
    );
}

#[test]
fn the_log_has_colors_on_a_terminal_unless_nobody_wants_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let shown = |no_color: &str| {
        let mut command = aerogram(folder.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--database", "sqlite:folder"]);
        command.env("AEROGRAM_EVNT_DAYS", "9").env("NO_COLOR", no_color);
        Terminal::start(command).end().1
    };
    let (colored, plain) = (shown(""), shown("1"));
    assert!(colored.contains("there is no setting") && colored.contains("\u{1b}["), "{colored}");
    assert!(plain.contains("there is no setting") && !plain.contains('\u{1b}'), "{plain}");
}

#[test]
fn credentials_exported_for_commands_do_not_stop_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = aerogram(folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "json"]);
    command.env("AEROGRAM_APP_KEY", "k".repeat(22)).env("AEROGRAM_MASTER_SECRET", "SECRETSECRETSECRETSECR");
    let server = Server::start_command(command);
    server.signal("TERM");
    let (code, _, log) = server.wait();
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(log.matches("credentials of an app for commands").count(), 1, "{log}");
    assert!(!log.contains("SECRETSECRET"), "{log}");
}

#[test]
fn an_app_in_production_is_told_that_its_links_lead_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let log_of = |arguments: &[&str], also: &dyn Fn(&str)| {
        let server = Server::start(folder.path(), arguments);
        also(&server.url);
        server.signal("TERM");
        server.wait().2
    };
    let create = |url: &str| {
        let create = ["app", "create", "Shop", "--mode", "production", "--url", url];
        assert!(aerogram(folder.path()).args(create).output().unwrap().status.success());
    };
    let warning = "set AEROGRAM_PUBLIC_URL";
    // Whoever tries things out on one machine needs no other address.
    let log = log_of(&[], &create);
    assert!(!log.contains(warning), "{log}");
    let log = log_of(&[], &|_| {});
    assert!(log.contains(warning), "{log}");
    let log = log_of(&["--public-url", "https://push.example.com"], &|_| {});
    assert!(!log.contains(warning), "{log}");
}
