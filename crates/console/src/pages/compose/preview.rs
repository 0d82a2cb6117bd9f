//! What the message looks like on each kind of device and in each language, and how much of their room it takes.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::reach::Reach;
use super::written::Written;
use crate::error::Result;
use crate::parts::devices::platform;
use crate::parts::numbers::grouped;
use crate::visit::Visit;

/// Shown in any case; others, if the message is for such devices.
const USUAL: [&str; 3] = ["ios", "android", "web"];

#[derive(Deserialize)]
struct Previews {
    previews: Vec<Preview>,
    problems: Vec<Problem>,
    #[serde(default)]
    missing: Vec<String>,
}

#[derive(Deserialize)]
struct Attributes {
    attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
struct Attribute {
    name: String,
}

#[derive(Deserialize)]
struct Preview {
    device_type: String,
    locale: Option<Locale>,
    bytes: Option<u64>,
    limit: Option<u64>,
    shown: Shown,
    reason: Option<String>,
    left_out: Vec<LeftOut>,
}

#[derive(Deserialize, PartialEq, Eq)]
struct Locale {
    language: Option<String>,
    country: Option<String>,
}

#[derive(Deserialize)]
struct Shown {
    title: Option<String>,
    subtitle: Option<String>,
    body: Option<String>,
    summary: Option<String>,
    image: Option<String>,
    buttons: Vec<Button>,
}

#[derive(Deserialize)]
struct Button {
    id: String,
    label: Option<String>,
}

#[derive(Deserialize)]
struct LeftOut {
    reason: String,
}

#[derive(Deserialize)]
struct Problem {
    message: String,
}

/// The preview of what is written so far, and of the message that it is compared with.
pub(super) async fn of(visit: &Visit, written: &Written, reach: &Reach) -> Markup {
    let first = written.sketch();
    if ["notification", "message"].iter().all(|key| first.get(key).is_none()) {
        return html! { section { h2 { "Preview" } p.quiet { "Write a text to see what people will see." } } };
    }
    let other = written.other_sketch();
    let heading = if other.is_some() { "Preview of the first text" } else { "Preview" };
    html! {
        (filled(visit, heading, &first, reach, written.person.as_deref()).await)
        @if let Some(other) = &other {
            (filled(visit, "Preview of the other text", other, reach, written.person.as_deref()).await)
        }
    }
}

pub(crate) async fn of_push(visit: &Visit, heading: &str, push: &Value, reach: &Reach) -> Markup {
    filled(visit, heading, push, reach, None).await
}

/// The preview for a named user, or as it is written.
async fn filled(visit: &Visit, heading: &str, push: &Value, reach: &Reach, person: Option<&str>) -> Markup {
    let mut question = json!({ "push": push });
    if let Some(person) = person {
        question["person"] = json!(person);
    }
    let answer: Result<Previews> = visit.post("/api/push/preview", question).await;
    let is_personalized = push.pointer("/options/personalization") == Some(&json!(true));
    let known: Option<Attributes> = if is_personalized { visit.get("/api/attributes").await.ok() } else { None };
    let app = visit.app.as_ref().map_or("Your app", |app| app.name.as_str());
    html! {
        section {
            h2 { (heading) }
            @match &answer {
                Err(error) => { @for sentence in error.sentences() { p.warning { (sentence) } } }
                Ok(found) => {
                    @if let Some(known) = &known {
                        p.quiet {
                            "What stands between {{ and }} is filled in for each device. "
                            @if known.attributes.is_empty() { "There are no attributes yet." }
                            @else {
                                "Known attributes: "
                                (known.attributes.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ")) "."
                            }
                        }
                    }
                    @if !found.missing.is_empty() {
                        p.warning { "Not known of them: " (found.missing.join(", ")) "." }
                    }
                    @for problem in &found.problems { p.warning { (problem.message) } }
                    (by_language(found, app, reach))
                }
            }
            @if let Some(message) = push.get("message") { (inbox(message)) }
        }
    }
}

/// The text for everybody first; the others are unfolded.
fn by_language(found: &Previews, app: &str, reach: &Reach) -> Markup {
    let is_wanted = |preview: &&Preview| {
        USUAL.contains(&preview.device_type.as_str()) || reach.has_devices_of(&preview.device_type)
    };
    let mut locales: Vec<&Option<Locale>> = Vec::new();
    for preview in &found.previews {
        if !locales.contains(&&preview.locale) {
            locales.push(&preview.locale);
        }
    }
    html! {
        @for locale in locales {
            @let devices = html! { div.previews {
                @for preview in found.previews.iter().filter(is_wanted).filter(|preview| preview.locale == *locale) {
                    (device(preview, app))
                }
            } };
            @match locale {
                None => (devices),
                Some(locale) => { details { summary { "In " (locale.words()) } (devices) } },
            }
        }
    }
}

impl Locale {
    fn words(&self) -> String {
        [&self.language, &self.country].into_iter().flatten().cloned().collect::<Vec<_>>().join("_")
    }
}

fn device(preview: &Preview, app: &str) -> Markup {
    let look = match preview.device_type.as_str() {
        "ios" => "ios",
        "android" | "amazon" => "android",
        _ => "web",
    };
    let Shown { title, subtitle, body, summary, image, buttons } = &preview.shown;
    html! {
        figure.device.(look) {
            figcaption { (platform(&preview.device_type)) }
            div.bubble {
                p.quiet { (app) " · now" }
                @if let Some(title) = title { p { strong { (title) } } }
                @if let Some(subtitle) = subtitle { p { (subtitle) } }
                @if let Some(body) = body { p { (body) } }
                @if title.is_none() && body.is_none() { p.quiet { "Shows nothing." } }
                @if let Some(summary) = summary { p.quiet { (summary) } }
                @if let Some(image) = image { p.frame { "Picture from " (host(image)) } }
                @if !buttons.is_empty() {
                    p { @for button in buttons { span.chip { (button.label.as_ref().unwrap_or(&button.id)) } " " } }
                }
            }
            @if let (Some(bytes), Some(limit)) = (preview.bytes, preview.limit) { (room(bytes, limit)) }
            @if let Some(reason) = &preview.reason { p.quiet { (reason) } }
            @for left_out in &preview.left_out { p.quiet { (left_out.reason) } }
        }
    }
}

/// How much of what the provider takes is used.
fn room(bytes: u64, limit: u64) -> Markup {
    let words = format!("{} of {} bytes", grouped(bytes), grouped(limit));
    html! {
        p.quiet {
            meter min="0" max=(limit) high=(limit / 10 * 9) value=(bytes) aria-label=(words) { (words) }
            " " (words)
        }
    }
}

/// The page in the inbox as text: what customers write as HTML is not run here.
fn inbox(message: &Value) -> Markup {
    let text = |key: &str| message[key].as_str().unwrap_or_default();
    html! {
        figure.device.ios {
            figcaption { "Inbox" }
            div.bubble {
                p { strong { (text("title")) } }
                p { (without_markup(text("body"))) }
            }
        }
    }
}

fn without_markup(html: &str) -> String {
    let pieces = html.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.map(str::trim).filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Pictures of customers are not loaded; only where they come from is shown.
fn host(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, after)| after);
    after.split(['/', '?', '#']).next().unwrap_or(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_shown_as_text_and_pictures_by_their_host() {
        assert_eq!(without_markup("<h1>Hi</h1><p>you<br>there"), "Hi you there");
        assert_eq!((host("https://a.example/b.png?c"), host("a.png")), ("a.example", "a.png"));
    }
}
