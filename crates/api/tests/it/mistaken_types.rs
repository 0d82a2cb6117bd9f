//! A request that takes a channel for another device type than it is of changes nothing and says so.

use serde_json::{Value, json};
use testkit::app::on_each_database;

use crate::crowd::Crowd;

const DEVICES: [(&str, &str); 3] = [("phone", "android"), ("tablet", "ios"), ("kiosk", "open::kiosk")];

fn warning(id: &str, actual: &str, claimed: &str) -> String {
    format!("The channel {id} is passed over. It is of the device type {actual}, not {claimed}.")
}

#[tokio::test]
async fn uninstalling_the_wrong_type_says_so() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let [phone, tablet, kiosk] = ["phone", "tablet", "kiosk"].map(|name| crowd.id(name));
        let uninstall = |id: &str, device_type: &str| json!({"channel_id": id, "device_type": device_type});
        let one = app.master().post("/api/channels/uninstall", uninstall(phone, "ios")).await.expect(202);
        assert_eq!(one["warnings"], json!([warning(phone, "android", "ios")]));
        assert_eq!(crowd.look_up(&app, "phone").await["installed"], true);
        let many = json!([uninstall(phone, "web"), uninstall(tablet, "ios"), uninstall(kiosk, "open::other")]);
        let answer = app.master().post("/api/channels/uninstall", many).await.expect(202);
        let expected = json!([warning(phone, "android", "web"), warning(kiosk, "open::kiosk", "open::other")]);
        assert_eq!(answer["warnings"], expected);
        assert_eq!(crowd.look_up(&app, "tablet").await["installed"], false);
        // Clients that do not know it try both, and one of them is right.
        let both = json!([uninstall(phone, "ios"), uninstall(phone, "android")]);
        app.master().post("/api/channels/uninstall", both).await.expect_done(202);
        assert_eq!(crowd.look_up(&app, "phone").await["installed"], false);
        app.master().post("/api/channels/uninstall", uninstall(kiosk, "open")).await.expect_done(202);
    })
    .await;
}

#[tokio::test]
async fn associating_and_disassociating_the_wrong_type_says_so() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let (phone, tablet) = (crowd.id("phone"), crowd.id("tablet"));
        let wrong = json!({"channel_id": phone, "device_type": "ios", "named_user_id": "kim"});
        let right = json!({"channel_id": phone, "device_type": "android", "named_user_id": "kim"});
        let expected = json!([warning(phone, "android", "ios")]);
        let said = app.master().post("/api/named_users/associate", &wrong).await.expect(200);
        assert_eq!(said["warnings"], expected);
        app.master().get("/api/named_users?id=kim").await.expect(404);
        app.master().post("/api/named_users/associate", &right).await.expect_done(200);
        let said = app.master().post("/api/named_users/disassociate", &wrong).await.expect(200);
        assert_eq!(said["warnings"], expected);
        assert_eq!(crowd.look_up(&app, "phone").await["named_user_id"], "kim");

        let reference = |id: &str, device_type: &str| json!({"channel_id": id, "device_type": device_type});
        let update = json!({
            "disassociate": [reference(phone, "web")], "associate": [reference(tablet, "amazon"), reference(tablet, "ios")],
        });
        let said = app.master().post("/api/named_users/kim", update).await.expect(200);
        let expected = [warning(phone, "android", "web"), warning(tablet, "ios", "amazon")];
        assert_eq!(said["warnings"], json!(expected));
        assert_eq!(crowd.look_up(&app, "tablet").await["named_user_id"], "kim");
        app.master().post("/api/named_users/disassociate", &right).await.expect_done(200);
    })
    .await;
}

#[tokio::test]
async fn changes_to_the_wrong_kind_of_channel_say_so() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let (phone, tablet) = (crowd.id("phone"), crowd.id("tablet"));
        let wrong = json!({"ios_channel": phone});
        let subscribe = json!([{"action": "subscribe", "list_id": "weekly"}]);
        let set = json!([{"action": "set", "key": "plan", "value": "gold"}]);
        let changes: [(&str, Value, u16); 5] = [
            ("/api/channels/tags", json!({"audience": wrong, "add": {"crm": ["a"]}}), 200),
            ("/api/channels/attributes", json!({"audience": wrong, "attributes": set}), 200),
            ("/api/channels/subscription_lists", json!({"audience": wrong, "subscription_lists": subscribe}), 202),
            ("/api/tags/news", json!({"ios_channels": {"add": [phone]}}), 200),
            ("/api/tags/batch", json!([{"ios_channel": phone, "tags": ["a"]}]), 200),
        ];
        for (path, body, status) in changes {
            let answer = match path {
                "/api/tags/batch" => app.master().put(path, body).await.expect(status),
                _ => app.master().post(path, body).await.expect(status),
            };
            assert_eq!(answer["warnings"], json!([warning(phone, "android", "ios")]), "{path}");
        }
        let record = crowd.look_up(&app, "phone").await;
        assert_eq!((&record["tags"], &record["tag_groups"].get("crm")), (&json!([]), &None), "{record}");

        // The others are changed, and one that is named under both kinds is no mistake.
        let both = json!({"audience": {"ios_channel": [tablet, phone], "web_channel": tablet}, "add": {"crm": ["a"]}});
        let answer = app.master().post("/api/channels/tags", both).await.expect(200);
        assert_eq!(answer["warnings"], json!([warning(phone, "android", "ios")]));
        assert_eq!(crowd.look_up(&app, "tablet").await["tag_groups"]["crm"], json!(["a"]));
    })
    .await;
}
