//! What servers are told of devices that are gone, by listings that are older than channels.

use std::collections::BTreeSet;
use std::time::Duration;

use model::device_type::DeviceType;
use model::ids::AppId;
use model::time::UtcMillis;
use serde_json::{Value, json};
use store::uninstalled;
use testkit::app::{TestApp, on_each_database};

use crate::personalization::register;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const TOKENS: &str = "/api/device_tokens/feedback";
const APIDS: &str = "/api/apids/feedback";

async fn uninstall(app: &TestApp, channel: &str, device_type: &str) {
    let gone = json!({"channel_id": channel, "device_type": device_type});
    app.master().post("/api/channels/uninstall", gone).await.expect(202);
}

async fn since(app: &TestApp, path: &str, date: &str) -> Value {
    app.master().get(&format!("{path}/?since={date}")).await.expect(200)
}

#[tokio::test]
async fn devices_that_are_gone_are_told_of_for_a_month() {
    on_each_database(async |app| {
        let phone = register(&app, "ios", "ab01", json!({})).await;
        let other = register(&app, "ios", "ab02", json!({})).await;
        let android = register(&app, "android", "F1", json!({})).await;
        let kiosk = register(&app, "open::kiosk", "K1", json!({})).await;
        register(&app, "android", "F2", json!({})).await;
        uninstall(&app, &phone, "ios").await;
        app.advance(DAY);
        for (channel, device_type) in [(&other, "ios"), (&android, "android"), (&kiosk, "open")] {
            uninstall(&app, channel, device_type).await;
        }
        let token = |token: &str, on: &str| json!({"device_token": token, "marked_inactive_on": on, "alias": null});
        let (first, second) = (token("AB01", "2024-05-01 12:00:00"), token("AB02", "2024-05-02 12:00:00"));
        assert_eq!(since(&app, TOKENS, "2024-05-01").await, json!([first, second]));
        assert_eq!(since(&app, TOKENS, "2024-05-02T00:00:00").await, json!([second]));
        let apid = json!({"apid": android, "gcm_registration_id": "F1", "marked_inactive_on": "2024-05-02 12:00:00",
            "alias": null});
        assert_eq!(since(&app, APIDS, "2024-05-01").await, json!([apid]));

        // The same telephone once more: its token is good again.
        register(&app, "ios", "AB01", json!({})).await;
        assert_eq!(since(&app, TOKENS, "2024-05-01").await, json!([second]));

        for path in [TOKENS, APIDS] {
            for (query, why) in [("", "required"), ("?since=yesterday", "date"), ("?since=2024-03-31", "31 days")] {
                let refused = app.master().get(&format!("{path}{query}")).await.expect(400);
                assert!(refused.to_string().contains(why), "{refused}");
            }
            app.device().get(&format!("{path}?since=2024-05-01")).await.expect(401);
        }
        // The day 31 days ago counts from its beginning, and what happened on it is still there at its end.
        app.advance(31 * DAY + DAY / 4);
        app.step_all().await;
        assert_eq!(since(&app, TOKENS, "2024-05-02").await, json!([second]));
        app.master().get(&format!("{TOKENS}?since=2024-05-01T23:59:59")).await.expect(400);
        app.advance(DAY);
        app.step_all().await;
        assert_eq!(since(&app, TOKENS, "2024-05-04").await, json!([]));
        let left = testkit::rows::row_counts(app.engine().store()).await;
        assert_eq!(left["uninstalled"], 0, "{left:?}");
    })
    .await;
}

#[tokio::test]
async fn tokens_that_are_good_again_leave_room_for_those_that_are_not() {
    on_each_database(async |app| {
        let phone = register(&app, "ios", "ab01", json!({})).await;
        let other = register(&app, "ios", "ab02", json!({})).await;
        uninstall(&app, &phone, "ios").await;
        // As if it had come and gone 20,000 times before.
        let come_and_gone = |tx: &mut store::Tx<'_>| {
            let found = uninstalled::since(tx, AppId(1), &DeviceType::Ios, (UtcMillis(0), 0), 1)?;
            let last = found.first().expect("it is uninstalled");
            (1..=20_000).try_for_each(|n| {
                let at = UtcMillis(last.at.0 - n);
                uninstalled::add(tx, AppId(1), at, last.ordinal, last.address.as_deref(), None)
            })
        };
        app.engine().store().write(AppId(1), come_and_gone).await.unwrap();
        register(&app, "ios", "AB01", json!({})).await;
        assert_eq!(since(&app, TOKENS, "2024-05-01").await, json!([]));
        uninstall(&app, &other, "ios").await;
        let told = since(&app, TOKENS, "2024-05-01").await;
        assert_eq!((told.as_array().unwrap().len(), &told[0]["device_token"]), (1, &json!("AB02")), "{told}");
    })
    .await;
}

#[tokio::test]
async fn everybody_who_is_gone_at_the_same_time_is_told_of_once() {
    on_each_database(async |app| {
        let (n_channels, id) = (1_050, |n: usize| format!("00000000-0000-4000-8000-{n:012x}"));
        let line = |n: usize| {
            let address = format!("AB{n:04X}");
            json!({"channel_id": id(n), "device_type": "ios", "opt_in": true, "push_address": address})
        };
        let lines: String = (0..n_channels).map(|n| format!("{}\n", line(n))).collect();
        let imported = app.master().post("/api/channels/import", lines).await;
        assert_eq!(imported.status.as_u16(), 200, "{}", imported.text());
        let gone: Vec<Value> = (0..n_channels).map(|n| json!({"channel_id": id(n), "device_type": "ios"})).collect();
        for some in gone.chunks(1_000) {
            app.master().post("/api/channels/uninstall", json!(some)).await.expect(202);
        }
        let told = since(&app, TOKENS, "2024-05-01").await;
        let told: Vec<&str> =
            told.as_array().unwrap().iter().map(|one| one["device_token"].as_str().unwrap()).collect();
        let different: BTreeSet<&str> = told.iter().copied().collect();
        assert_eq!((told.len(), different.len()), (n_channels, n_channels));
    })
    .await;
}
