//! An operator takes an installation from SQLite to PostgreSQL, through the commands.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use store::examine::{Examined, examine};
use store::{DatabaseUrl, Error, Store, Value};
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
    let DatabaseUrl::Postgres(to) = &home.url else { panic!("asked for PostgreSQL") };
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

/// An installation whose copy takes a moment.
async fn fill(folder: &Path) {
    stop(Server::start(folder, &APP));
    let path = folder.join("aerogram-data/aerogram.db");
    let store = Store::open(&DatabaseUrl::Sqlite(path)).await.unwrap();
    let sql = "insert into legacy_tag (app, tag) values (1, $1)";
    let rows = || (0..40_000).map(|n| [Value::Text(format!("a tag with the number {n:05}"))]);
    let filled: Result<u64, Error> = store.write(store::apps::OPERATOR, move |tx| tx.execute_many(sql, rows())).await;
    filled.unwrap();
    store.close().await;
}

fn begin_copy(folder: &Path, to: &str) -> Child {
    let mut command = aerogram(folder);
    command.args(["copy", "--from", FROM, "--start-over", "--yes"]).env("AEROGRAM_COPY_TO", to);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Whether a copy was begun in the database; no node may start on it then.
async fn is_begun(url: &DatabaseUrl) -> bool {
    match examine(url, None, |_| Ok(())).await {
        Ok((Examined::Empty, _)) => false,
        Ok(found) => panic!("a node would start on {found:?}"),
        Err(error) => {
            assert!(error.to_string().contains("run `aerogram copy` again"), "{error}");
            true
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_node_starts_on_the_target_of_a_copy_that_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path()).await;
    let target = folder.path().join("target.db");
    let (to, url) = (format!("sqlite:{}", target.display()), DatabaseUrl::Sqlite(target.clone()));
    let n_bytes = || {
        let files = ["target.db", "target.db-wal"].map(|name| std::fs::metadata(folder.path().join(name)));
        files.iter().flatten().map(std::fs::Metadata::len).sum::<u64>()
    };
    let mut n_begun = 0;
    for kib in [0, 1, 8, 32, 64, 128, 256, 512, 1024, 2048] {
        for file in ["target.db", "target.db-wal", "target.db-shm"] {
            drop(std::fs::remove_file(folder.path().join(file)));
        }
        let mut copying = begin_copy(folder.path(), &to);
        while n_bytes() < kib * 1024 || !target.exists() {
            assert_eq!(copying.try_wait().unwrap(), None, "it ends before it has copied {kib} KiB");
        }
        copying.kill().unwrap();
        copying.wait().unwrap();
        n_begun += u32::from(is_begun(&url).await);
    }
    assert!(n_begun >= 5, "{n_begun} copies had begun");
    let refused = aerogram(folder.path()).args(["serve", "--listen", "127.0.0.1:0", "--database", &to]).output();
    let refused = refused.unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && said.contains("run `aerogram copy` again with --start-over"), "{said}");
    // The next one ends well.
    assert!(begin_copy(folder.path(), &to).wait_with_output().unwrap().status.success());
    stop(Server::start(folder.path(), &["--database", &to, "--data", "aerogram-data"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_on_postgres() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (folder, home) = (tempfile::tempdir().unwrap(), Home::new(Database::Postgres));
    fill(folder.path()).await;
    let DatabaseUrl::Postgres(to) = &home.url else { panic!("asked for PostgreSQL") };
    // Killed after so many of the lines that say what was copied, each time into what the last one has left.
    for n_lines in 1..=4 {
        let mut copying = begin_copy(folder.path(), to);
        let remarks = BufReader::new(copying.stderr.take().unwrap()).lines();
        assert_eq!(remarks.take(n_lines).filter(Result::is_ok).count(), n_lines);
        copying.kill().unwrap();
        copying.wait().unwrap();
        assert!(is_begun(&home.url).await);
    }
    assert!(begin_copy(folder.path(), to).wait_with_output().unwrap().status.success());
    stop(Server::start(folder.path(), &["--database", to]));
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
