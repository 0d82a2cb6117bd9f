//! Counts per hour and platform.

use model::device_type::DeviceType;
use model::ids::{AppId, Id, PushId};
use model::time::UtcMillis;
use store::Constraint;
use store::counters::{self, Metric, Pushes, Total};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::{sample, with_apps};

const APP: AppId = AppId(1);
const PUSH: PushId = Id::from_uuid(Uuid::from_u128(7));

#[tokio::test]
async fn counts_add_up() {
    with_apps(async |store, _| {
        let hour = 3_600_000;
        let added = [
            (APP, 0, DeviceType::Ios, 2),
            (APP, hour - 1, DeviceType::Ios, 3),
            (APP, hour, DeviceType::Ios, 5),
            (APP, -1, DeviceType::Ios, 7),
            (APP, 0, DeviceType::Web, 11),
            (AppId(2), 0, DeviceType::Ios, 13),
            (APP, 0, DeviceType::Ios, 1 << 40),
        ];
        for (app, at, device_type, n) in added {
            let add = store.write(app, move |tx| counters::add(tx, app, Metric::Sends, UtcMillis(at), &device_type, n));
            add.await.unwrap();
        }
        for (app, device_type, total) in [
            (APP, DeviceType::Ios, (1 << 40) + 17),
            (APP, DeviceType::Web, 11),
            (AppId(2), DeviceType::Ios, 13),
            (APP, DeviceType::Wns, 0),
        ] {
            let wanted = device_type.clone();
            let found = store.read(move |tx| sample::total(tx, app, Metric::Sends, &wanted)).await.unwrap();
            assert_eq!(found, total, "{app:?} {device_type}");
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
                let add =
                    |tx: &mut store::Tx<'_>| counters::add(tx, APP, Metric::Sends, UtcMillis(0), &DeviceType::Ios, 1);
                store.write(AppId(caller % 4), add).await.unwrap();
            });
        }
        callers.join_all().await;
        let total = store.read(|tx| sample::total(tx, APP, Metric::Sends, &DeviceType::Ios)).await.unwrap();
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
                    counters::add(tx, APP, Metric::Opens, UtcMillis(0), &DeviceType::Ios, 1)?;
                    counters::add_of_push(tx, APP, PUSH, Metric::DirectResponses, UtcMillis(0), &DeviceType::Ios, 1)?;
                    match ending {
                        Ending::Well => Ok(()),
                        Ending::Declined => Err(store::Error::Conflict(Constraint::Index("declined".to_owned()))),
                        Ending::Panicked => panic!("as the test wants it"),
                    }
                };
                let done = store.write(APP, command).await;
                assert_eq!(done.is_ok(), matches!(ending, Ending::Well));
            });
        }
        callers.join_all().await;
        let totals = store.read(|tx| {
            let of_push = counters::totals_of_pushes(tx, APP, Pushes::One(PUSH), &[Metric::DirectResponses])?;
            Ok::<_, store::Error>((sample::total(tx, APP, Metric::Opens, &DeviceType::Ios)?, of_push))
        });
        let of_push = Total { metric: Metric::DirectResponses, device_type: DeviceType::Ios, n: 20 };
        assert_eq!(totals.await.unwrap(), (20, vec![of_push]));
    })
    .await;
}
