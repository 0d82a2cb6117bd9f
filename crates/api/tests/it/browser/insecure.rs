//! Pages that come by http from another host, where browsers have much less.

use testkit::app::on_each_database;
use testkit::browser::Browser;

use super::demo::link;
use super::site::Site;
use super::text;

const HOST: &str = "shop.example";

/// Says why, instead of failing at the first thing that is not there.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn pages_are_told_that_they_need_https() {
    let browser = Browser::start_with(&[format!("--host-resolver-rules=MAP {HOST} 127.0.0.1")]).await;
    on_each_database(async |app| {
        let elsewhere = |url: &str| url.replace("127.0.0.1", HOST);
        let site = Site::start(&app).await;
        let tab = browser.tab().await;
        tab.open(&elsewhere(&site.url(""))).await;
        assert_eq!(tab.run("isSecureContext").await, false);
        let init = format!(
            "import('{}').then(({{ Aerogram }}) => Aerogram.init({{ url: '{}', appKey: '{}' }})).catch((error) => error.message)",
            app.url("/sdk/1/aerogram.js"),
            app.url(""),
            app.app.key
        );
        let refused = text(&tab.run(&init).await);
        assert!(refused.starts_with("Aerogram needs https"), "{refused}");
        tab.open(&elsewhere(&link(&app).await)).await;
        tab.wait_for("document.getElementById('trouble').innerText.includes('needs https, as a page and as a phone')").await;
        assert_eq!(tab.run("document.querySelector('[value=ios]').matches(':disabled')").await, true);
        app.stop().await;
    })
    .await;
}
