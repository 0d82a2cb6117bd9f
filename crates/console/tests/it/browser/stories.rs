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
        tab.shows("No notifications yet").await;
        tab.wait_for("document.getElementById('live').dataset.state === 'on'").await;
        tab.follow("form[action$='/first'] button").await;
        tab.shows("It is on its way").await;
        tab.wait_for("document.getElementById('live').dataset.state === 'on'").await;
        app.step_all().await;
        // Nobody touches the page: it follows by itself.
        tab.shows("It has arrived").await;
        tab.shows("Hello from Aerogram").await;
        tab.wait_for("document.getAnimations().length === 0").await;
        tab.screenshot(&pictures().join("first.png")).await;
        tab.wait_for("!document.querySelector('#server [data-copy]').hidden").await;
        tab.follow("form[action$='/first/token'] button").await;
        tab.shows("Authorization: Bearer").await;
        // Then a message of one's own.
        tab.open(&app.url(&format!("/console/{}/compose?who=some&kind0=tag&value0=test", app.app.key))).await;
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
        tab.shows("done").await;
        tab.screenshot(&pictures().join("message.png")).await;
        assert_eq!(tab.complaints(), [""; 0]);
        app.stop().await;
    })
    .await;
}

/// An editor writes, a sender approves and sends, both see it go out, and the report has it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn marketers_write_approve_send_and_look_at_the_report() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        for n in 0..3 {
            let channel = json!({"device_type": "android", "opt_in": true, "push_address": format!("token-{n}"), "tags": ["news"]});
            app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        }
        let of_app = format!("/operator/apps/{}", app.app.key);
        app.operator().patch(&of_app, json!({"approval_above": 2})).await.expect(200);
        let home = app.url(&format!("/console/{}", app.app.key));
        let (writer, approver) = (browser.tab().await, browser.tab().await);
        for (tab, role) in [(&writer, "editor"), (&approver, "sender")] {
            tab.resize(1280, 900).await;
            member(&app, tab, role).await;
        }
        writer.open(&format!("{home}/compose")).await;
        writer.fill("#title", "Storm").await;
        writer.fill("#text", "Stay at home tonight").await;
        writer.wait_for("document.querySelector('#beside').innerText.includes('Stay at home tonight')").await;
        writer.shows("3 devices").await;
        writer.follow("button[value=submit]").await;
        writer.shows("awaiting approval").await;
        approver.open(&format!("{home}/drafts")).await;
        approver.follow("main table a").await;
        approver.shows("Stay at home tonight").await;
        approver.screenshot(&pictures().join("approval.png")).await;
        approver.follow("form[action$='approve-and-send'] button").await;
        approver.shows("Undo").await;
        app.advance(Duration::from_secs(11));
        app.step_all().await;
        // Nobody touches the page: it follows by itself.
        approver.shows("done").await;
        writer.open(&format!("{home}/messages")).await;
        writer.follow("main table a").await;
        writer.shows("Stay at home tonight").await;
        approver.open(&format!("{home}/reports")).await;
        approver.shows("Sent").await;
        for tab in [&writer, &approver] {
            assert_eq!(tab.complaints(), [""; 0]);
        }
        app.stop().await;
    })
    .await;
}

