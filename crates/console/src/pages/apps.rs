//! The apps of the installation, for its owners.

use std::sync::Arc;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::parts::copy;
use crate::parts::fields::{Field, choice, problems};
use crate::parts::once::once;
use crate::parts::states::badge;
use crate::visit::Visit;

const PAGE: &str = "/console/-/apps";
const CALL: &str = "/operator/apps";
pub(crate) const MODES: [(&str, &str); 2] = [
    ("development", "Development: what has no credentials arrives in the sandbox"),
    ("production", "Production: for real people"),
];

#[derive(Deserialize)]
struct Apps {
    apps: Vec<App>,
}

#[derive(Deserialize)]
struct App {
    key: String,
    name: String,
    mode: String,
    created: String,
}

#[derive(Deserialize)]
struct Created {
    app: App,
    app_secret: String,
    master_secret: String,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None, None).await
}

pub(crate) async fn create(visit: Arc<Visit>) -> Result<Answer> {
    let field = |name: &str| visit.form.text(name).unwrap_or_default();
    match visit.post_form::<Created>(CALL, json!({"name": field("name"), "mode": field("mode")})).await {
        Ok(created) => draw(&visit, Some(&created), None).await,
        Err(error) => Ok(draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

async fn draw(visit: &Visit, created: Option<&Created>, error: Option<&Error>) -> Result<Answer> {
    let Apps { apps } = visit.get(CALL).await?;
    let body = html! {
        @if let Some(created) = created { (secrets(created)) }
        div.scroll tabindex="0" {
            table {
                caption.hidden { "Apps" }
                thead { tr { th scope="col" { "App" } th scope="col" { "Key" } th scope="col" { "Mode" } th scope="col" { "Made" } } }
                tbody {
                    @for app in &apps {
                        tr {
                            td { a href={ "/console/" (app.key) } { (app.name) } }
                            td { (copy::inline(&app.key, &format!("the key of {}", app.name))) }
                            td { (badge(&app.mode)) }
                            td { (time(&app.created)) }
                        }
                    }
                }
            }
        }
        section {
            h2 { "New app" }
            form.narrow method="post" action=(PAGE) {
                (once(visit))
                (problems(error, &["name"]))
                (Field::text("name", "Name").value(visit.form.text("name").unwrap_or_default()).show(error))
                (choice("mode", "Mode", &MODES, visit.form.text("mode").unwrap_or("development")))
                button.main { "Make the app" }
            }
        }
    };
    Answer::page("Apps", body)
}

fn secrets(created: &Created) -> Markup {
    let Created { app, app_secret, master_secret } = created;
    let key = &app.key;
    let exports = format!(
        "export AEROGRAM_APP_KEY={key}\nexport AEROGRAM_APP_SECRET={app_secret}\nexport AEROGRAM_MASTER_SECRET={master_secret}"
    );
    html! {
        div.notice.good role="status" {
            p { strong { (app.name) } " was made. Its secrets are shown only now:" }
            (copy::block(&exports, "the secrets"))
            p { "The app secret is for devices, the master secret for your servers." }
        }
    }
}
