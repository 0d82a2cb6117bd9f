//! A person asks for everything that is stored about them, and then to be erased: the commands of the operator who does it,
//! against a running server on each database.

use std::time::{Duration, Instant};

use serde_json::json;
use store::{DatabaseUrl, Error, Store, Tx};
use tenancy::OPERATOR;
use testkit::client::Caller;
use testkit::postgres::cluster;
use testkit::store::{Database, databases};

use crate::operator_story::{APP_SECRET, KEY, MASTER_SECRET, Story};
use crate::server::Server;

const USER: &str = "ann.tanner@example.com";
const TOKEN: &str = "FE66489F304DC75B8D6E8200DFF8A456E8DAEACEC428B427E9518741C92C6660";
/// So long a job of the server may take at most.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn a_person_is_exported_erased_and_looked_for() {
    for database in databases() {
        let url = match database {
            Database::Sqlite => "sqlite:./aerogram-data/aerogram.db".to_owned(),
            Database::Postgres => cluster().fresh_database(),
        };
        Box::pin(tell(Story::begin_with(&["--database", &url]), &url)).await;
    }
}

async fn tell(story: Story, url: &str) {
    let channel = meet(&story).await;
    let names = [USER, TOKEN, channel.as_str()];
    let verify = [&["privacy", "verify", "--database", url], names.as_slice()].concat();
    let found = story.command(&verify).output().unwrap();
    assert_eq!(found.status.code(), Some(1), "{}", String::from_utf8_lossy(&found.stderr));
    let found = String::from_utf8(found.stdout).unwrap();
    for name in names {
        assert!(found.contains(&format!("{name} is in ")), "{name}: {found}");
    }

    let printed = story.says(&["privacy", "export", "--named-user", USER]);
    story.says(&["privacy", "export", "--channel", &channel, "--output", "channel.ndjson"]);
    let written = std::fs::read_to_string(story.folder.path().join("channel.ndjson")).unwrap();
    for export in [&printed, &written] {
        assert!(export.contains(TOKEN) && export.contains(&channel), "{export}");
        assert!(export.lines().all(|line| line.starts_with("{\"")), "{export}");
    }

    assert!(story.refused(&["privacy", "erase", "--named-user", USER]).contains("add --yes if that is meant"));
    let id = story.says(&["privacy", "erase", "--named-user", USER, "--yes"]).trim().to_owned();
    assert!(story.says(&["privacy", "show", &id]).starts_with("erase  running"));
    let story = five_minutes_later(story, url).await;
    let receipt = wait_for_the_end(&story, &id);
    for line in ["channel  1 deleted", "named_user  1 deleted", "privacy_request  2 deleted"] {
        assert!(receipt.contains(line), "{line}: {receipt}");
    }
    let clean = story.says(&verify);
    assert!(clean.starts_with("Nothing of it is in "), "{clean}");
    assert!(story.refused(&["user", "show", USER]).contains("There is no such named user."));
    // Who asked for it stays known, and not for whom.
    let asked = story.says(&["audit", "--app", KEY]);
    assert!(asked.contains("privacy.export") && asked.contains("privacy.erase"), "{asked}");
    let asked = story.json(&["audit", "--action", "privacy.erase"]);
    assert_eq!(asked["entries"].as_array().unwrap().len(), 1, "{asked}");
    assert!(asked["entries"][0]["credential"].as_str().unwrap().starts_with("master secret "), "{asked}");
    assert!(names.iter().all(|name| !asked.to_string().contains(name)), "{asked}");
}

/// A person with a device, an event and a push. Returns the channel.
async fn meet(story: &Story) -> String {
    let device = Caller::new(story.server.url.clone()).basic(KEY, APP_SECRET);
    let body = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": TOKEN}});
    let channel = device.post("/api/channels", body).await.expect(201)["channel_id"].as_str().unwrap().to_owned();
    let server = Caller::new(story.server.url.clone()).basic(KEY, MASTER_SECRET);
    let association = json!({"channel_id": channel, "named_user_id": USER});
    server.post("/api/named_users/associate", association).await.expect(200);
    let event = json!({"user": {"named_user_id": USER}, "body": {"name": "called", "properties": {"by": TOKEN}}});
    server.post("/api/custom-events", event).await.expect(200);
    let push = json!({"audience": {"named_user": USER}, "device_types": "all", "notification": {"alert": USER}});
    server.post("/api/push", push).await.expect(200);
    channel
}

/// Lets the time pass that an erasure waits for work under way. Only the job's row knows of it, so it is made due while the
/// server is stopped, once everything was gone through for the first time.
async fn five_minutes_later(mut story: Story, url: &str) -> Story {
    let begun = Instant::now();
    loop {
        let Story { folder, server } = story;
        server.signal("TERM");
        assert_eq!(server.wait().0, Some(0));
        let is_due = make_due(folder.path(), url).await;
        let server = Server::start(folder.path(), &["--database", url]);
        story = Story { folder, server };
        if is_due {
            return story;
        }
        assert!(begun.elapsed() < PATIENCE, "the tables are never gone through");
    }
}

async fn make_due(folder: &std::path::Path, url: &str) -> bool {
    let url = match url.strip_prefix("sqlite:") {
        Some(file) => format!("sqlite:{}", folder.join(file).display()),
        None => url.to_owned(),
    };
    let store = Store::open(&url.parse::<DatabaseUrl>().unwrap()).await.unwrap_or_else(|error| panic!("{error}"));
    let write = |tx: &mut Tx<'_>| {
        let sql = "select count(*) from privacy_request where progress like '%erase_late%'";
        let is_waiting = tx.query_one::<i64>(sql, &[], |row| row.get(0))? > 0;
        tx.execute("update job set due = 0 where kind = 'erase_person'", &[])?;
        Ok::<_, Error>(is_waiting)
    };
    let is_waiting = store.write(OPERATOR, write).await.unwrap_or_else(|error| panic!("{error}"));
    store.close().await;
    is_waiting
}

fn wait_for_the_end(story: &Story, id: &str) -> String {
    let begun = Instant::now();
    loop {
        let shown = story.says(&["privacy", "show", id]);
        if shown.starts_with("erase  done") {
            return shown;
        }
        assert!(begun.elapsed() < PATIENCE, "{shown}");
    }
}
