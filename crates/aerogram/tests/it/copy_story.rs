//! An operator takes an installation from SQLite to PostgreSQL, through the commands.

use testkit::store::{Database, Home, databases};

use crate::server::{Server, aerogram};

const APP: [&str; 6] = [
    "--app-key",
    "moved-app-key-00000001",
    "--app-secret",
    "moved-app-secret-00001",
    "--master-secret",
    "moved-master-secret-01",
];
const FROM: &str = "sqlite:./aerogram-data/aerogram.db";

fn stop(server: Server) {
    server.signal("TERM");
    assert_eq!(server.wait().0, Some(0));
}

#[test]
fn an_installation_is_copied_and_served_from_there() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (folder, home) = (tempfile::tempdir().unwrap(), Home::new(Database::Postgres));
    let store::DatabaseUrl::Postgres(to) = &home.url else { panic!("asked for PostgreSQL") };
    // The server of the tests asks for no password, but takes one.
    let to = to.replacen("aerogram@", "aerogram:hunter2@", 1);
    let copy = |arguments: &[&str]| {
        let mut command = aerogram(folder.path());
        command.args(["copy", "--from", FROM]).args(arguments).env("AEROGRAM_COPY_TO", &to);
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(!said.concat().contains("hunter2"), "{said:?}");
        (output.status.code(), said)
    };
    let server = Server::start(folder.path(), &APP);
    let (code, [_, refused]) = copy(&[]);
    assert_eq!(code, Some(1), "{refused}");
    assert!(refused.contains("in use by another aerogram process"), "{refused}");
    stop(server);

    let (code, [shown, remarks]) = copy(&[]);
    assert_eq!(code, Some(0), "{remarks}");
    assert!(shown.starts_with("TABLE ") && shown.lines().any(|line| line.starts_with("app ") && line.ends_with(" 1")));
    assert!(shown.contains("AEROGRAM_DATABASE") && shown.contains("secrets.key"), "{shown}");
    assert!(remarks.contains("app: 1 copied"), "{remarks}");

    let (code, [_, refused]) = copy(&[]);
    assert_eq!(code, Some(1), "{refused}");
    assert!(refused.contains(r#"the app "moved-app-key-00000001""#), "{refused}");
    let (code, [_, unsure]) = copy(&["--start-over"]);
    assert_eq!(code, Some(1), "{unsure}");
    assert!(unsure.contains("--yes"), "{unsure}");
    let (code, [_, remarks]) = copy(&["--start-over", "--yes"]);
    assert_eq!(code, Some(0), "{remarks}");

    // The token and the key in the data folder are still the right ones.
    let server = Server::start(folder.path(), &["--database", &to]);
    let list = aerogram(folder.path()).args(["app", "list", "--url", &server.url]).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    assert_eq!(list.lines().count(), 2, "{list}");
    assert!(list.contains("moved-app-key-00000001"), "{list}");
    stop(server);
}

#[test]
fn both_ends_have_to_be_named() {
    let folder = tempfile::tempdir().unwrap();
    let complaint = |arguments: &[&str]| {
        let output = aerogram(folder.path()).arg("copy").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(complaint(&["--to", FROM]).contains("AEROGRAM_COPY_FROM"));
    assert!(complaint(&["--from", FROM]).contains("AEROGRAM_COPY_TO"));
    let wrong = complaint(&["--from", FROM, "--to", "mysql://me:hunter2@host/db"]);
    assert!(wrong.contains("--to") && !wrong.contains("hunter2"), "{wrong}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made");
}
