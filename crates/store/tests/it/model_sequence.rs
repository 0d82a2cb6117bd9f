//! Random sequences of operations leave both databases, and a model of plain maps, in the same state and give
//! the same answers.

mod batches;
mod operation;
mod oracle;
mod view;

use model::ids::AppId;
use model::time::UtcMillis;
use proptest::collection::vec;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{prop_assert, prop_assert_eq};
use store::jobs::ClaimedJob;
use store::{Error, Store};
use testkit::store::{Home, databases};

use crate::{sample, schema};
use operation::{Answer, Circumstances, Operation, Transaction};
use oracle::Model;
use view::View;

const CASES: u32 = 48;
const TRANSACTIONS: usize = 60;
/// Later than anything in a sequence.
const END: UtcMillis = UtcMillis(1 << 40);

#[test]
fn both_databases_do_what_the_model_does() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let homes: Vec<_> = databases().into_iter().map(Home::new).collect();
    let stores: Vec<_> = homes.iter().map(|home| runtime.block_on(home.open())).collect();
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(CASES) });
    let sequences = vec(operation::transaction(), 1..TRANSACTIONS);
    let ran = runner.run(&sequences, |sequence| runtime.block_on(check(&stores, &sequence)));
    for store in stores {
        runtime.block_on(store.close());
    }
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}

async fn check(stores: &[Store], sequence: &[Transaction]) -> Result<(), TestCaseError> {
    for store in stores {
        empty(store).await;
    }
    let mut model = Model::default();
    let mut circumstances = Circumstances { now: UtcMillis(1000), held: Vec::new() };
    // Most operations need an app, so two are there from the beginning.
    let first = Transaction { step: 0, operations: vec![Operation::CreateApp { n: 0 }, Operation::CreateApp { n: 1 }] };
    for transaction in std::iter::once(&first).chain(sequence) {
        circumstances.now.0 += transaction.step;
        let expected = model.run(&transaction.operations, &circumstances);
        for store in stores {
            let done = run(store, transaction.operations.clone(), circumstances.clone()).await;
            // On PostgreSQL a conflict shows when what was written is sent, which may be after another of the same transaction.
            let is_one_of_several = done.is_err() && expected.is_err() && !store.is_single_process();
            prop_assert!(is_one_of_several || done == expected, "{transaction:?} in {}: {done:?}", name(store));
        }
        for answer in expected.unwrap_or_default() {
            if let Answer::Claimed(jobs) = answer {
                circumstances.held.extend(jobs);
            }
        }
    }
    let expected = model.view();
    let rest = model.claim(END, END, u32::MAX);
    for store in stores {
        let view = store.read(View::read).await.unwrap();
        prop_assert!(view == expected, "{} differs:\n{}", name(store), difference(&view, &expected));
        let claim = |tx: &mut store::Tx<'_>| sample::claim(tx, END, END, u32::MAX);
        let claimed: Vec<ClaimedJob> = store.write(AppId(0), claim).await.unwrap();
        prop_assert_eq!(&claimed, &rest, "the jobs that are left in {}", name(store));
    }
    Ok(())
}

/// One transaction; an error carries the name of the conflict.
async fn run(store: &Store, operations: Vec<Operation>, circumstances: Circumstances) -> Result<Vec<Answer>, String> {
    let write = move |tx: &mut store::Tx<'_>| {
        operations.iter().map(|operation| operation.apply(tx, &circumstances)).collect::<store::Result<Vec<_>>>()
    };
    match store.write(AppId(0), write).await {
        Ok(answers) => Ok(answers),
        Err(Error::Conflict(constraint)) => Err(constraint.to_string()),
        Err(error) => panic!("{error}"),
    }
}

/// Makes a store as good as new, which is quicker than making a new one.
async fn empty(store: &Store) {
    let tables: Vec<_> = schema::tables(store).await.into_keys().collect();
    let emptied: Result<u64, Error> = store
        .write(AppId(0), move |tx| {
            for table in tables.iter().filter(|table| !["serial", "schema_version"].contains(&table.as_str())) {
                tx.execute(&format!("delete from {table}"), &[])?;
            }
            tx.execute("update serial set value = 0", &[])
        })
        .await;
    emptied.unwrap();
}

/// The lines that are not the same in both.
fn difference(found: &View, expected: &View) -> String {
    let (found, expected) = (format!("{found:#?}"), format!("{expected:#?}"));
    let pairs = found.lines().zip(expected.lines()).filter(|(found, expected)| found != expected).take(10);
    pairs.map(|(found, expected)| format!("{found}   expected: {expected}\n")).collect()
}

fn name(store: &Store) -> &'static str {
    if store.is_single_process() { "SQLite" } else { "PostgreSQL" }
}
