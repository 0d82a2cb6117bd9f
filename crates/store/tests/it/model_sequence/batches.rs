//! Transactions that share a batch leave each database as the model is when it runs them one after the other, in some order, and
//! give the same answers.

use model::ids::AppId;
use model::time::UtcMillis;
use proptest::collection::vec;
use proptest::prop_assert;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use store::Store;
use testkit::store::{Home, databases};

use super::operation::{self, Answer, Circumstances, Operation, Transaction};
use super::oracle::Model;
use super::view::View;
use super::{empty, name};
use crate::Refusal;
use crate::batch::{Command, in_one_batch};

const CASES: u32 = 24;
const BATCHES: usize = 12;
/// All orders of as many transactions are tried.
const TRANSACTIONS: usize = 4;

#[test]
fn a_batch_does_what_the_model_does_in_some_order() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for home in databases().into_iter().map(Home::new) {
        let store = runtime.block_on(home.open());
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(CASES) });
        let batches = vec(vec(operation::transaction(), 1..=TRANSACTIONS), 1..BATCHES);
        let ran = runner.run(&batches, |batches| runtime.block_on(check(&store, &batches)));
        runtime.block_on(store.close());
        ran.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn records_of_an_app_that_is_deleted_in_the_same_batch_are_not_written() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (app, step) = (AppId(1), 0);
    let batch = vec![
        Transaction { step, operations: vec![Operation::Append { app, n: 1 }] },
        Transaction { step, operations: vec![Operation::Append { app, n: 0 }, Operation::DeleteApp { app }] },
    ];
    for home in databases().into_iter().map(Home::new) {
        let store = runtime.block_on(home.open());
        runtime.block_on(check(&store, std::slice::from_ref(&batch))).unwrap();
        runtime.block_on(store.close());
    }
}

async fn check(store: &Store, batches: &[Vec<Transaction>]) -> Result<(), TestCaseError> {
    empty(store).await;
    let mut model = Model::default();
    let mut circumstances = Circumstances { now: UtcMillis(1000), held: Vec::new() };
    let first = Transaction { step: 0, operations: vec![Operation::CreateApp { n: 0 }, Operation::CreateApp { n: 1 }] };
    let first = vec![first];
    for batch in std::iter::once(&first).chain(batches) {
        circumstances.now.0 += batch[0].step;
        let commands = batch.iter().map(|transaction| command(transaction, &circumstances)).collect();
        let (done, _) = in_one_batch(store, AppId(0), commands).await;
        let view = store.read(View::read).await.unwrap();
        let fits = |order: &Vec<usize>| {
            let mut after = model.clone();
            let is_answered = order.iter().all(|index| {
                let expected = after.run(&batch[*index].operations, &circumstances);
                // Of several conflicts any may be named.
                match (&done[*index], expected) {
                    (Ok(answers), Ok(expected)) => *answers == expected,
                    (Err(_), Err(_)) => true,
                    (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
                }
            });
            // A batch in which a command fails is run again with savepoints, before each of which records are written.
            let mut without = after.clone();
            without.forget_unwritten(&model);
            [without, after].into_iter().find(|after| is_answered && after.view() == view)
        };
        let found = orders(batch.len()).iter().find_map(fits);
        prop_assert!(found.is_some(), "{batch:?} in {}: {done:?}", name(store));
        model = found.unwrap_or(model);
        for answer in done.into_iter().filter_map(Result::ok).flatten() {
            if let Answer::Claimed(jobs) = answer {
                circumstances.held.extend(jobs);
            }
        }
    }
    Ok(())
}

fn command(transaction: &Transaction, circumstances: &Circumstances) -> Command<Vec<Answer>> {
    let (operations, circumstances) = (transaction.operations.clone(), circumstances.clone());
    Box::new(move |tx| {
        let applied = operations.iter().map(|operation| operation.apply(tx, &circumstances));
        applied.collect::<store::Result<Vec<_>>>().map_err(Refusal::from)
    })
}

/// All orders of the numbers below `n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for order in orders(last) {
        for at in 0..n {
            let mut longer = order.clone();
            longer.insert(at, last);
            all.push(longer);
        }
    }
    all
}
