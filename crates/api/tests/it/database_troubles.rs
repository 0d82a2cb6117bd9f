//! A database that takes no changes, or is away: what the node says of itself meanwhile, and that it recovers.

use serde_json::json;
use store::{Error, Tx};
use testkit::app::{TestApp, on_each_database};
use testkit::store::{Database, databases};

use crate::logs::Log;

/// What PostgreSQL says when its disk is full, to whoever writes to these tables.
const FULL: [&str; 3] = [
    "create function full_disk() returns trigger language plpgsql as
     $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$",
    "create trigger full_disk before insert or update on app for each row execute function full_disk()",
    "create trigger full_disk before insert or update on document for each row execute function full_disk()",
];
const ROOMY: [&str; 3] =
    ["drop trigger full_disk on app", "drop trigger full_disk on document", "drop function full_disk()"];

/// Leaves the database no room to grow, or lets it grow again.
async fn set_full(app: &TestApp, is_full: bool) {
    let store = app.engine().store();
    let write = move |tx: &mut Tx<'_>| {
        let pages = if is_full { 1 } else { 1 << 30 };
        // A limit below what there is means that.
        tx.query(&format!("pragma max_page_count = {pages}"), &[], |_| Ok(()))?;
        Ok::<_, Error>(())
    };
    if store.is_single_process() {
        store.write(store::apps::OPERATOR, write).await.unwrap();
        return;
    }
    for sql in if is_full { FULL } else { ROOMY } {
        // It may share its transaction with a command that finds the disk full, and is undone with it.
        loop {
            let done: Result<u64, Error> = store.write(store::apps::OPERATOR, move |tx| tx.execute(sql, &[])).await;
            if !matches!(done, Err(Error::Unavailable(_))) {
                done.unwrap();
                break;
            }
        }
    }
}

async fn create_app(app: &TestApp) -> u16 {
    let new = json!({"name": "x".repeat(100), "mode": "development"});
    app.operator().post("/operator/apps", new).await.status.as_u16()
}

/// The value of a metric without labels, if it is shown.
async fn metric(app: &TestApp, name: &str) -> Option<i64> {
    let reply = app.operator().get("/metrics").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[tokio::test]
async fn a_node_whose_disk_is_full_is_not_ready_until_there_is_room() {
    on_each_database(async |app| {
        app.nobody().get("/ready").await.expect(200);
        assert_eq!(metric(&app, "aerogram_database_up").await, Some(1));
        assert!(metric(&app, "aerogram_database_bytes").await.unwrap() > 100_000);
        set_full(&app, true).await;
        let mut n_apps = 0;
        while create_app(&app).await == 201 {
            n_apps += 1;
            assert!(n_apps < 1000, "the database grew");
        }
        for _ in 0..2 {
            let unready = app.nobody().get("/ready").await;
            assert!(unready.expect(503)["error"].as_str().unwrap().contains("disk is full"), "{}", unready.text());
            assert_eq!(unready.header("retry-after"), Some("1"));
            assert_eq!(metric(&app, "aerogram_database_up").await, Some(0));
            // It can still be read.
            app.operator().get("/operator/apps").await.expect(200);
            assert!(metric(&app, "aerogram_jobs_overdue").await.is_some());
            // Trying whether there is room again needs room.
            app.engine().check_database().await;
        }
        set_full(&app, false).await;
        app.engine().check_database().await;
        app.nobody().get("/ready").await.expect(200);
        assert_eq!(metric(&app, "aerogram_database_up").await, Some(1));
        assert_eq!(create_app(&app).await, 201);
    })
    .await;
}

/// On SQLite the limit goes with the connection, so that this test is of the program there (`file_story` of `aerogram`).
#[tokio::test]
async fn a_node_that_starts_on_a_full_disk_is_not_ready() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let app = Box::pin(TestApp::on(Database::Postgres)).await;
    set_full(&app, true).await;
    let app = Box::pin(app.restart()).await;
    let unready = app.nobody().get("/ready").await;
    assert!(unready.expect(503)["error"].as_str().unwrap().contains("disk is full"), "{}", unready.text());
    set_full(&app, false).await;
    app.engine().check_database().await;
    app.nobody().get("/ready").await.expect(200);
}

#[tokio::test]
async fn what_the_process_counted_is_shown_without_the_database() {
    on_each_database(async |app| {
        let log = Log::begin();
        app.nobody().get("/health").await.expect(200);
        assert_eq!(metric(&app, "aerogram_jobs_overdue").await, Some(0));
        app.engine().store().clone().close().await;
        assert_eq!(metric(&app, "aerogram_database_up").await, Some(0));
        for stored in ["aerogram_jobs_overdue", "aerogram_jobs_overdue_seconds", "aerogram_database_bytes"] {
            assert_eq!(metric(&app, stored).await, None, "{stored}");
        }
        assert_eq!(metric(&app, "aerogram_jobs_running").await, Some(0));
        let metrics = app.operator().get("/metrics").await.text().to_owned();
        assert!(metrics.contains("aerogram_http_requests_total{method=\"GET\",route=\"/health\",status=\"200\"} 1"));
        app.nobody().get("/ready").await.expect(503);
        assert_eq!(log.saying("a request failed").len(), 0, "asking whether it is well is no failure");
    })
    .await;
}
