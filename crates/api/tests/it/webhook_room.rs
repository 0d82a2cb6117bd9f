//! Webhooks that refuse some of what they are sent: nobody else waits for it, and it takes a bounded amount of room.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::event_receiver::{EventReceiver, Reaction};

use crate::crowd::Crowd;
use crate::webhooks::{DEVICES, create, show, tag};

/// Custom events of channels, each with a name; as many as one request takes.
pub(crate) async fn cause(app: &TestApp, events: &[(&str, &str)]) {
    let event = |(channel, name): &(&str, &str)| json!({"user": {"channel": channel}, "body": {"name": name}});
    let events: Vec<Value> = events.iter().map(event).collect();
    app.master().post("/api/custom-events", json!(events)).await.expect(200);
}

pub(crate) fn name(event: &Value) -> &str {
    event["body"]["name"].as_str().unwrap_or_default()
}

fn is_of(event: &Value, channel: &str) -> bool {
    event["device"]["channel"] == channel
}

async fn metric(app: &TestApp, name: &str) -> i64 {
    let metrics = app.operator().get("/metrics").await.text().to_owned();
    let line = metrics.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {metrics}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn one_refused_event_holds_up_its_own_channel_only_however_much_comes_after_it() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["CUSTOM"]).await;
        receiver.react(|event| if name(event) == "poison" { Reaction::Status(400) } else { Reaction::Status(200) });
        let (a, b, c) = (crowd.id("a"), crowd.id("b"), crowd.id("c"));
        cause(&app, &[(a, "poison"), (a, "after")]).await;
        // More than there is room for at once.
        let some: Vec<_> = [(b, "fine"), (c, "fine")].into_iter().cycle().take(100).collect();
        for _ in 0..45 {
            cause(&app, &some).await;
        }
        app.step_all().await;
        let shown = show(&app, &webhook).await;
        assert_eq!((&shown["delivered"], &shown["dead_letters"]), (&json!(4500), &json!(0)), "{shown}");
        assert_eq!(shown["state"], "failing");
        assert_eq!(metric(&app, "aerogram_webhook_events_in_memory ").await, 2);

        // Neither a restart nor a change of mind sends anything twice.
        let app = app.restart().await;
        cause(&app, &[(b, "late")]).await;
        app.step_all().await;
        assert_eq!(show(&app, &webhook).await["delivered"], 4501);
        receiver.react(|_| Reaction::Status(200));
        app.advance(Duration::from_secs(300));
        app.step_all().await;
        let taken = receiver.taken();
        assert_eq!(taken.len(), 4503);
        let of_a: Vec<&str> = taken.iter().filter(|event| is_of(event, a)).map(name).collect();
        assert_eq!(of_a, ["poison", "after"]);
        let shown = show(&app, &webhook).await;
        assert_eq!((&shown["state"], &shown["records_behind"]), (&json!("live"), &json!(0)), "{shown}");
        assert_eq!(metric(&app, "aerogram_webhook_events_in_memory ").await, 0);
    })
    .await;
}

#[tokio::test]
async fn every_node_gives_up_what_it_has_for_a_deleted_app() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let receiver = EventReceiver::start().await;
        create(&app, &receiver, &["CUSTOM"]).await;
        receiver.react(|_| Reaction::Status(400));
        cause(&app, &[(crowd.id("a"), "refused")]).await;
        app.step_all().await;
        assert_eq!(metric(&app, "aerogram_webhook_events_in_memory ").await, 1);
        app.operator().delete(&format!("/operator/apps/{}", app.app.key)).await.expect(204);
        // Erasing the app is a job, which another node may have taken. Every node hears of the change.
        app.engine().look_at_apps().await;
        assert_eq!(metric(&app, "aerogram_webhook_events_in_memory ").await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_takes_all_the_room_is_given_up_so_that_others_go_on() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["CUSTOM"]).await;
        let (a, b) = (crowd.id("a").to_owned(), crowd.id("b"));
        let refused = a.clone();
        receiver.react(move |event| if is_of(event, &refused) { Reaction::Status(422) } else { Reaction::Status(200) });
        let mut some = vec![(a.as_str(), "bad"); 99];
        some.push((b, "fine"));
        for _ in 0..45 {
            cause(&app, &some).await;
        }
        app.step_all().await;
        assert!(receiver.taken().len() < 45, "there is no room for the last ones");
        for _ in 0..4 {
            app.advance(Duration::from_secs(5));
            app.step_all().await;
        }
        assert_eq!(receiver.taken().len(), 45);
        let shown = show(&app, &webhook).await;
        let n_dead = shown["dead_letters"].as_u64().unwrap();
        assert!((256..2000).contains(&n_dead) && shown["given_up"] == n_dead, "{shown}");
        assert_eq!(metric(&app, "aerogram_webhook_events_given_up_total{").await.unsigned_abs(), n_dead);

        // The list comes in pages, in the order of the log and without a gap in what the channel lost.
        let (mut offsets, mut after) = (Vec::new(), String::new());
        loop {
            let page = app.operator().get(&format!("{webhook}/dead?limit=100{after}")).await.expect(200);
            let letters = page["dead_letters"].as_array().unwrap();
            offsets.extend(letters.iter().map(|letter| letter["offset"].as_str().unwrap().parse::<i64>().unwrap()));
            assert!(letters.iter().all(|letter| letter["reason"].as_str().unwrap().contains("given up early")));
            match page["after"].as_str() {
                Some(last) => after = format!("&after={last}"),
                None => break,
            }
        }
        assert_eq!(offsets.len() as u64, n_dead);
        assert!(offsets.is_sorted());

        receiver.react(|_| Reaction::Status(200));
        app.advance(Duration::from_secs(300));
        app.step_all().await;
        let taken = receiver.taken();
        let of_a = taken.iter().filter(|event| is_of(event, &a));
        let of_a: Vec<i64> = of_a.map(|event| event["offset"].as_str().unwrap().parse().unwrap()).collect();
        assert!(of_a.is_sorted() && of_a[0] > *offsets.last().unwrap(), "given up from the front");
        assert_eq!(of_a.len() + offsets.len(), 45 * 99);
    })
    .await;
}

#[tokio::test]
async fn what_waits_in_memory_is_let_go_with_the_webhook() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES[..1]).await;
        let receiver = EventReceiver::start().await;
        let webhook = create(&app, &receiver, &["TAG_CHANGE"]).await;
        receiver.react(|_| Reaction::Status(500));
        tag(&app, crowd.id("a"), "one").await;
        app.step_all().await;
        assert_eq!(metric(&app, "aerogram_webhook_events_in_memory ").await, 1);
        app.operator().patch(&webhook, json!({"enabled": false})).await.expect(200);
        app.step_all().await;
        assert_eq!(metric(&app, "aerogram_webhook_events_in_memory ").await, 0);
        app.operator().patch(&webhook, json!({"enabled": true})).await.expect(200);
        receiver.react(|_| Reaction::Status(200));
        app.step_all().await;
        assert_eq!(receiver.taken().len(), 1);
    })
    .await;
}
