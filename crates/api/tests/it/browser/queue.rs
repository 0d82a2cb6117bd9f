//! What a page keeps until the service has it: its registration, and changes that are sent together.

use serde_json::json;
use testkit::app::on_each_database;
use testkit::browser::Browser;

use super::identity::{connected, n_channels};
use super::site::Site;
use super::{channel, channel_named, come};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn what_is_refused_takes_nothing_else_with_it() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, id) = connected(&app, &browser).await;
        // The second belongs to the service.
        tab.run(
            "push.addTags('before'); push.addTags('de', 'ua_locale_country'); push.addTags('after');
             push.setAttributes({ plan: 'gold' }); push.subscribe('weekly')",
        )
        .await;
        tab.wait_for("errors.length > 0").await;
        let mut about = channel_named(&app, &id).await;
        while about["tags"] != json!(["after", "before"]) || about["attributes"]["plan"] != "gold" {
            tokio::task::yield_now().await;
            about = channel_named(&app, &id).await;
        }
        assert_eq!(tab.run("errors.length").await, 1);
        app.stop().await;
    })
    .await;
}

/// The service takes a hundred tags of a group from one request, and passes over the others.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn many_tags_arrive() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let (_site, tab, id) = connected(&app, &browser).await;
        tab.run("push.addTags(Array.from({ length: 250 }, (_, n) => 'tag-' + n), 'many')").await;
        let n_tags = async || channel_named(&app, &id).await["tag_groups"]["many"].as_array().map_or(0, Vec::len);
        while n_tags().await != 250 {
            tokio::task::yield_now().await;
        }
        assert_eq!(tab.run("errors").await, json!([]));
        app.stop().await;
    })
    .await;
}

/// The answer to the registration is lost, and the browser is in another time zone when it tries again.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_registration_is_repeated_as_it_was() {
    let browser = Browser::start().await;
    on_each_database(async |app| {
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        come(&site, &tab, "?consent=required").await;
        let loses = "{ const real = window.fetch;
            window.fetch = async (...all) => { await real(...all); throw new Error('Lost.'); }; null; }";
        tab.run(loses).await;
        tab.run("push.consent(true)").await;
        tab.wait_for("errors.length > 0").await;
        assert_eq!(n_channels(&app).await, 1);
        tab.call("Emulation.setTimezoneOverride", json!({"timezoneId": "Asia/Tokyo"})).await;
        come(&site, &tab, "?consent=required").await;
        tab.wait_for("push.connected").await;
        assert_eq!(channel(&app, &tab).await["tag_groups"]["timezone"], json!(["Asia/Tokyo"]));
        assert_eq!(n_channels(&app).await, 1);
        app.stop().await;
    })
    .await;
}
