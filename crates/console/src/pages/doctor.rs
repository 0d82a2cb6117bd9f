//! How the installation is, as a list of checks in words, for its owners.

use std::sync::Arc;

use maud::{Markup, html};
use serde::Deserialize;

use crate::answer::Answer;
use crate::error::Result;
use crate::form::encode;
use crate::parts::numbers::count;
use crate::parts::states::{Tone, toned};
use crate::visit::Visit;

#[derive(Deserialize)]
struct Doctor {
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct Check {
    check: String,
    state: String,
    text: String,
    /// Whose platform or webhook it is about.
    app: Option<String>,
    platform: Option<String>,
    webhook_id: Option<String>,
}

impl Check {
    /// The page on which it is put right, unless all is in order.
    fn remedy(&self) -> Option<(String, &'static str)> {
        let of_app = |below: String| self.app.as_ref().map(|app| format!("/console/{app}/{below}"));
        match (self.state.as_str(), self.check.as_str(), &self.platform, &self.webhook_id) {
            ("ok", ..) => None,
            (.., Some(platform), _) => of_app(format!("platforms/{}", encode(platform))).map(|path| (path, "Mend it")),
            (.., Some(webhook)) => of_app(format!("webhooks/{webhook}")).map(|path| (path, "Look at the webhook")),
            (_, "nodes" | "jobs", ..) => Some(("/console/-/nodes".to_owned(), "Look at the nodes")),
            _ => None,
        }
    }
}

/// For the start page of an owner: what is not in order, unless that page says so by itself, as of the platforms of its app.
pub(crate) async fn notice(visit: &Visit) -> Result<Markup> {
    if !visit.visitor()?.account.is_owner {
        return Ok(html! {});
    }
    let Doctor { checks } = visit.get("/operator/doctor").await?;
    let key = &visit.app()?.key;
    let is_told = |check: &Check| check.platform.is_some() && check.app.as_deref() == Some(key.as_str());
    let of = |state: &str| checks.iter().filter(|check| check.state == state && !is_told(check)).count() as u64;
    let (n_broken, n_doubtful) = (of("fail"), of("warn"));
    Ok(html! {
        @if n_broken > 0 {
            div.notice.bad { p { (count(n_broken, "thing of the installation does", "things of the installation do")) " not work. " (see_doctor()) } }
        } @else if n_doubtful > 0 {
            div.notice.warn { p { (count(n_doubtful, "thing of the installation needs", "things of the installation need")) " a look. " (see_doctor()) } }
        }
    })
}

fn see_doctor() -> Markup {
    html! { a href="/console/-/doctor" { "See the doctor" } "." }
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let Doctor { checks } = visit.get("/operator/doctor").await?;
    let of = |state: &str| checks.iter().filter(|check| check.state == state).count();
    let (kind, verdict) = match (of("fail"), of("warn")) {
        (0, 0) => ("good", "Everything is in order."),
        (0, _) => ("warn", "Everything works; look at what is marked, which will not stay so."),
        _ => ("bad", "Something does not work."),
    };
    // What is worst comes first.
    let mut sorted: Vec<&Check> = checks.iter().collect();
    sorted.sort_by_key(|check| ["fail", "warn"].iter().position(|state| check.state == *state).unwrap_or(2));
    let body = html! {
        div.notice.(kind) role="status" { p { (verdict) } }
        (table(&sorted))
        p { a href="/console/-/nodes" { "The nodes" } }
        p.quiet { "On the machine itself, " code { "aerogram doctor" } " looks at settings, files and credentials, too." }
    };
    Answer::page("Doctor", body)
}

fn table(checks: &[&Check]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Checks" {
            table.stack {
                caption.hidden { "Checks of the installation, what does not work first" }
                thead { tr { th scope="col" { "State" } th scope="col" { "Of" } th scope="col" { "In words" } } }
                tbody {
                    @for check in checks {
                        tr {
                            td { (state(&check.state)) }
                            th scope="row" { (check.check) }
                            td.wide { (check.text) @if let Some((path, words)) = check.remedy() { " " a href=(path) { (words) } } }
                        }
                    }
                }
            }
        }
    }
}

fn state(state: &str) -> Markup {
    match state {
        "ok" => toned(Tone::Good, "in order"),
        "warn" => toned(Tone::Warn, "look at it"),
        _ => toned(Tone::Bad, "does not work"),
    }
}
