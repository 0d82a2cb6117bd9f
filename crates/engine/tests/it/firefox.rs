//! Web push in Debian's Firefox, an independent implementation. Run by `scripts/test firefox`, which installs it.

use testkit::app::on_each_database;
use testkit::firefox::Firefox;

use crate::web_push_story::{Page, Way, play, push_service, site};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Firefox; scripts/test firefox runs it"]
async fn a_push_is_encrypted_decrypted_and_shown() {
    on_each_database(async |app| {
        let (sim, site) = (push_service(&app).await, site(&app).await);
        let mut preferences = sim.firefox_preferences();
        // Nobody is asked whether notifications may be shown, and nobody has to have clicked before.
        preferences.push(("permissions.default.desktop-notification", "1".to_owned()));
        preferences.push(("dom.webnotifications.requireuserinteraction", "false".to_owned()));
        let way = Way { scope: "/", live: false };
        let firefox = Firefox::start(&preferences).await;
        play(&app, &sim, &site, Page::Firefox(&firefox), way).await;
    })
    .await;
}
