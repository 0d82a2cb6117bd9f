//! Commands that come while a batch waits for an app that another node is changing: they join it.

use model::ids::AppId;
use store::{DatabaseUrl, Error, PostgresSettings, Store, Tx, Value};
use testkit::postgres::cluster;
use testkit::store::{Database, databases};
use tokio::task::JoinSet;

use crate::time_limits::while_locked;
use crate::{Refusal, execute, ids, make_apps};

const APP: AppId = AppId(1);
const OTHER_APP: AppId = AppId(2);
const LOCK: &[&str] = &["update app_numbers set log_head = log_head where app = 1"];

/// Asks something first, as nearly all commands do, and then writes.
fn insert(tx: &mut Tx<'_>, id: i64) -> Result<(), Refusal> {
    let there = tx.query("select id from item where id = $1", &[Value::Int(id)], |row| row.get::<i64>(0))?;
    assert_eq!(there, [0_i64; 0]);
    tx.write("insert into item (id) values ($1)", &[Value::Int(id)])?;
    if id < 0 { Err(Refusal::Declined) } else { Ok(()) }
}

async fn until_a_node_waits(administrator: &Store) {
    let sql = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    loop {
        let n_waiting: Result<Vec<i64>, Error> = administrator.read(|tx| tx.query(sql, &[], |row| row.get(0))).await;
        if n_waiting.unwrap() == [1] {
            break;
        }
    }
}

/// Runs the first command, which has to wait, and the others while it does. Returns the answers in order, and the number of
/// commits.
async fn run_while_locked(
    node: &Store,
    administrator: &Store,
    commands: &[(AppId, i64)],
) -> (Vec<Result<(), Refusal>>, u64) {
    let before = node.commits();
    let mut callers = JoinSet::new();
    while_locked(administrator, LOCK, async {
        for (n, (app, id)) in commands.iter().copied().enumerate() {
            let node = node.clone();
            callers.spawn(async move { (n, node.write(app, move |tx| insert(tx, id)).await) });
            if n == 0 {
                until_a_node_waits(administrator).await;
            }
        }
        // The tasks run on this thread: each of them queues its command.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let mut answers = callers.join_all().await;
    answers.sort_by_key(|(n, _)| *n);
    (answers.into_iter().map(|(_, answer)| answer).collect(), node.commits() - before)
}

#[tokio::test]
async fn commands_join_a_batch_that_waits_for_its_app() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let url = DatabaseUrl::parse(&cluster().fresh_database()).unwrap();
    let node = Store::open_with(&url, None, PostgresSettings::least()).await.unwrap();
    let administrator = Store::open_with(&url, None, PostgresSettings::least()).await.unwrap();
    make_apps(&node).await;
    execute(&node, "create table item (id bigint primary key)").await;

    let (answers, n_commits) = run_while_locked(&node, &administrator, &[(APP, 1), (APP, 2), (APP, 3), (APP, 4)]).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(n_commits, 1, "all of them share the transaction that the first began");

    // One that fails is undone alone, and the app of another would have to be waited for: it has the next transaction.
    let commands = [(APP, 5), (APP, -6), (OTHER_APP, 7), (APP, 8)];
    let (answers, n_commits) = run_while_locked(&node, &administrator, &commands).await;
    assert_eq!(answers, [Ok(()), Err(Refusal::Declined), Ok(()), Ok(())]);
    assert_eq!(n_commits, 2);
    assert_eq!(ids(&node).await, [1, 2, 3, 4, 5, 7, 8]);
    node.close().await;
    administrator.close().await;
}
