//! Who waits for a change is woken after it is committed.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use model::event::RecordKind;
use model::ids::AppId;
use store::log::{self, NewRecord};
use store::{Error, Signal, Signals};
use testkit::store::{Database, databases, fresh};

use crate::sample::{NOW, make_app};
use crate::{NO_APP, execute, on_both};

#[tokio::test]
async fn signals_come_after_the_commit() {
    on_both(async |store, _| {
        execute(store, "create table item (id bigint primary key)").await;
        let (mut signals, mut other) = (store.signals(), store.signals());
        let mut jobs = store.signals_of(Signal::Jobs);
        let mut log = store.signals_of(Signal::Log(AppId(NO_APP.0 + 1)));
        let done = store.write(NO_APP, |tx| {
            tx.signal(Signal::Jobs);
            tx.execute("insert into item (id) values (1)", &[])?;
            Err::<(), _>(Error::corrupt("on purpose"))
        });
        assert!(done.await.is_err());
        assert_eq!(waiting(&mut signals), None, "nothing was committed");
        for _ in 0..3 {
            let done: Result<(), Error> = store
                .write(NO_APP, |tx| {
                    tx.signal(Signal::Log(NO_APP));
                    tx.signal(Signal::Jobs);
                    tx.signal(Signal::Log(NO_APP));
                    Ok(())
                })
                .await;
            done.unwrap();
        }
        assert_eq!(signals.next().await, Signal::Jobs);
        assert_eq!(signals.next().await, Signal::Log(NO_APP));
        assert_eq!(waiting(&mut signals), None, "repetitions are one");
        assert_eq!(other.next().await, Signal::Jobs, "every subscriber hears");
        assert_eq!(waiting(&mut jobs), Some(Signal::Jobs));
        assert_eq!(waiting(&mut jobs), None, "who waits for one kind of change does not hear of others");
        assert_eq!(waiting(&mut log), None, "logs of other apps are other changes");
        let mut late = store.signals();
        assert_eq!(waiting(&mut late), None, "what was before the subscription is not repeated");
    })
    .await;
}

#[tokio::test]
async fn a_process_that_writes_alone_knows_that_there_are_no_new_deliveries() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let append = |kind| {
            let record = NewRecord { kind, ordinal: None, body: Vec::new() };
            store.write(app, move |tx| log::append(tx, app, NOW, vec![record.clone()]))
        };
        let before = store.n_deliveries();
        assert_eq!(before.is_some(), store.is_single_process());
        append(RecordKind::Open).await.unwrap();
        assert_eq!(store.n_deliveries(), before);
        append(RecordKind::Send).await.unwrap();
        assert_eq!(store.n_deliveries(), before.map(|before| before + 1));
    })
    .await;
}

#[tokio::test]
async fn other_nodes_hear() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, home) = fresh(Database::Postgres).await;
    let other = home.open().await;
    assert!(!store.is_single_process());
    let (mut here, mut there) = (store.signals(), other.signals());
    for signal in [Signal::Apps, Signal::Log(AppId(-3)), Signal::Jobs, Signal::Log(AppId(i64::MAX))] {
        let done: Result<(), Error> = store
            .write(NO_APP, move |tx| {
                tx.signal(signal);
                Ok(())
            })
            .await;
        done.unwrap();
        assert_eq!(there.next().await, signal);
        assert_eq!(here.next().await, signal);
    }
    // The order of notifications is that of sending, so an echo of the first ones would be here by now.
    assert_eq!(waiting(&mut here), None, "a node does not hear itself twice");
    store.close().await;
    other.close().await;
}

fn waiting(signals: &mut Signals) -> Option<Signal> {
    match pin!(signals.next()).poll(&mut Context::from_waker(Waker::noop())) {
        std::task::Poll::Ready(signal) => Some(signal),
        std::task::Poll::Pending => None,
    }
}
