//! A node on PostgreSQL by a URL with several hosts, and what the commands say of it.

use rustix::system::uname;
use serde_json::Value;
use testkit::postgres::cluster;
use testkit::store::{Database, databases};

use crate::server::{Server, aerogram};

#[test]
fn a_url_with_several_hosts_is_migrated_served_and_looked_at() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let url = cluster().fresh_database().replacen('@', ":hunter2@%2Fnowhere,", 1) + "&target_session_attrs=read-write";
    let doctor = |server: &str| {
        let output = aerogram(folder.path()).args(["doctor", "--url", server, "--database", &url]).output().unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(!report.contains("hunter2"), "{report}");
        report.lines().find(|line| line.contains(" database ")).unwrap_or_else(|| panic!("{report}")).to_owned()
    };
    let before = doctor("http://127.0.0.1:1");
    assert!(before.starts_with("note") && before.contains("is empty"), "{before}");
    let migrated = aerogram(folder.path()).args(["migrate", "--database", &url]).output().unwrap();
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    let said = String::from_utf8(migrated.stdout).unwrap();
    assert!(said.starts_with("postgres://aerogram@/nowhere:5432,") && said.contains("is up to date."), "{said}");

    let server = Server::start(folder.path(), &["--database", &url, "--database-connections", "3"]);
    let fine = doctor(&server.url);
    assert!(
        fine.starts_with("ok ")
            && fine.contains("the secrets key fits")
            && fine.contains("connections in use, answers in "),
        "{fine}"
    );
    server.signal("TERM");
    assert_eq!(server.wait().0, Some(0));

    let standby = "postgres://a,b/c?target_session_attrs=standby";
    let refused = aerogram(folder.path()).args(["migrate", "--database", standby]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let complaint = String::from_utf8(refused.stderr).unwrap();
    assert!(complaint.contains("the service needs a server that takes changes"), "{complaint}");
}

#[test]
fn the_doctor_tells_a_server_that_refuses_us_from_one_that_is_away() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let doctor = |url: &str| {
        let away = ["doctor", "--url", "http://127.0.0.1:1", "--database", url];
        let output = aerogram(folder.path()).args(away).output().unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(!report.contains("hunter2"), "{report}");
        report.lines().find(|line| line.contains(" database ")).unwrap_or_else(|| panic!("{report}")).to_owned()
    };
    let stranger = cluster().fresh_database().replacen("aerogram@", "stranger:hunter2@", 1);
    let refused = doctor(&stranger);
    assert!(refused.starts_with("FAIL") && refused.contains("stranger") && !refused.contains("not asked"), "{refused}");
    let refused = doctor(&stranger.replacen('@', "@%2Fnowhere,", 1));
    assert!(refused.starts_with("FAIL") && refused.contains("no host of the database URL"), "{refused}");
    let away = doctor("postgres://aerogram:hunter2@%2Fnowhere/aerogram");
    assert!(away.starts_with("note") && away.contains("was not asked"), "{away}");
}

#[test]
fn commands_that_open_the_database_trust_the_authorities_of_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let url = "postgres://aerogram@localhost:1/aerogram?sslmode=verify-full";
    // The file is read before the server is asked, so that none is needed here.
    for arguments in [
        &["migrate", "--database", url][..],
        &["secrets", "accept", "--yes", "--database", url],
        &["copy", "--from", url, "--to", "sqlite:new.db"],
        &["privacy", "verify", "kim", "--database", url],
    ] {
        let refused = aerogram(folder.path()).args(arguments).args(["--ca-file", "nowhere.pem"]).output().unwrap();
        let complaint = String::from_utf8(refused.stderr).unwrap();
        assert!(
            !refused.status.success() && complaint.contains("ca_file: nowhere.pem cannot"),
            "{arguments:?} {complaint}"
        );
    }
}

#[test]
fn a_node_with_another_operator_token_says_so() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (url, key) = (cluster().fresh_database(), "A".repeat(43));
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let start = |number: usize, token: &str| {
        let arguments = ["--database", &url, "--secrets-key", &key, "--operator-token", token];
        Server::start(folders[number].path(), &arguments)
    };
    let first = start(0, "the-token-of-all-nodes");
    let same = start(1, "the-token-of-all-nodes");
    same.signal("TERM");
    let (_, _, log) = same.wait();
    assert!(!log.contains("node.operator_token"), "{log}");
    let other = start(1, "the-token-of-this-node");
    let token = ["--operator-token", "the-token-of-this-node"];
    let doctor = ["doctor", "--url", &other.url, "--database", &url, "--secrets-key", &key];
    let report = aerogram(folders[1].path()).args(doctor).args(token).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("FAIL  nodes     Nodes have different operator tokens"), "{report}");
    other.signal("TERM");
    let (_, _, log) = other.wait();
    let line = line_of(&log, "\"node.operator_token\"");
    assert!(line.contains("AEROGRAM_OPERATOR_TOKEN") && !line.contains("the-token-of"), "{line}");
    first.signal("TERM");
    let (code, _, log) = first.wait();
    assert_eq!(code, Some(0));
    // The line names the other node, as that one does at its start: by default after its machine.
    let (told, serving) = (parsed(line), parsed(line_of(&log, "\"serving\"")));
    for key in ["node", "name"] {
        assert!(told[key].is_string() && told[key] == serving[key], "{key}: {told} {serving}");
    }
    assert_eq!(told["name"], uname().nodename().to_str().unwrap());
    assert_eq!(told["address"], serving["listen"]);
}

fn line_of<'l>(log: &'l str, words: &str) -> &'l str {
    log.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{log}"))
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}
