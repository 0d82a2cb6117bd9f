//! How the app reaches each platform: credentials with their health, and the buttons to test, pause, resume and remove them.

mod ask;
mod body;
mod lacking;
mod setup;
mod shown;
mod state;

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::app::Mode;
use serde_json::json;

use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::encode;
use crate::parts::fields::{Field, problems};
use crate::parts::states::badge;
use crate::visit::Visit;
use shown::{Key, PROVIDERS, Platforms, Shown, words};
use state::State;

pub(crate) use setup::{remove_key, save, show};

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None, None).await
}

/// Leads to the page of an open platform that there may not be yet.
pub(crate) async fn open(visit: Arc<Visit>) -> Result<Answer> {
    match visit.form.text("name") {
        Some(name) => {
            let name = name.strip_prefix("open::").unwrap_or(name);
            Answer::to(visit.to(&format!("/platforms/{}", encode(&format!("open::{name}")))))
        }
        None => {
            let error = Error::invalid("name", "Say what its device type is called, such as kiosk.");
            Ok(draw(&visit, None, Some(&error)).await?.refused(&error))
        }
    }
}

/// Tests, pauses, resumes or removes a platform.
pub(crate) async fn act(visit: Arc<Visit>) -> Result<Answer> {
    let platform = visit.var("platform").to_owned();
    let path = call(&visit, &platform)?;
    let changed = match visit.var("action") {
        "test" => visit.change(Method::POST, &format!("{path}/test"), None).await,
        "pause" => {
            let body = visit.form.text("reason").map_or_else(|| json!({}), |reason| json!({ "reason": reason }));
            visit.change(Method::POST, &format!("{path}/pause"), Some(body)).await
        }
        "resume" => visit.change(Method::POST, &format!("{path}/resume"), None).await,
        "remove" => visit.change(Method::DELETE, &path, None).await,
        _ => return Err(Error::NotFound("There is no such page.".to_owned())),
    };
    match changed {
        Ok(()) if visit.var("action") == "test" => draw(&visit, Some(&platform), None).await,
        Ok(()) => Answer::to(visit.to("/platforms")),
        Err(error) => Ok(draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

fn call(visit: &Visit, platform: &str) -> Result<String> {
    Ok(format!("/operator/apps/{}/platforms/{}", visit.app()?.key, encode(platform)))
}

/// What has to be done about the platforms, for other pages. The device types are those of devices that opted in.
pub(crate) async fn notices(visit: &Visit, device_types: &[&str]) -> Result<Markup> {
    let Platforms { platforms } = visit.get(&format!("/operator/apps/{}/platforms", visit.app()?.key)).await?;
    let lacking = lacking::warnings(visit, device_types).await?;
    let now = visit.console.engine.clock().now();
    let is_well =
        |shown: &Shown| matches!(shown.state(now), State::Ok | State::NotTested | State::NotSetUp | State::Disabled);
    Ok(html! {
        @for shown in platforms.iter().filter(|shown| !is_well(shown)) {
            div.notice.warn {
                p {
                    strong { (words(&shown.platform).name) } ": " (shown.state(now).sentence())
                    @if let Some((reason, _)) = shown.hindrance() { " " (reason) }
                    " " (see_platforms(visit))
                }
            }
        }
        @for warning in lacking { div.notice.warn { p { (warning) " " (see_platforms(visit)) } } }
    })
}

fn see_platforms(visit: &Visit) -> Markup {
    html! { a href=(visit.to("/platforms")) { "See the platforms" } "." }
}

async fn draw(visit: &Visit, tested: Option<&str>, error: Option<&Error>) -> Result<Answer> {
    let app = visit.app()?.clone();
    let Platforms { platforms } = visit.get(&format!("/operator/apps/{}/platforms", app.key)).await?;
    let now = visit.console.engine.clock().now();
    let known = |name: &str| platforms.iter().find(|shown| shown.platform == name);
    let open = platforms.iter().filter(|shown| shown.is_open());
    let body = html! {
        (problems(error.filter(|error| error.about("name").is_none()), &[]))
        @if let Some(tested) = tested {
            div.notice.good role="status" { p { (words(tested).name) " accepts the credentials. Nothing was sent to any device." } }
        }
        @for shown in &platforms {
            @if let Some(notice) = shown.notice(now) { div.notice.warn { p { strong { (words(&shown.platform).name) } ": " (notice) } } }
        }
        p.quiet {
            @match app.mode {
                Mode::Development => "This app is in development: what has no credentials arrives in the sandbox.",
                Mode::Production => "This app is in production: devices of a platform without credentials get nothing.",
            }
        }
        @for name in PROVIDERS {
            (card(visit, &known(name).cloned().unwrap_or_else(|| Shown::absent(name)), now))
        }
        @for shown in open { (card(visit, shown, now)) }
        section.card {
            h2 { "A platform of your own" }
            p.quiet { "Messages for devices of a type that you name are posted to a URL of yours: kiosks, chat bots, text messages." }
            form.filter method="post" action=(visit.to("/platforms")) {
                (Field::text("name", "Name of the device type").value(visit.form.text("name").unwrap_or_default()).show(error))
                button { "Set up" }
            }
        }
    };
    Answer::page("Platforms", body)
}

/// Browsers are reached with a pair that every app has from the beginning, unless somebody brings another one.
fn has_own_pair(shown: &Shown, state: State) -> bool {
    shown.platform == "webpush" && state == State::NotSetUp
}

fn card(visit: &Visit, shown: &Shown, now: model::time::UtcMillis) -> Markup {
    let state = shown.state(now);
    let words = words(&shown.platform);
    let at = visit.to(&format!("/platforms/{}", encode(&shown.platform)));
    html! {
        section.card {
            @if has_own_pair(shown, state) {
                div.head { h2 { (words.name) " " (badge("own key pair")) } span.quiet { (words.devices) } }
                p { "Nothing has to be set up: the app has a key pair of its own. In production it counts as soon as the public URL of the service \
                     begins with https, or a contact for push services is set here." }
            } @else {
                div.head { h2 { (words.name) " " (badge(state.word())) } span.quiet { (words.devices) } }
                p { (state.sentence()) }
            }
            @if let Some((reason, since)) = shown.hindrance() { p { (reason) " " span.quiet { "Since " (time(since)) "." } } }
            (facts(shown))
            (buttons(shown, &at))
        }
    }
}

fn facts(shown: &Shown) -> Markup {
    html! {
        @if let Some(url) = &shown.url {
            dl.facts { dt { "Endpoint" } dd { code { (url) } } (changed(shown)) }
        } @else if !shown.keys.is_empty() {
            dl.facts {
                @for (index, key) in shown.keys.iter().enumerate() {
                    dt { @if index == 0 { "Key" } @else { "Next key" } }
                    dd { (summary(key)) }
                }
                (changed(shown))
            }
        }
    }
}

fn summary(key: &Key) -> Markup {
    html! {
        @for (name, value) in key.known() { (name) " " code { (value) } " · " }
        "fingerprint " code { (key.fingerprint) }
        @if let Some(expires) = &key.expires { " · expires " (time(expires)) }
    }
}

fn changed(shown: &Shown) -> Markup {
    html! {
        @if let Some(modified) = &shown.modified { dt { "Changed" } dd { (time(modified)) } }
        @if let Some(proven) = &shown.proven { dt { "Works" } dd { "since " (time(proven)) } }
    }
}

fn buttons(shown: &Shown, at: &str) -> Markup {
    let name = words(&shown.platform).name;
    html! {
        div.buttons {
            @if shown.is_set_up() && !shown.unreadable {
                form method="post" action={ (at) "/test" } { button aria-label={ "Test " (name) } { "Test" } }
            }
            @if shown.paused.is_some() {
                form method="post" action={ (at) "/resume" } { button.main aria-label={ "Resume " (name) } { "Resume" } }
            }
            a.button href=(at) aria-label={ (if shown.is_set_up() { "Change " } else { "Set up " }) (name) } {
                @if shown.is_set_up() { "Change" } @else { "Set up" }
            }
            @if shown.paused.is_none() && shown.is_set_up() {
                details.ask {
                    summary { "Pause…" }
                    form method="post" action={ (at) "/pause" } {
                        label { "Why, for everybody who looks at it next" input name="reason" maxlength="1000"; }
                        button { "Pause " (name) }
                        p.hint { "Messages wait until it is resumed, or until they expire." }
                    }
                }
            }
            @if shown.is_set_up() {
                details.ask {
                    summary { "Remove…" }
                    form method="post" action={ (at) "/remove" } {
                        p { "Its credentials are deleted, and cannot be shown or restored." }
                        button.danger { "Remove " (name) }
                    }
                }
            }
        }
    }
}
