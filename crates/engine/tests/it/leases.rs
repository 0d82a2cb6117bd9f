//! A worker that is overtaken: what it does after it lost its job counts for nothing, and is nobody's failure.

use std::time::Duration;

use model::ids::AppId;
use model::time::UtcMillis;
use serde_json::json;
use sim::{Faults, Protocol};
use store::jobs::{self, ClaimedJob};
use store::nodes::Node;
use testkit::app::{TestApp, on_each_database};

use crate::devices::{push, status};
use crate::provider::{apple, configure, devices, hello, simulator};

const LEASE: Duration = Duration::from_secs(15);

/// Claims whatever is due, as another node would.
async fn take_over(app: &TestApp) -> Vec<ClaimedJob> {
    let now = app.clock().now();
    let claim = move |tx: &mut store::Tx<'_>| {
        let due: Vec<_> = jobs::due(tx, &store::Part::ALL, now, 10)?.jobs.iter().map(|job| (job.app, job.id)).collect();
        jobs::claim(tx, Node::random(), &due, now, now.plus(LEASE))
    };
    let claimed = app.engine().store().write(AppId(0), claim).await;
    claimed.unwrap_or_else(|error: store::Error| panic!("{error}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_that_was_taken_over_is_neither_recorded_nor_counted_by_the_loser() {
    const N_DEVICES: u64 = 20;
    on_each_database(async |app| {
        let sim = simulator(&app, Faults { latency: Duration::from_secs(1), ..Faults::default() }).await;
        configure(&app, "apns", &apple(&sim)).await;
        devices(&app, &sim, Protocol::Apns, N_DEVICES).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        let worker = app.engine().worker();
        worker.step().await.unwrap();
        let overtaken = tokio::spawn(async move { worker.step().await });
        sim.wait_until(|stats| stats.of(Protocol::Apns).messages > 0).await;
        app.advance(LEASE);
        let claimed = take_over(&app).await;
        assert_eq!(claimed.iter().map(|job| (job.kind.as_str(), job.attempt)).collect::<Vec<_>>(), [("deliver", 2)]);
        assert!(overtaken.await.unwrap().unwrap());

        let report = status(&app, &id).await;
        let (delivered, pending) = (&report["total"]["delivered"], &report["total"]["pending"]);
        assert_eq!((delivered, pending), (&json!(0), &json!(N_DEVICES)), "{report}");
        let metrics = app.operator().get("/metrics").await.text().to_owned();
        let runs: Vec<_> = metrics.lines().filter(|line| line.starts_with("aerogram_jobs_total")).collect();
        assert_eq!(runs, [r#"aerogram_jobs_total{kind="resolve",outcome="succeeded"} 1"#]);
        assert!(metrics.contains("aerogram_jobs_running 0\n"), "{metrics}");

        let still_ours = claimed.into_iter().next().unwrap();
        let give_back = move |tx: &mut store::Tx<'_>| jobs::postpone(tx, &still_ours, UtcMillis(0));
        app.engine().store().write(AppId(0), give_back).await.unwrap();
        app.step_all().await;
        let report = status(&app, &id).await;
        assert_eq!((&report["state"], &report["total"]["delivered"]), (&json!("done"), &json!(N_DEVICES)), "{report}");
    })
    .await;
}
