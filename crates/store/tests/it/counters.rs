//! Counts per hour and platform.

use model::ids::{AppId, Id, PushId};
use model::time::UtcMillis;
use store::counters::{self, Metric};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::with_apps;

const APP: AppId = AppId(1);
const PUSH: PushId = Id::from_uuid(Uuid::from_u128(7));

#[tokio::test]
async fn counts_add_up() {
    with_apps(async |store, _| {
        let hour = 3_600_000;
        let added = [
            (APP, 0, "ios", 2),
            (APP, hour - 1, "ios", 3),
            (APP, hour, "ios", 5),
            (APP, -1, "ios", 7),
            (APP, 0, "web", 11),
            (AppId(2), 0, "ios", 13),
            (APP, 0, "ios", 1 << 40),
        ];
        for (app, at, platform, n) in added {
            let add = store.write(app, move |tx| counters::add(tx, app, Metric::Sends, UtcMillis(at), platform, n));
            add.await.unwrap();
        }
        for (app, platform, total) in
            [(APP, "ios", (1 << 40) + 17), (APP, "web", 11), (AppId(2), "ios", 13), (APP, "wns", 0)]
        {
            let found = store.read(move |tx| counters::total(tx, app, Metric::Sends, platform)).await.unwrap();
            assert_eq!(found, total, "{app:?} {platform}");
        }
        let hours = store.read(|tx| {
            let sql = "select hour, n from counter where app = 1 and platform = 'ios' order by hour";
            tx.query(sql, &[], |row| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?)))
        });
        let hours: Result<_, store::Error> = hours.await;
        assert_eq!(hours.unwrap(), [(-1, 7), (0, (1 << 40) + 5), (1, 5)]);
    })
    .await;
}

#[tokio::test]
async fn nothing_is_lost_in_a_crowd() {
    with_apps(async |store, _| {
        let mut callers = JoinSet::new();
        for caller in 0..64 {
            let store = store.clone();
            callers.spawn(async move {
                // Different writers raise the same count.
                let add = |tx: &mut store::Tx<'_>| counters::add(tx, APP, Metric::Sends, UtcMillis(0), "ios", 1);
                store.write(AppId(caller % 4), add).await.unwrap();
            });
        }
        callers.join_all().await;
        let total = store.read(|tx| counters::total(tx, APP, Metric::Sends, "ios")).await.unwrap();
        assert_eq!(total, 64);
    })
    .await;
}

/// Commands of one batch share the counts that are written at its end.
#[tokio::test]
async fn a_command_that_fails_or_panics_counts_nothing_and_takes_nothing_from_others() {
    with_apps(async |store, _| {
        #[derive(Clone, Copy)]
        enum Ending {
            Well,
            Declined,
            Panicked,
        }
        let mut callers = JoinSet::new();
        for n in 0..60 {
            let ending = [Ending::Well, Ending::Declined, Ending::Panicked][n % 3];
            let store = store.clone();
            callers.spawn(async move {
                let command = move |tx: &mut store::Tx<'_>| {
                    counters::add(tx, APP, Metric::Opens, UtcMillis(0), "ios", 1)?;
                    counters::add_of_push(tx, APP, PUSH, Metric::DirectResponses, UtcMillis(0), "ios", 1)?;
                    match ending {
                        Ending::Well => Ok(()),
                        Ending::Declined => Err(store::Error::Conflict("declined".to_owned())),
                        Ending::Panicked => panic!("as the test wants it"),
                    }
                };
                let done = store.write(APP, command).await;
                assert_eq!(done.is_ok(), matches!(ending, Ending::Well));
            });
        }
        callers.join_all().await;
        let totals = store.read(|tx| {
            let of_push = counters::totals_of_push(tx, APP, PUSH, Metric::DirectResponses)?;
            let by_day = "select cast(sum(n) as bigint) from counter_day where app = 1 and metric = 'opens'";
            let by_day: i64 = tx.query_one(by_day, &[], |row| row.get(0))?;
            Ok::<_, store::Error>((counters::total(tx, APP, Metric::Opens, "ios")?, by_day, of_push))
        });
        assert_eq!(totals.await.unwrap(), (20, 20, vec![("ios".to_owned(), 20)]));
    })
    .await;
}
