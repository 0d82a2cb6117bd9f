//! Commands that fail in a batch of others: they are undone as if they had never run, and cost the others no
//! commits.

use model::device_type::DeviceType;
use model::ids::{AppId, Offset, Ordinal};
use store::counters::{self, Metric};
use store::{Error, Tx, Value, apps, idempotency, log};

use crate::batch::{Command, in_one_batch};
use crate::sample::{self, NOW, record};
use crate::{NO_APP, Refusal, execute, ids, on_both, with_apps};

const APP: AppId = AppId(1);

fn insert(tx: &mut Tx<'_>, id: i64) -> Result<(), Refusal> {
    tx.execute("insert into item (id) values ($1)", &[Value::Int(id)])?;
    Ok(())
}

#[tokio::test]
async fn a_failing_command_spoils_no_other() {
    on_both(async |store, _| {
        execute(store, "create table item (id bigint primary key)").await;
        for n_bad in [0, 1, 20] {
            execute(store, "delete from item").await;
            let mut commands: Vec<Command<()>> = Vec::new();
            for id in 0..40 {
                commands.push(Box::new(move |tx| insert(tx, id)));
                if id < n_bad {
                    commands.push(Box::new(move |tx| {
                        insert(tx, 100 + id)?;
                        Err(Refusal::Declined)
                    }));
                    // In conflict with the good one before, which the database itself refuses.
                    commands.push(Box::new(move |tx| insert(tx, id)));
                }
                if id % 8 == 0 {
                    commands.push(Box::new(|tx| {
                        tx.query("select id from item", &[], |row| row.get::<i64>(0))?;
                        Err(Refusal::Declined)
                    }));
                }
            }
            let (answers, n_commits) = in_one_batch(store, NO_APP, commands).await;
            assert_eq!(ids(store).await, (0..40).collect::<Vec<_>>());
            let n_declined = answers.iter().filter(|answer| **answer == Err(Refusal::Declined)).count();
            let n_conflicts = answers.iter().filter(|answer| matches!(answer, Err(Refusal::Store(_)))).count();
            let n_bad = usize::try_from(n_bad).unwrap();
            assert_eq!((n_declined, n_conflicts), (n_bad + 5, n_bad), "{answers:?}");
            assert_eq!(n_commits, 1, "all that is good is committed together, beside {n_bad} that fail");
        }
    })
    .await;
}

#[tokio::test]
async fn records_counts_and_numbers_of_failing_commands_are_undone() {
    with_apps(async |store, _| {
        let count = |tx: &mut Tx<'_>, n| counters::add(tx, APP, Metric::Sends, NOW, &DeviceType::Ios, n);
        let fail = move |tx: &mut Tx<'_>| {
            log::append(tx, APP, NOW, vec![record("lost"); 2])?;
            count(tx, 1000)?;
            apps::take_ordinal(tx, APP)?;
            Ok::<_, Error>(())
        };
        let mut commands: Vec<Command<Option<Offset>>> = Vec::new();
        for _ in 0..10 {
            commands.push(Box::new(move |tx| {
                count(tx, 1)?;
                Ok(Some(log::append(tx, APP, NOW, vec![record("kept")])?))
            }));
            commands.push(Box::new(move |tx| {
                fail(tx)?;
                Err(Refusal::Declined)
            }));
            commands.push(Box::new(move |tx| {
                fail(tx)?;
                // Reading the log has everything written that was appended to it.
                let seen = log::after(tx, APP, Offset(0), 100)?;
                assert!(seen.iter().rev().skip(2).all(|record| record.body == b"kept"), "{seen:?}");
                Err(Refusal::Declined)
            }));
            commands.push(Box::new(move |tx| {
                fail(tx)?;
                apps::delete(tx, APP)?;
                Err(Refusal::Declined)
            }));
            commands.push(Box::new(move |tx| {
                fail(tx)?;
                panic!("on purpose");
            }));
        }
        let (answers, n_commits) = in_one_batch(store, APP, commands).await;
        let kept: Vec<Offset> = answers.iter().filter_map(|answer| *answer.as_ref().ok()?).collect();
        assert_eq!(kept, (1..=10).map(Offset).collect::<Vec<_>>(), "{answers:?}");
        assert_eq!(answers.iter().filter(|answer| **answer == Err(Refusal::Declined)).count(), 30, "{answers:?}");
        assert_eq!(n_commits, 1);
        let found = store.read(move |tx| log::after(tx, APP, Offset(0), 100)).await.unwrap();
        assert_eq!(found.iter().map(|record| record.offset).collect::<Vec<_>>(), kept);
        assert!(found.iter().all(|record| record.body == b"kept"), "{found:?}");
        let sent = store.read(|tx| sample::total(tx, APP, Metric::Sends, &DeviceType::Ios)).await.unwrap();
        assert_eq!(sent, 10);
        let next = store.write(APP, |tx| apps::take_ordinal(tx, APP)).await.unwrap();
        assert_eq!(next, Ordinal(0), "no number was used up");
        let next = store.write(APP, |tx| log::append(tx, APP, NOW, vec![record("later")])).await.unwrap();
        assert_eq!(next, Offset(11));
    })
    .await;
}

#[tokio::test]
async fn a_statement_that_writes_and_yields_rows_is_a_change() {
    on_both(async |store, _| {
        execute(store, "create table item (id bigint primary key)").await;
        let insert = |tx: &mut Tx<'_>| {
            let sql = "insert into item (id) values ($1) returning id";
            tx.query_many(sql, [[Value::Int(1)], [Value::Int(2)]], |row| row.get::<i64>(0))
        };
        let declined = store.write(NO_APP, move |tx| {
            insert(tx)?;
            Err::<(), _>(Refusal::Declined)
        });
        assert_eq!(declined.await, Err(Refusal::Declined));
        assert_eq!(ids(store).await, [0; 0], "it is undone");
        let read: Result<Vec<i64>, Error> = store.read(insert).await;
        assert!(matches!(read, Err(Error::Corrupt(_))), "{read:?}");
        let written: Result<Vec<i64>, Error> = store.write(NO_APP, insert).await;
        assert_eq!(written.unwrap(), [1, 2]);
        assert_eq!(ids(store).await, [1, 2]);
    })
    .await;
}

#[tokio::test]
async fn a_conflict_that_shows_while_others_ask_costs_only_its_own_command() {
    with_apps(async |store, _| {
        let keep = |key: &'static str| -> Command<u64> {
            Box::new(move |tx| {
                let kept = idempotency::Kept { request: vec![1], answer: "{}".to_owned() };
                idempotency::keep(tx, APP, key, &kept, NOW)?;
                Ok(0)
            })
        };
        // What this one asks for depends on what the others have written, so that has to be sent first.
        let count: Command<u64> = Box::new(|tx| {
            let sql = "select count(*) from idempotency where app = $1";
            Ok(tx.query_one::<i64>(sql, &[APP.into()], |row| row.get(0))?.unsigned_abs())
        });
        let (answers, n_commits) = in_one_batch(store, APP, vec![keep("a"), keep("a"), count, keep("b")]).await;
        assert_eq!(n_commits, 1);
        assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 1, "{answers:?}");
        assert!(answers[0].is_err() != answers[1].is_err(), "{answers:?}");
        assert!(matches!(answers[2], Ok(1 | 2)), "{answers:?}");
    })
    .await;
}
