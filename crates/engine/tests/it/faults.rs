//! Providers at their worst: nobody is missed, nobody is counted wrongly, and one provider's troubles are nobody else's.

use std::time::Duration;

use serde_json::json;
use sim::{Faults, Protocol};
use store::apps::OPERATOR;
use testkit::app::{TestApp, on_each_database};
use testkit::store::{Database, databases};

use crate::devices::{push, status};
use crate::provider::{apple, configure, devices, google, hello, n_installed, simulator, work_off};

/// One push through a provider that resets streams, asks for time, breaks down, has lost some devices and closes connections
/// all the time. The benchmark does the same with ten times as many.
async fn survives_everything(app: TestApp, protocol: Protocol) {
    const N_DEVICES: u64 = 20_000;
    let faults = Faults {
        resets: 0.05,
        throttled: 0.05,
        unavailable: 0.05,
        gone: 0.02,
        goaway_every: 1000,
        ..Faults::default()
    };
    let sim = simulator(&app, faults.clone()).await;
    let (platform, device_type, credentials) = match protocol {
        Protocol::Apns => ("apns", "ios", apple(&sim)),
        Protocol::Fcm => ("fcm", "android", google(&sim)),
        Protocol::Adm | Protocol::Wns | Protocol::WebPush | Protocol::UnifiedPush | Protocol::Open => {
            panic!("not tried here")
        }
    };
    configure(&app, platform, &credentials).await;
    let addresses = devices(&app, &sim, protocol, N_DEVICES).await;
    let n_gone = addresses.iter().filter(|address| faults.is_gone(address)).count() as u64;
    assert!((N_DEVICES / 100..N_DEVICES / 25).contains(&n_gone), "{n_gone} are gone");

    let id = push(&app, hello(&json!([device_type]))).await;
    work_off(&app).await;

    let stats = sim.stats();
    let tally = stats.of(protocol);
    assert!(tally.resets > 0 && tally.throttled > 0 && tally.unavailable > 0 && stats.goaways > 0, "{stats:?}");
    let report = status(&app, &id).await;
    let total = &report["total"];
    assert_eq!(report["state"], "done");
    assert_eq!(tally.delivered(), N_DEVICES - n_gone, "everybody who is there is served: {stats:?}");
    assert_eq!(tally.duplicates, 0, "and once");
    assert_eq!((&total["delivered"], &total["gone"]), (&json!(tally.delivered()), &json!(tally.devices_gone)));
    assert_eq!((&total["failed"], &total["pending"]), (&json!(0), &json!(0)));
    assert_eq!(n_installed(&app).await.unsigned_abs(), N_DEVICES - n_gone);
}

#[tokio::test(flavor = "multi_thread")]
async fn apple_at_its_worst() {
    on_each_database(async |app| survives_everything(app, Protocol::Apns).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn google_at_its_worst() {
    on_each_database(async |app| survives_everything(app, Protocol::Fcm).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_provider_does_not_hold_up_another() {
    const N_DEVICES: u64 = 3000;
    on_each_database(async |app| {
        let slow = simulator(&app, Faults { latency: Duration::from_secs(3), ..Faults::default() }).await;
        let quick = simulator(&app, Faults::default()).await;
        configure(&app, "apns", &apple(&slow)).await;
        configure(&app, "fcm", &google(&quick)).await;
        devices(&app, &slow, Protocol::Apns, N_DEVICES).await;
        devices(&app, &quick, Protocol::Fcm, N_DEVICES).await;
        let id = push(&app, hello(&json!(["ios", "android"]))).await;
        let (stop, stops) = tokio::sync::watch::channel(false);
        let worker = tokio::spawn(app.engine().worker().run(stops));
        quick.wait_until(|stats| stats.of(Protocol::Fcm).delivered() == N_DEVICES).await;
        // The first answer comes after three seconds, and only then are others asked.
        let n_slow = slow.stats().of(Protocol::Apns).delivered();
        assert!(n_slow < N_DEVICES, "the quick one waited for all of the slow one");
        slow.set_faults(Faults::default());
        slow.wait_until(|stats| stats.of(Protocol::Apns).delivered() == N_DEVICES).await;
        stop.send_replace(true);
        worker.await.unwrap();
        app.step_all().await;
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["delivered"]), (&json!("done"), &json!(2 * N_DEVICES)), "{done}");
    })
    .await;
}

/// The database stood still for so long that a lease ran out. The job is due, but it runs.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_served_twice_after_a_standstill() {
    const N_DEVICES: u64 = 300;
    on_each_database(async |app| {
        let slow = simulator(&app, Faults { latency: Duration::from_secs(2), ..Faults::default() }).await;
        let quick = simulator(&app, Faults::default()).await;
        configure(&app, "apns", &apple(&slow)).await;
        configure(&app, "fcm", &google(&quick)).await;
        devices(&app, &slow, Protocol::Apns, N_DEVICES).await;
        devices(&app, &quick, Protocol::Fcm, 1).await;
        let id = push(&app, hello(&json!(["ios"]))).await;
        let (stop, stops) = tokio::sync::watch::channel(false);
        let workers = [(); 2].map(|()| tokio::spawn(app.engine().worker().run(stops.clone())));
        slow.wait_until(|stats| stats.of(Protocol::Apns).messages > 0).await;
        app.advance(Duration::from_secs(16));
        // Both workers look for jobs when there is a new one.
        push(&app, hello(&json!(["android"]))).await;
        quick.wait_until(|stats| stats.of(Protocol::Fcm).delivered() == 1).await;
        slow.wait_until(|stats| stats.of(Protocol::Apns).delivered() == N_DEVICES).await;
        stop.send_replace(true);
        for worker in workers {
            worker.await.unwrap();
        }
        app.step_all().await;
        assert_eq!(slow.stats().of(Protocol::Apns).duplicates, 0);
        let done = status(&app, &id).await;
        assert_eq!((&done["state"], &done["total"]["delivered"]), (&json!("done"), &json!(N_DEVICES)), "{done}");
    })
    .await;
}

/// The disk of the server is full for the first checkpoints.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_served_twice_when_the_database_takes_no_changes() {
    const N_DEVICES: u64 = 3000;
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let app = Box::pin(TestApp::on(Database::Postgres)).await;
    let sim = simulator(&app, Faults::default()).await;
    configure(&app, "apns", &apple(&sim)).await;
    devices(&app, &sim, Protocol::Apns, N_DEVICES).await;
    // The writer itself tries a transaction four times.
    let fail_ten_times = [
        "create sequence checkpoints",
        "create function fail() returns trigger as $$ begin
           if nextval('checkpoints') <= 10 then raise exception 'no space left' using errcode = '53100'; end if;
           return new;
         end $$ language plpgsql",
        "create trigger full_disk before update on push_block for each row execute function fail()",
    ];
    for sql in fail_ten_times {
        let done: store::Result<u64> = app.engine().store().write(OPERATOR, move |tx| tx.execute(sql, &[])).await;
        done.unwrap();
    }

    let id = push(&app, hello(&json!(["ios"]))).await;
    work_off(&app).await;

    let (report, stats) = (status(&app, &id).await, sim.stats());
    let tally = stats.of(Protocol::Apns);
    assert_eq!((tally.delivered(), tally.duplicates), (N_DEVICES, 0), "{stats:?}");
    assert_eq!((&report["state"], &report["total"]["delivered"]), (&json!("done"), &json!(N_DEVICES)), "{report}");
    assert_eq!(app.engine().store().trouble(), None);
    app.stop().await;
}
