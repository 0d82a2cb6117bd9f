//! Searching tables for a person, and erasing what was found, in two transactions between which others write.

use model::device_type::DeviceType;
use model::ids::{AppId, NamedUserId, Offset, PushId};
use model::privacy::Identifier;
use model::push_outcome::PushOutcome;
use model::time::UtcMillis;
use store::documents::{self, DocumentKind};
use store::privacy::plan::{Entry, PLAN};
use store::privacy::{self, Catalog, Found, Person, Work};
use store::push_outcomes::{self, OutcomeSet};
use store::{Error, Store, Tx};

use crate::on_both;
use crate::sample::{NOW, make_app};

const USER: &str = "ann.tanner@example.com";

fn person() -> Person {
    Person {
        channels: Vec::new(),
        named_user: Some(NamedUserId::new(USER).unwrap()),
        inbox_users: Vec::new(),
        stretches: Vec::new(),
        identifiers: Identifier::new(USER).into_iter().collect(),
        uploads: Vec::new(),
        asked: NOW,
        head: Offset(0),
    }
}

fn entry(table: &str) -> &'static Entry {
    PLAN.iter().find(|entry| entry.table == table).unwrap()
}

/// Everything that is found in a table, portion by portion.
async fn search(store: &Store, app: AppId, table: &'static str) -> Vec<Found> {
    let search = move |tx: &mut Tx<'_>| {
        let (person, catalog, mut portions) = (person(), Catalog::read(tx)?, Vec::<Found>::new());
        let redaction = person.redaction();
        let work = Work { app, person: &person, redaction: &redaction, catalog: &catalog };
        loop {
            let after = portions.last().and_then(|portion| portion.next.clone());
            if !portions.is_empty() && after.is_none() {
                return Ok::<_, Error>(portions);
            }
            portions.push(privacy::search(tx, &work, entry(table), after.as_ref())?);
        }
    };
    store.read(search).await.unwrap()
}

async fn erase(store: &Store, app: AppId, table: &'static str, found: Found) -> u64 {
    let erase = move |tx: &mut Tx<'_>| {
        let (person, catalog) = (person(), Catalog::read(tx)?);
        let redaction = person.redaction();
        let work = Work { app, person: &person, redaction: &redaction, catalog: &catalog };
        match table {
            "push_outcome" => privacy::clean_outcomes(tx, &work, &found.keys, |one, other| Some([one, other].concat())),
            "document" => privacy::clean_documents(tx, &work, &found.keys).map(|cleaned| cleaned.n()),
            table => privacy::erase(tx, &work, entry(table), &found),
        }
    };
    store.write(app, erase).await.unwrap()
}

async fn put(store: &Store, app: AppId, id: &'static str, body: String) {
    let put = move |tx: &mut Tx<'_>| documents::put(tx, app, DocumentKind::Segment, id, &body, NOW);
    store.write(app, put).await.unwrap();
}

async fn body(store: &Store, app: AppId, id: &'static str) -> Option<String> {
    let get = move |tx: &mut Tx<'_>| documents::get(tx, app, DocumentKind::Segment, id);
    store.read(get).await.unwrap().map(|document| document.body)
}

#[tokio::test]
async fn what_changes_between_search_and_erasure_is_looked_at_again() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        for id in ["changed", "cleaned", "gone", "kept", "named"] {
            let user = if id == "kept" { "bob" } else { USER };
            put(store, app, id, format!(r#"{{"named_user":"{user}"}}"#)).await;
        }
        let found = search(store, app, "document").await;
        assert_eq!((found.len(), found[0].keys.len(), found[0].next.as_ref()), (1, 4, None));
        put(store, app, "changed", format!(r#"{{"named_user":["{USER}","new"]}}"#)).await;
        put(store, app, "cleaned", r#"{"named_user":"eve"}"#.to_owned()).await;
        let delete = move |tx: &mut Tx<'_>| documents::delete(tx, app, DocumentKind::Segment, "gone");
        store.write(app, delete).await.unwrap();
        assert_eq!(erase(store, app, "document", found[0].clone()).await, 2);
        let expected = [
            ("changed", Some(r#"{"named_user":["(erased)","new"]}"#)),
            ("cleaned", Some(r#"{"named_user":"eve"}"#)),
            ("gone", None),
            ("kept", Some(r#"{"named_user":"bob"}"#)),
            ("named", Some(r#"{"named_user":"(erased)"}"#)),
        ];
        for (id, expected) in expected {
            assert_eq!(body(store, app, id).await.as_deref(), expected, "{id}");
        }
        assert!(search(store, app, "document").await[0].is_empty());
    })
    .await;
}

#[tokio::test]
async fn large_rows_are_searched_a_few_at_a_time() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        // More than a portion may have by itself, and several that have as much together.
        for (id, n_bytes) in [("a", 6 << 20), ("b", 2 << 20), ("c", 2 << 20), ("d", 2 << 20), ("e", 0)] {
            let body = format!(r#"{{"text":"{}","named_user":"{USER}"}}"#, "x".repeat(n_bytes));
            put(store, app, id, body).await;
        }
        let found = search(store, app, "document").await;
        let n_found: Vec<usize> = found.iter().map(|portion| portion.keys.len()).collect();
        assert_eq!(n_found, [1, 1, 1, 2]);
        for portion in found {
            erase(store, app, "document", portion).await;
        }
        assert!(search(store, app, "document").await.iter().all(Found::is_empty));
    })
    .await;
}

#[tokio::test]
async fn an_outcome_without_the_name_joins_one_that_is_there() {
    on_both(async |store, _| {
        let (app, push) = (make_app(store, 1).await, PushId::at(NOW));
        let set = |reason: &str, since: i64, members: &[u8]| {
            let (block, device_type, outcome) = (0, DeviceType::Android, PushOutcome::Failed);
            let (reason, since, members) = (reason.to_owned(), UtcMillis(since), members.to_vec());
            OutcomeSet { block, device_type, outcome, reason, since, members }
        };
        let named = format!("no {USER} here");
        let sets =
            [set(&named, 1, b"b"), set("no (erased) here", 1, b"a"), set(&named, 2, b"c"), set("other", 2, b"d")];
        let write =
            move |tx: &mut Tx<'_>| sets.iter().try_for_each(|set| push_outcomes::put(tx, app, push, set.clone()));
        store.write(app, write).await.unwrap();
        let found = search(store, app, "push_outcome").await;
        assert_eq!(found[0].keys.len(), 2);
        assert_eq!(erase(store, app, "push_outcome", found[0].clone()).await, 2);
        let read = move |tx: &mut Tx<'_>| push_outcomes::in_block(tx, app, push, 0);
        let expected = [set("no (erased) here", 1, b"ab"), set("no (erased) here", 2, b"c"), set("other", 2, b"d")];
        assert_eq!(store.read(read).await.unwrap(), expected);
        assert!(search(store, app, "push_outcome").await[0].is_empty());
    })
    .await;
}
