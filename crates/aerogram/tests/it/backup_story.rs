//! A backup beside a running server, and the service restored from it.

use std::os::unix::fs::PermissionsExt;

use crate::operator_story::{KEY, Story};
use crate::server::{Server, aerogram};

#[test]
fn a_running_service_is_backed_up_and_restored() {
    let story = Story::begin();
    story.says(&["segments", "common-models"]);
    let made = story.says(&["app", "create", "Second"]);
    assert!(made.contains("Second"), "{made}");
    let said = story.command(&["backup", "copy.db"]).output().unwrap();
    let remark = String::from_utf8(said.stderr).unwrap();
    assert!(said.status.success() && remark.contains("aerogram-data/secrets.key"), "{remark}");
    let copy = story.folder.path().join("copy.db");
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(story.refused(&["backup", "copy.db"]).contains("copy.db exists already"));
    // What came later is not in it.
    story.says(&["app", "create", "Third"]);

    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("aerogram-data");
    std::fs::create_dir(&data).unwrap();
    std::fs::rename(&copy, data.join("aerogram.db")).unwrap();
    for file in ["secrets.key", "operator-token"] {
        std::fs::copy(story.folder.path().join("aerogram-data").join(file), data.join(file)).unwrap();
    }
    let restored = Server::start(place.path(), &[]);
    let list = aerogram(place.path()).args(["app", "list", "--url", &restored.url]).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(list.contains(KEY) && list.contains("Second") && !list.contains("Third"), "{list}");
}

#[test]
fn other_databases_have_their_own_tools() {
    let folder = tempfile::tempdir().unwrap();
    let run = |database: &str| {
        let output = aerogram(folder.path()).args(["backup", "copy", "--database", database]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let complaint = run("postgres://ann:s3cret@127.0.0.1:1/mail");
    assert!(complaint.contains("pg_dump") && !complaint.contains("s3cret"), "{complaint}");
    let complaint = run("sqlite:absent.db");
    assert!(complaint.contains("there is no absent.db"), "{complaint}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