/// A marketer makes a segment and an automation by clicking, and leaves Compose in the middle of a sentence.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_marketer_builds_by_clicking_and_loses_nothing() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let channel = json!({"device_type": "android", "opt_in": true, "push_address": "token", "set_tags": true, "tags": ["news"]});
        app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "The first issue"}});
        app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let home = app.url(&format!("/console/{}", app.app.key));
        let tab = browser.tab().await;
        tab.resize(1280, 900).await;
        member(&app, &tab, "sender").await;
        let choose = async |field: &str, value: &str| {
            let script = format!(
                "(() => {{ const field = document.querySelector('[name={field}]'); field.value = '{value}';
                  field.dispatchEvent(new Event('input', {{ bubbles: true }})); return field.value; }})()"
            );
            assert_eq!(tab.run(&script).await, json!(value), "{field}");
        };
        // A segment: the fields follow the kind without a reload.
        tab.open(&format!("{home}/audience")).await;
        tab.follow("a[href$='/segments/new']").await;
        tab.run("window.isSame = true").await;
        tab.fill("#display_name", "Readers").await;
        tab.fill("[name=value0]", "news").await;
        tab.shows("device fulfils this").await;
        tab.click("button[value=add]").await;
        tab.wait_for("document.querySelector('[name=kind1]')").await;
        choose("kind1", "push").await;
        tab.wait_for("document.querySelector('select[name=value1]')?.innerText.includes('The first issue')").await;
        choose("how1", "delivered").await;
        tab.run("document.querySelector('[name=value1]').selectedIndex = 1").await;
        choose("not1", "").await;
        tab.wait_for("document.querySelector('#beside .value')?.innerText === '1'").await;
        assert_eq!(tab.run("window.isSame === true").await, json!(true), "the page was loaded anew");
        tab.screenshot(&pictures().join("segment.png")).await;
        tab.follow("button[value=save]").await;
        tab.shows("tagged news, and got the message The first issue").await;
        // An automation.
        tab.open(&format!("{home}/automation/new")).await;
        tab.fill("#name", "Thanks").await;
        choose("trigger0", "tag_added").await;
        tab.fill("[name=trigger-value0]", "bought").await;
        tab.fill("#text", "Thank you").await;
        tab.wait_for("document.querySelector('#beside .bubble')?.innerText.includes('Thank you')").await;
        tab.screenshot(&pictures().join("automation.png")).await;
        tab.follow("button[value=save]").await;
        tab.shows("the tag “bought” is added").await;
        // Compose is left in the middle of a sentence.
        tab.open(&format!("{home}/compose")).await;
        tab.fill("#text", "It begins on Mon").await;
        tab.wait_for("location.search.startsWith('?draft=')").await;
        tab.shows("Draft, version 1").await;
        tab.fill("#title", "Soon").await;
        tab.open(&format!("{home}/messages")).await;
        tab.run("history.back()").await;
        tab.wait_for("document.querySelector('#text')?.value === 'It begins on Mon' && document.querySelector('#title').value === 'Soon'")
            .await;
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
        // It is chosen from the recent ones.
        tab.wait_for(
            "[...document.querySelectorAll('#push option')].some((one) => one.innerText.includes('Storm tonight'))",
        )
        .await;
        tab.run(&format!("document.getElementById('push').value = {}", sent["push_ids"][0])).await;
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

/// A developer sees what is wrong with a request while it is made, and gets around by keys.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_developer_sees_a_bad_request_arrive() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let tab = browser.tab().await;
        tab.resize(1280, 900).await;
        member(&app, &tab, "editor").await;
        tab.open(&app.url(&format!("/console/{}/requests", app.app.key))).await;
        tab.wait_for("document.getElementById('live').dataset.state === 'on'").await;
        let wrong = json!({"audience": "all", "device_types": "all", "notification": {"ios": {"badge": "many"}}});
        app.master().post("/api/push", wrong).await.expect(400);
        // Nobody touches the page: it follows by itself.
        tab.shows("notification.ios.badge").await;
        tab.run("document.querySelector('#content details summary').click()").await;
        tab.shows("curl -X POST").await;
        app.device().get("/api/tags").await.expect(200);
        tab.shows("/api/tags").await;
        tab.shows("curl -X POST").await;
        let key = |key: &str| {
            format!("document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))")
        };
        tab.run(&key("?")).await;
        tab.wait_for("document.querySelector('dialog[open]')?.innerText.includes('compose a message')").await;
        tab.run("document.querySelector('dialog button').click()").await;
        tab.run(&key("/")).await;
        tab.wait_for("document.activeElement.name === 'q'").await;
        tab.run("document.activeElement.blur()").await;
        assert_eq!(tab.complaints(), [""; 0]);
        // From here on the browser complains that nobody has touched the pages that keys lead away from.
        tab.run(&key("g")).await;
        tab.run(&key("s")).await;
        tab.wait_for("location.pathname.endsWith('/sandbox')").await;
        tab.wait_for("document.readyState === 'complete' && document.getElementById('live').dataset.state === 'on'")
            .await;
        tab.run(&key("c")).await;
        tab.wait_for("location.pathname.endsWith('/compose')").await;
        app.stop().await;
    })
    .await;
}
