//! Web push in Debian's Chromium. Run by `scripts/test browser`, which installs it.

use serde_json::json;
use testkit::app::on_each_database;
use testkit::browser::Browser;

use crate::web_push_story::{Page, play, push_service, site};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_push_is_encrypted_decrypted_and_shown() {
    shown_by_a_worker_at("/").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn a_worker_has_a_part_of_a_site_beside_another_one() {
    shown_by_a_worker_at("/push/").await;
}

async fn shown_by_a_worker_at(scope: &str) {
    on_each_database(async |app| {
        let (sim, site) = (push_service(&app).await, site().await);
        let browser = Browser::start_with(&sim.chromium_flags()).await;
        browser.allow_notifications(&site.origin()).await;
        let tab = browser.tab_of_profile().await;
        let shown = play(&app, &sim, &site, Page::Chromium(&tab), scope).await;
        assert_eq!(shown["actions"], json!([["map", "Show the map"], ["later", "Later"]]));
        assert_eq!(shown["image"], json!(format!("{}/picture.svg", site.origin())));
    })
    .await;
}
