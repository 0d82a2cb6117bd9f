//! Platforms: set up by a form, tested, paused with a reason, resumed and removed; secrets are never shown again.

use serde_json::json;
use testkit::receiver::OpenReceiver;

use crate::visitor::{Visitor, on_each_database};

const SECRET: &str = "a-client-secret-of-amazon";

#[tokio::test]
async fn a_platform_is_set_up_paused_and_removed() {
    on_each_database(async |app| {
        let admin = Visitor::with_role(&app, "admin").await;
        let list = format!("/console/{}/platforms", app.app.key);
        for words in ["Apple", "Browsers", "not set up", "has a key pair of its own", "arrives in the sandbox"] {
            admin.get(&list).await.shows(words);
        }
        let adm = format!("{list}/adm");
        admin.get(&adm).await.shows("Client secret");
        let refused = admin.post(&adm, &[("client_id", ""), ("client_secret", SECRET)]).await;
        refused.expect(400);
        assert!(!refused.text.contains(SECRET), "{}", refused.text);
        let fields = [("client_id", "amzn1.application-oa2-client.one"), ("client_secret", SECRET)];
        admin.post(&adm, &fields).await.expect_to(&list);
        let shown = admin.get(&list).await;
        for words in
            ["amzn1.application-oa2-client.one", "fingerprint", "not tested", "nobody knows yet whether they are good"]
        {
            shown.shows(words);
        }
        for path in [&list, &adm] {
            assert!(!admin.get(path).await.expect(200).contains(SECRET), "{path}");
        }
        let reason = "<script>alert(1)</script> until Monday";
        admin.post(&format!("{adm}/pause"), &[("reason", reason)]).await.expect_to(&list);
        let shown = admin.get(&list).await;
        shown.shows("&lt;script&gt;alert(1)&lt;/script&gt; until Monday");
        shown.shows("Resume");
        assert!(!shown.text.contains("<script>alert"));
        admin.post(&format!("{adm}/resume"), &[]).await.expect_to(&list);
        assert!(!admin.get(&list).await.expect(200).contains("until Monday"));
        let second = [("client_id", "two"), ("client_secret", SECRET), ("add", "on")];
        admin.post(&adm, &second).await.expect_to(&list);
        let keys = app.operator().get(&format!("/operator/apps/{}/platforms/adm", app.app.key)).await.expect(200);
        let fingerprint = keys["keys"][0]["fingerprint"].as_str().unwrap();
        admin.post(&format!("{adm}/keys/{fingerprint}/remove"), &[]).await.expect_to(&adm);
        assert!(!admin.get(&adm).await.expect(200).contains(fingerprint));
        admin.post(&format!("{adm}/remove"), &[]).await.expect_to(&list);
        admin.post(&format!("{adm}/test"), &[]).await.expect(404);
        Visitor::with_role(&app, "sender").await.get(&list).await.expect(403);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_open_platform_is_tested_before_it_is_trusted() {
    on_each_database(async |app| {
        let admin = Visitor::with_role(&app, "admin").await;
        let list = format!("/console/{}/platforms", app.app.key);
        let receiver = OpenReceiver::start().await;
        admin.post(&list, &[("name", "")]).await.expect(400);
        admin.post(&list, &[("name", "kiosk")]).await.expect_to(&format!("{list}/open%3A%3Akiosk"));
        let kiosk = format!("{list}/open::kiosk");
        let url = receiver.url();
        let fields = [("url", url.as_str()), ("auth", "signature"), ("secret", SECRET), ("enabled", "on")];
        admin.post(&kiosk, &[("url", &url), ("auth", "signature")]).await.shows("Type the shared secret");
        admin.post(&kiosk, &fields).await.expect_to(&list);
        admin.get(&list).await.shows("open::kiosk");
        admin.get(&list).await.shows("not tested");
        let failed = admin.post(&format!("{kiosk}/test"), &[]).await;
        failed.expect(409);
        failed.shows("role=\"alert\"");
        let set =
            app.operator().get(&format!("/operator/apps/{}/platforms/open::kiosk", app.app.key)).await.expect(200);
        receiver.confirm(set["validation_code"].as_str().unwrap().parse().unwrap());
        admin.post(&format!("{kiosk}/test"), &[]).await.shows("accepts the credentials");
        admin.get(&list).await.shows("Messages go out.");
        // New credentials have to show anew that they are good; a message does that, too.
        admin.post(&kiosk, &fields).await.expect_to(&list);
        admin.get(&list).await.shows("not tested");
        let channel =
            json!({"type": "open", "opt_in": true, "address": "lobby-1", "open": {"open_platform_name": "kiosk"}});
        app.master().post("/api/channels/open", json!({"channel": channel})).await.expect(200);
        let push = json!({"audience": "all", "device_types": ["open::kiosk"], "notification": {"alert": "Hi"}});
        app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        admin.get(&list).await.shows("Messages go out.");
        assert!(!admin.get(&kiosk).await.expect(200).contains(SECRET));
        app.stop().await;
    })
    .await;
}
