//! The console in a real browser. Run by `scripts/test browser`, which installs Chromium and the judge of accessibility:
//! `cargo test -p console --test it -- --ignored browser`.

mod filled;
mod pages;
mod stories;

use std::path::PathBuf;

use serde_json::json;
use testkit::app::TestApp;
use testkit::browser::Tab;

use crate::visitor::PASSWORD;

/// Where pictures go, for people to look at.
fn pictures() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screens")
}

/// Comes in as the owner of the installation, by the link of the first start.
async fn owner(app: &TestApp, tab: &Tab) {
    let made = app.operator().post("/operator/accounts/owner-link", "{}").await.expect(200);
    tab.open(made["link"].as_str().unwrap()).await;
    tab.fill("#email", "kim@example.com").await;
    come_in(tab).await;
}

/// Comes in by an invitation to the team of the app.
async fn member(app: &TestApp, tab: &Tab, role: &str) {
    let invited = json!({"email": format!("{role}@example.com"), "role": role});
    let added = app.operator().post(&format!("/operator/apps/{}/team", app.app.key), invited).await.expect(201);
    tab.open(added["link"].as_str().unwrap()).await;
    come_in(tab).await;
}

async fn come_in(tab: &Tab) {
    tab.fill("#name", "Kim").await;
    tab.fill("#password", PASSWORD).await;
    tab.follow("button.main").await;
    tab.shows("Home").await;
}
