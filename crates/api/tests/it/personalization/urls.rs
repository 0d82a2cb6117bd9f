//! URLs that differ from device to device: judged as far as they are written when a push comes in, and whole for each device.

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use super::{kept, register, send, set};
use crate::inbox::Phone;
use crate::push_account::recipients;

const MEDIA: &str = "com.urbanairship.media_attachment";

fn personalized(notification: &Value) -> Value {
    json!({"audience": "all", "device_types": "all", "notification": notification, "options": {"personalization": true}})
}

async fn browser(app: &TestApp, attributes: Value) -> String {
    let channel = json!({"device_type": "web", "live": true, "opt_in": true});
    let reply = app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201);
    let id = reply["channel_id"].as_str().unwrap().to_owned();
    set(app, json!({"channel": [id]}), attributes).await;
    id
}

#[tokio::test]
async fn everybody_gets_pictures_and_pages_of_their_own() {
    on_each_database(async |app| {
        let own = |sku: &str| json!({"sku": sku, "picture": "https://img.example/1.png"});
        let ios = register(&app, "ios", "A1", own("boots")).await;
        let web = browser(&app, own("red hat")).await;
        let page = json!({"type": "landing_page", "content": {"url": "https://shop.example/{{urlEncode sku}}"},
            "fallback_url": "https://shop.example/?of={{ sku }}"});
        let notification = json!({
            "ios": {"alert": "a", "media_attachment": {"url": "{{{picture}}}"}},
            "web": {"alert": "a", "icon": {"url": "https://img.example/{{$def logo \"none\"}}.png"},
                    "image": {"url": "{{picture}}?of={{sku}}"}},
            "actions": {"open": page},
        });
        app.master().post("/api/push/validate", personalized(&notification)).await.expect(200);
        send(&app, personalized(&notification)).await;
        let kept = kept(&app).await;
        assert_eq!(kept[&ios][MEDIA]["url"], "https://img.example/1.png");
        assert_eq!(kept[&ios]["^p"]["url"], "https://shop.example/boots");
        assert_eq!(kept[&web]["icon"]["url"], "https://img.example/none.png");
        assert_eq!(kept[&web]["image"]["url"], "https://img.example/1.png?of=red%20hat");
        assert_eq!(kept[&web]["actions"]["^u"], "https://shop.example/?of=red%20hat");
    })
    .await;
}

#[tokio::test]
async fn a_device_whose_url_is_none_is_left_out_and_told_of() {
    on_each_database(async |app| {
        let good = register(&app, "ios", "A1", json!({"picture": "https://img.example/1.png"})).await;
        let wrong = register(&app, "ios", "A2", json!({"picture": "1.png"})).await;
        let spaced = register(&app, "ios", "A3", json!({"picture": "https://img.example/1 2.png"})).await;
        let nothing = register(&app, "ios", "A4", json!({})).await;
        let push = personalized(&json!({"ios": {"alert": "a", "media_attachment": {"url": "{{{picture}}}"}}}));
        let id = send(&app, push.clone()).await;
        assert_eq!(kept(&app).await.into_keys().collect::<Vec<_>>(), [good.as_str()]);
        let failed = recipients(&app, &id, "outcome=failed", 10).await;
        assert_eq!(failed.len(), 3, "{failed:?}");
        for (channel, why) in
            [(&wrong, "begins with https://"), (&spaced, "white space"), (&nothing, "begins with https://")]
        {
            let reason = failed.iter().find(|one| one["channel_id"] == **channel).unwrap()["reason"].as_str().unwrap();
            assert!(reason.contains("a URL of the push cannot be used") && reason.contains(why), "{reason}");
            let asked = json!({"push": push, "channel": channel});
            let previewed = app.master().post("/api/push/preview", asked).await.expect(200);
            assert_eq!(previewed["problems"][0]["message"], reason);
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_written_of_a_url_is_judged_when_it_comes_in() {
    on_each_database(async |app| {
        let path = "notification.web.icon.url";
        let web = |url: &str| json!({"web": {"alert": "a", "icon": {"url": url}}});
        for url in ["ftp://img.example/{{sku}}", "/{{sku}}", "https://img.example/a b/{{sku}}", "https:///{{sku}}"] {
            let refused = app.master().post("/api/push", personalized(&web(url))).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{url}");
        }
        let refused =
            app.master().post("/api/push", personalized(&web("https://img.example/{{#if sku}}"))).await.expect(400);
        assert!(refused["error"].as_str().unwrap().contains("Column 21: "), "{refused}");
        // In any other push braces are characters.
        let mut plain = personalized(&web("{{{picture}}}"));
        plain["options"] = json!({"personalization": false});
        let refused = app.master().post("/api/push", plain).await.expect(400);
        assert_eq!(refused["details"]["path"], path);

        // A template is read as the push that it becomes.
        let web_of = browser(&app, json!({"picture": "https://img.example/1.png"})).await;
        let push = json!({"notification": web("{{{picture}}}"), "options": {"personalization": true}});
        let template = json!({"name": "T", "variables": null, "push": push});
        let made = app.master().post("/api/templates", template).await.expect(201);
        let usage =
            json!({"audience": "all", "device_types": ["web"], "merge_data": {"template_id": made["template_id"]}});
        app.master().post("/api/templates/push", usage).await.expect(200);
        // A schedule shows its push as it came.
        let later =
            json!({"schedule": {"scheduled_time": "2030-01-01T00:00:00"}, "push": personalized(&web("{{{picture}}}"))});
        let made = app.master().post("/api/schedules", later.clone()).await.expect(201);
        let schedule = format!("/api/schedules/{}", made["schedule_ids"][0].as_str().unwrap());
        assert_eq!(app.master().get(&schedule).await.expect(200)["push"], later["push"]);
        app.step_all().await;
        assert_eq!(kept(&app).await[&web_of]["icon"]["url"], "https://img.example/1.png");
    })
    .await;
}

#[tokio::test]
async fn a_message_without_its_picture_can_be_read() {
    on_each_database(async |app| {
        let kim = Phone::new(&app, "ios", json!({})).await;
        let nobody = Phone::new(&app, "ios", json!({})).await;
        set(&app, json!({"channel": [kim.channel]}), json!({"picture": "https://img.example/1.png"})).await;
        let message = json!({"title": "Hi", "body": "b", "icons": {"list_icon": "{{{picture}}}"}});
        send(&app, json!({"message": message, "options": {"personalization": true}})).await;
        assert_eq!(kim.messages(&app).await[0]["icons"], json!({"list_icon": "https://img.example/1.png"}));
        let [listed] = &nobody.messages(&app).await[..] else { panic!("one message") };
        assert_eq!((&listed["title"], listed.get("icons")), (&json!("Hi"), None));
    })
    .await;
}
