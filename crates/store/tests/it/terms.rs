//! The numbers of terms.

use model::device_type::DeviceType;
use model::ids::{AppId, TermId};
use model::term::{Reach, Term};
use proptest::prelude::*;
use store::{Error, Store, terms};
use tokio::task::JoinSet;

use crate::on_both;
use crate::sample::{conflict, make_app, term};

/// What a caller does: looks, and numbers the term only if it must.
async fn number(store: &Store, app: AppId, wanted: Term) -> TermId {
    let written = store.write(app, move |tx| match terms::find(tx, app, &wanted)? {
        Some(id) => Ok::<_, Error>(id),
        None => terms::insert(tx, app, &wanted),
    });
    written.await.unwrap()
}

#[tokio::test]
async fn a_term_keeps_its_number() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let all = [
            term("device", "news"),
            term("device", "News"),
            term("type", "ios"),
            Term::DeviceType(DeviceType::Ios),
            Term::DeviceType(DeviceType::from_name("open::ios").unwrap()),
            Term::Reach(Reach::Alert),
        ];
        for (n, wanted) in (0..).zip(&all) {
            assert_eq!(number(store, app, wanted.clone()).await, TermId(n), "{wanted:?}");
        }
        assert_eq!(number(store, other, all[3].clone()).await, TermId(0), "each app counts for itself");
        for (n, wanted) in (0..).zip(&all) {
            assert_eq!(number(store, app, wanted.clone()).await, TermId(n), "{wanted:?}, again");
            let name = store.read(move |tx| terms::name(tx, app, TermId(n))).await.unwrap();
            assert_eq!(&name, wanted);
        }
        let stored = store.read(move |tx| terms::all(tx, app)).await.unwrap();
        let expected: Vec<_> =
            (0..).zip(&all).map(|(n, term)| (TermId(n), term.key().0.to_owned(), term.key().1.into_owned())).collect();
        assert_eq!(stored, expected);
    })
    .await;
}

#[tokio::test]
async fn refused_numbers_are_given_out_later() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        number(store, app, term("g", "a")).await;
        let again = store.write(app, move |tx| terms::insert(tx, app, &term("g", "a"))).await;
        assert_eq!(conflict(again), "term_by_name");
        assert_eq!(number(store, app, term("g", "b")).await, TermId(1));
        let nobody = AppId(99);
        let done = store.write(nobody, move |tx| terms::insert(tx, nobody, &term("g", "a"))).await;
        assert_eq!(conflict(done), "the app was deleted");
        let unnamed = store.read(move |tx| terms::name(tx, app, TermId(7))).await;
        assert!(matches!(unnamed, Err(Error::Corrupt(_))), "{unnamed:?}");
    })
    .await;
}

#[tokio::test]
async fn many_callers_agree_on_a_number() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let mut callers = JoinSet::new();
        for caller in 0..32 {
            let store = store.clone();
            callers.spawn(async move {
                let tag = format!("{}", caller % 4);
                let id = number(&store, app, term("g", &tag)).await;
                (tag, id)
            });
        }
        let mut given = callers.join_all().await;
        given.sort();
        given.dedup();
        assert_eq!(given.len(), 4, "{given:?}");
        given.sort_by_key(|(_, id)| *id);
        assert_eq!(given.iter().map(|(_, id)| id.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    })
    .await;
}

proptest! {
    #[test]
    fn encoding_is_reversible(mut numbers: Vec<u32>) {
        numbers.sort_unstable();
        let ids: Vec<_> = numbers.into_iter().map(TermId).collect();
        prop_assert_eq!(terms::decode(&terms::encode(&ids)).unwrap(), ids);
    }

    #[test]
    fn decoding_never_invents(bytes: Vec<u8>) {
        if let Ok(ids) = terms::decode(&bytes) {
            prop_assert!(ids.is_sorted());
            prop_assert!(terms::encode(&ids).len() <= bytes.len());
        }
    }
}
