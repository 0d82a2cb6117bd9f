//! Web push in Debian's Chromium. Run by `scripts/test browser`, which installs it.

use serde_json::json;
use testkit::app::on_each_database;
use testkit::browser::Browser;

use crate::web_push_story::{Page, Way, play, push_service, site};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_push_is_encrypted_decrypted_and_shown() {
    is_played(Way { scope: "/", live: false }).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_page_is_connected_and_has_another_worker_as_well() {
    is_played(Way { scope: "/push/", live: true }).await;
}

async fn is_played(way: Way) {
    on_each_database(async |app| {
        let (sim, site) = (push_service(&app).await, site(&app).await);
        let browser = Browser::start_with(&sim.chromium_flags()).await;
        browser.allow_notifications(&site.origin()).await;
        let tab = browser.tab_of_profile().await;
        let shown = play(&app, &sim, &site, Page::Chromium(&tab), way).await;
        assert_eq!(shown["actions"], json!([["map", "Show the map"], ["later", "Later"]]));
        assert_eq!(shown["image"], json!(format!("{}/picture.svg", site.origin())));
    })
    .await;
}
