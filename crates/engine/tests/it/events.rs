//! The log as customers read it: whole events, in one order, in pages of any size.

use std::collections::BTreeSet;

use events::{EventClause, EventFilter, PublicEvent};
use model::event::{EventOffset, RecordKind};
use model::ids::AppId;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::bulk::copy_channel;

use crate::devices::register;

async fn id_of(app: &TestApp) -> AppId {
    app.engine().tenancy().app(&app.app.key).await.unwrap().id
}

/// Everything after an offset, a page at a time.
async fn read(app: &TestApp, after: EventOffset, at_most: usize, filter: &EventFilter) -> Vec<PublicEvent> {
    let id = id_of(app).await;
    let (mut events, mut after) = (Vec::new(), after);
    loop {
        let page = app.engine().events().read_events(id, after, at_most, filter).await.unwrap();
        assert!(page.events.len() <= at_most);
        assert!(page.looked > after || page.is_end, "nobody is kept at the same place");
        assert_eq!(page.missed, 0);
        let lines: Vec<&[u8]> = page.lines().split_inclusive(|byte| *byte == b'\n').collect();
        assert!(lines.iter().zip(&page.events).all(|(line, event)| *line == [&event.json[..], b"\n"].concat()));
        assert_eq!(lines.len(), page.events.len());
        events.extend(page.events);
        if page.is_end {
            return events;
        }
        after = page.looked;
    }
}

fn values(events: &[PublicEvent]) -> Vec<Value> {
    events.iter().map(|event| serde_json::from_slice(&event.json).unwrap()).collect()
}

fn types(events: &[PublicEvent]) -> Vec<&'static str> {
    events.iter().map(|event| event.kind.public_name().unwrap()).collect()
}

async fn push(app: &TestApp, body: Value) -> String {
    let answer = app.master().post("/api/push", body).await.expect(200);
    app.step_all().await;
    answer["push_ids"][0].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn events_are_whole_and_the_same_in_pages_of_any_size() {
    on_each_database(async |app| {
        let more = json!({"timezone": "America/Los_Angeles", "locale_language": "en", "tags": ["vip"]});
        let ios = register(&app, "ios", "A1", more).await;
        let android = register(&app, "android", "B1", json!({})).await;
        let payload = json!({
            "audience": "all", "device_types": "all", "notification": {"alert": "Hi"}, "campaigns": {"categories": "spring"}
        });
        let push_id = push(&app, payload.clone()).await;
        let uninstall = json!([{"channel_id": android, "device_type": "android"}]);
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        let all = read(&app, EventOffset::START, 1000, &EventFilter::everything()).await;
        let expected = ["TAG_CHANGE", "FIRST_OPEN", "FIRST_OPEN", "PUSH_BODY", "SEND", "SEND", "UNINSTALL"];
        let sorted = |mut types: Vec<&'static str>| {
            types.sort_unstable();
            types
        };
        assert_eq!(sorted(types(&all)), sorted(expected.to_vec()));
        assert!(all.is_sorted_by(|a, b| a.offset < b.offset));
        let ids: BTreeSet<_> = all.iter().map(|event| event.id).collect();
        assert_eq!(ids.len(), all.len());
        for size in [1, 2, 3] {
            assert_eq!(read(&app, EventOffset::START, size, &EventFilter::everything()).await, all, "by {size}");
        }
        for (n_seen, event) in (1..).zip(&all) {
            let rest = read(&app, event.offset, 1000, &EventFilter::everything()).await;
            assert_eq!(rest, all[n_seen..], "strictly after an event");
        }

        let values = values(&all);
        let of = |name: &str| values.iter().filter(|value| value["type"] == name).cloned().collect::<Vec<_>>();
        let place = values.iter().position(|event| event["type"] == "SEND" && event["device"]["channel"] == json!(ios));
        let place = place.expect("it was sent to");
        let sent = &values[place];
        assert_eq!(
            sent,
            &json!({
                "user": {"contact_id": ios},
                "id": sent["id"], "offset": sent["offset"], "type": "SEND",
                "occurred": "2024-05-01T12:00:00.000Z", "processed": "2024-05-01T12:00:00.000Z",
                "device": {
                    "ios_channel": ios, "channel": ios, "device_type": "IOS",
                    "attributes": {
                        "push_opt_in": "true", "iana_timezone": "America/Los_Angeles", "locale_timezone": "-25200",
                        "locale_language_code": "en",
                    },
                },
                "body": {"push_id": push_id, "alerting": true, "campaigns": {"categories": ["spring"]}},
            })
        );
        assert_eq!(sent["offset"], all[place].offset.to_string());
        let first_open = &of("FIRST_OPEN")[0];
        assert!(first_open.get("body").is_none() && first_open["device"]["channel"] == json!(ios), "{first_open}");
        let body = &of("PUSH_BODY")[0];
        assert!(body.get("device").is_none(), "{body}");
        let told = body["body"].as_object().unwrap();
        let keys: Vec<_> = told.keys().map(String::as_str).collect();
        assert_eq!(keys, ["campaigns", "payload", "push_id", "resource", "trimmed"]);
        assert_eq!(told["trimmed"], false);
        let decoded = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, told["payload"].as_str().unwrap()).unwrap();
        let decoded: Value = serde_json::from_slice(&decoded).unwrap();
        assert_eq!(decoded["notification"], payload["notification"]);
        assert_eq!(of("UNINSTALL")[0]["body"], json!({"decay": false}));
    })
    .await;
}

