//! How many items callers may ask for at once: the same rule on every listing.

use serde_json::json;
use testkit::app::{TestApp, on_each_database};

/// Every listing with a limit, with the name of the limit and the most.
const LISTINGS: [(&str, &str, u32); 31] = [
    ("/api/channels?", "limit", 1000),
    ("/api/named_users?", "limit", 1000),
    ("/api/segments?", "limit", 200),
    ("/api/schedules?", "limit", 200),
    ("/api/drafts?", "limit", 200),
    ("/api/templates?", "limit", 100),
    ("/api/templates?", "page_size", 100),
    ("/api/experiments?", "limit", 100),
    ("/api/experiments/scheduled?", "limit", 100),
    ("/api/pipelines?", "limit", 100),
    ("/api/pipelines/deleted?", "limit", 1000),
    ("/api/pipelines/filtered?", "limit", 100),
    ("/api/regions?", "limit", 1000),
    ("/api/content/templates?", "page_size", 100),
    ("/api/device_tokens?", "limit", 1000),
    ("/api/apids?", "limit", 1000),
    ("/api/device_pins?", "limit", 1000),
    ("/api/audience/terms?", "limit", 1000),
    ("/api/audience/groups?", "limit", 1000),
    ("/api/attributes?", "limit", 100),
    ("/api/pushes?", "limit", 1000),
    ("/api/requests?", "limit", 1000),
    ("/api/events/newest?", "limit", 1000),
    ("/api/sandbox?", "limit", 1000),
    ("/api/sandbox/pushes?", "limit", 100),
    ("/api/reports/responses/list?start=2024-05-01&end=2024-05-02&", "limit", 100),
    ("/api/reports/activity/details?start=2024-05-01&end=2024-05-02&", "limit", 100),
    ("/api/reports/events?start=2024-05-01&end=2024-05-02&", "page_size", 100),
    ("/operator/accounts?", "limit", 1000),
    ("/operator/audit?", "limit", 1000),
    ("/operator/pushes?", "limit", 1000),
];

async fn check(app: &TestApp, listing: &str, name: &str, most: u32) {
    let caller = if listing.starts_with("/operator") { app.operator() } else { app.master() };
    for fine in [String::new(), "1".to_owned(), most.to_string()] {
        caller.get(&format!("{listing}{name}={fine}")).await.expect(200);
    }
    let expected = json!({"error": format!("This must be a number from 1 to {most}."), "path": name});
    for wrong in ["0".to_owned(), "-1".to_owned(), "many".to_owned(), "1.5".to_owned(), (most + 1).to_string()] {
        let refused = caller.get(&format!("{listing}{name}={wrong}")).await.expect(400);
        assert_eq!(
            (&refused["details"], &refused["error_code"]),
            (&expected, &json!(40000)),
            "{listing}{name}={wrong}"
        );
    }
}

#[tokio::test]
async fn every_listing_refuses_a_limit_out_of_range_in_the_same_words() {
    on_each_database(async |app| {
        for (listing, name, most) in LISTINGS {
            check(&app, listing, name, most).await;
        }
        let webhooks = format!("/operator/apps/{}/webhooks", app.app.key);
        let webhook = json!({"name": "Ours", "url": "https://events.example.com/", "types": ["OPEN"]});
        let created = app.operator().post(&webhooks, webhook).await.expect(201);
        let id = created["webhook"]["webhook_id"].as_str().unwrap();
        check(&app, &format!("{webhooks}/{id}/history?"), "limit", 1000).await;
        check(&app, &format!("{webhooks}/{id}/dead?"), "limit", 1000).await;
        let device = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "AB01"}});
        let registered = app.device().post("/api/channels", device).await.expect(201);
        let channel = registered["channel_id"].as_str().unwrap();
        check(&app, &format!("/api/channels/{channel}/timeline?"), "limit", 1000).await;
    })
    .await;
}
