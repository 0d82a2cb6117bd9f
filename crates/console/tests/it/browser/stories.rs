//! What people come for, from the first click to the last.

use std::time::Duration;

use serde_json::json;
use sim::{Protocol, SimSettings, Simulator, keys};
use testkit::browser::Browser;

use super::{member, owner, pictures};
use crate::visitor::on_each_database;

/// From the link that the first start prints to the first push, which arrives while one looks.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_newcomer_sees_a_first_push_arrive() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let tab = browser.tab().await;
        tab.resize(1280, 900).await;
        owner(&app, &tab).await;
        tab.wait_for("document.getElementById('live').dataset.state === 'on'").await;
        tab.follow("form[action$='first-device'] button").await;
        tab.shows("device will see it").await;
        tab.fill("#text", "Written by hand").await;
        tab.wait_for("document.querySelector('#beside .bubble').innerText.includes('Written by hand')").await;
        tab.screenshot(&pictures().join("compose.png")).await;
        tab.follow("button[value=review]").await;
        tab.shows("1 device, now.").await;
        tab.follow("button[value=send]").await;
        tab.shows("Undo").await;
        app.advance(Duration::from_secs(11));
        app.step_all().await;
        // Nobody touches the page: it follows by itself.
        tab.shows("done").await;
        tab.screenshot(&pictures().join("message.png")).await;
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// "Why did Kim's tablet not get it?", asked on the phone.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn support_finds_out_why_somebody_got_nothing() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        for (kind, opt_in) in [("ios", true), ("android", false)] {
            let channel =
                json!({"device_type": kind, "opt_in": opt_in, "push_address": "a".repeat(64), "tags": ["news"]});
            let made = app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
            let of = json!({"channel_id": made["channel_id"], "named_user_id": "kim-7"});
            app.master().post("/api/named_users/associate", of).await.expect(200);
        }
        let push =
            json!({"audience": {"tag": "news"}, "device_types": "all", "notification": {"alert": "Storm tonight"}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let tab = browser.tab().await;
        tab.resize(390, 800).await;
        member(&app, &tab, "support").await;
        tab.open(&app.url(&format!("/console/{}/people", app.app.key))).await;
        tab.fill("main input[name=q]", "kim-7").await;
        tab.follow("main form[role=search] button").await;
        tab.shows("2 devices").await;
        tab.fill("#push", sent["push_ids"][0].as_str().unwrap()).await;
        tab.follow("#why button").await;
        tab.shows("had not opted in to notifications").await;
        tab.shows("The provider took the message.").await;
        tab.screenshot(&pictures().join("why.png")).await;
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// A wrong secret stops a platform; the page says so, the right one is typed, and what has waited goes out.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn an_operator_mends_a_platform_that_refuses_us() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let clock = app.engine().clock().clone();
        let sim = Simulator::start(SimSettings { clock, ..SimSettings::default() }).await.unwrap();
        let channel = json!({"channel": {"device_type": "amazon", "opt_in": true, "push_address": "amzn1.adm-registration.v3.one"}});
        app.device().post("/api/channels", channel).await.expect(201);
        let tab = browser.tab().await;
        tab.resize(1280, 900).await;
        member(&app, &tab, "admin").await;
        let platforms = app.url(&format!("/console/{}/platforms", app.app.key));
        let type_in = async |secret: &str| {
            tab.open(&format!("{platforms}/adm")).await;
            tab.fill("#client_id", keys::ADM_CLIENT_ID).await;
            tab.fill("#client_secret", secret).await;
            tab.click("main details summary").await;
            tab.wait_for("document.querySelector('main details').open").await;
            tab.fill("#endpoint", &sim.url(Protocol::Adm)).await;
            tab.fill("#ca", sim.ca_pem()).await;
            tab.run("document.querySelectorAll('[name=add]').forEach((box) => { box.checked = false; })").await;
            tab.follow("main button.main").await;
        };
        type_in("not the secret").await;
        let push = json!({"audience": "all", "device_types": ["amazon"], "notification": {"alert": "At last"}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        let id = sent["push_ids"][0].as_str().unwrap();
        app.step_all().await;
        tab.open(&platforms).await;
        tab.shows("The provider refuses us, so messages wait.").await;
        tab.screenshot(&pictures().join("refused.png")).await;
        type_in(keys::CLIENT_SECRET).await;
        tab.follow("form[action$='adm/test'] button").await;
        tab.shows("accepts the credentials").await;
        app.step_all().await;
        tab.open(&app.url(&format!("/console/{}/messages/{id}", app.app.key))).await;
        tab.shows("done").await;
        assert_eq!(sim.deliveries(10).len(), 1);
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}