#[tokio::test]
async fn a_record_of_many_channels_is_read_in_parts_and_filtered() {
    const N_COPIES: usize = 3_000;
    on_each_database(async |app| {
        let channel = register(&app, "ios", "A1", json!({})).await;
        let id = id_of(&app).await;
        copy_channel(app.engine().store(), id, channel.parse().unwrap(), N_COPIES).await;
        register(&app, "android", "B1", json!({})).await;
        let push_id =
            push(&app, json!({"audience": "all", "device_types": "all", "notification": {"alert": "x"}})).await;
        let sends = EventFilter::of_kinds([RecordKind::Send]);
        let all = read(&app, EventOffset::START, 700, &sends).await;
        assert_eq!(all.len(), N_COPIES + 2);
        assert!(all.is_sorted_by(|a, b| a.offset < b.offset));
        let channels: BTreeSet<_> = all.iter().map(|event| event.channel.unwrap()).collect();
        assert_eq!(channels.len(), all.len());
        assert!(values(&all).iter().all(|event| event["body"]["push_id"] == json!(push_id)));

        let clause = |clause: EventClause| EventFilter::any_of(vec![clause]);
        let some = clause(EventClause { channels: Some([5, 17, 2_900].into_iter().collect()), ..Default::default() });
        let found = read(&app, EventOffset::START, 2, &some).await;
        assert_eq!(found.iter().map(|event| event.ordinal.unwrap().0).collect::<Vec<_>>(), [5, 17, 2_900]);
        assert!(found.iter().all(|event| all.contains(event)), "offsets do not depend on the filter");

        let android = BTreeSet::from(["ANDROID".to_owned()]);
        let android = clause(EventClause { device_types: Some(android), ..Default::default() });
        assert_eq!(types(&read(&app, EventOffset::START, 700, &android).await), ["FIRST_OPEN", "SEND"]);
        let pushes = Some(BTreeSet::from([push_id.parse().unwrap()]));
        let of_push =
            clause(EventClause { pushes, kinds: Some(BTreeSet::from([RecordKind::PushBody])), ..Default::default() });
        assert_eq!(types(&read(&app, EventOffset::START, 10, &of_push).await), ["PUSH_BODY"]);
    })
    .await;
}

#[tokio::test]
async fn a_redacted_push_keeps_its_payload_to_itself() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        let options = json!({"redact_payload": true});
        let body =
            json!({"audience": "all", "device_types": "all", "notification": {"alert": "x"}, "options": options});
        let push_id = push(&app, body).await;
        let bodies = read(&app, EventOffset::START, 10, &EventFilter::of_kinds([RecordKind::PushBody])).await;
        assert_eq!(values(&bodies)[0]["body"], json!({"push_id": push_id, "resource": "PUSH", "trimmed": true}));
    })
    .await;
}
