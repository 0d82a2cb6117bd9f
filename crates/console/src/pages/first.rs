//! The first push of a newcomer: a device that is ready, one click, the notification as it arrives, and the same for a server.

use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use model::app::Mode;
use model::ids::PushId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::compose;
use super::sandbox::looks::Looks;
use crate::answer::Answer;
use crate::cookies::Connection;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::copy;
use crate::parts::once::once;
use crate::visit::Visit;

/// Of the device that this page makes; a second one with it would be the same.
const TEST_ADDRESS: &str = "console-test-device";
const TAG: &str = "test";
const TEXT: &str = "Hello from Aerogram";
/// How long the token lasts that the lines for a shell are filled in with.
const TOKEN_SECONDS: u32 = 24 * 60 * 60;

#[derive(Deserialize)]
struct Registered {
    channel_id: String,
}

#[derive(Deserialize)]
struct Sent {
    push_ids: Vec<PushId>,
}

#[derive(Deserialize)]
struct Deliveries {
    deliveries: Vec<Delivery>,
}

#[derive(Deserialize)]
struct Delivery {
    device_type: String,
    transport: String,
    at: String,
    request: Value,
}

#[derive(Deserialize)]
struct Created {
    token: String,
}

/// How far the newcomer is.
enum Step {
    Ready,
    Sent,
    Arrived(PushId, Delivery),
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None).await
}

/// Makes the device, unless it is there, and sends to it.
pub(crate) async fn send(visit: Arc<Visit>) -> Result<Answer> {
    if visit.app()?.mode != Mode::Development {
        return Err(Error::NotAllowed(
            "Test devices are for apps in development, whose messages go to the sandbox.".to_owned(),
        ));
    }
    let channel = json!({"channel": {
        "device_type": "android", "opt_in": true, "push_address": TEST_ADDRESS, "set_tags": true, "tags": [TAG],
    }});
    let Registered { channel_id } = visit.post("/api/channels", channel).await?;
    let push = json!({"audience": {"android_channel": channel_id}, "device_types": ["android"],
                      "notification": {"alert": TEXT}});
    let Sent { push_ids } = visit.post_form("/api/push", push).await?;
    let id = push_ids.first().ok_or_else(|| Error::internal("a push without an id"))?;
    Answer::to(visit.to(&format!("/first{}", query([("push", id.to_string().as_str())]))))
}

/// Makes a token that lasts a day, and shows the lines for a shell with it.
pub(crate) async fn token(visit: Arc<Visit>) -> Result<Answer> {
    let body = json!({"name": "First steps", "role": "sender", "expires_in": TOKEN_SECONDS});
    let Created { token } = visit.post_form(&format!("/operator/apps/{}/tokens", visit.app()?.key), body).await?;
    draw(&visit, Some(&token)).await
}

async fn draw(visit: &Visit, token: Option<&str>) -> Result<Answer> {
    if visit.app()?.mode != Mode::Development {
        let body = html! {
            div.empty {
                p { "This app is in production: what it sends goes to real people. A first push is tried with an app in development, \
                     whose messages arrive in the sandbox." }
                p { a href=(visit.to("/compose")) { "Compose a message" } }
            }
        };
        return Answer::page("The first push", body);
    }
    let step = step(visit).await?;
    let body = html! {
        div.compose {
            div { (steps(visit, &step)) }
            (phone(visit, &step))
        }
        (from_a_server(visit, token)?)
    };
    Answer::page("The first push", body)
}

/// A form has the push in a field, because the answer to it has another address.
async fn step(visit: &Visit) -> Result<Step> {
    let named = visit.query.text("push").or_else(|| visit.form.text("push"));
    let Some(push) = named.and_then(|push| push.parse::<PushId>().ok()) else { return Ok(Step::Ready) };
    let of = query([("push_id", push.to_string().as_str()), ("limit", "1")]);
    let Deliveries { deliveries } = visit.get(&format!("/api/sandbox{of}")).await?;
    Ok(deliveries.into_iter().next().map_or(Step::Sent, |delivery| Step::Arrived(push, delivery)))
}

fn steps(visit: &Visit, step: &Step) -> Markup {
    let own = [("who", "some"), ("kind0", "tag"), ("value0", TAG), ("text", TEXT)];
    html! {
        section.card {
            h2 { "1. A device is ready" }
            p { "This phone is a test device. It lives in the sandbox of " strong { (visit.app.as_ref().map_or("the app", |app| &app.name)) }
                ", where messages arrive exactly as a provider would get them. No account with Google or Apple is needed." }
        }
        section.card {
            h2 { "2. Send it something" }
            form.actions method="post" action=(visit.to("/first")) {
                (once(visit))
                @match step {
                    Step::Ready => { button.main { "Send the first push" } }
                    _ => { button { "Send it once more" } }
                }
            }
            p.quiet { "The text is “" (TEXT) "”. To write your own, and to choose who gets it, " a href=(compose::link(visit, &own)) { "compose a message" } "." }
        }
        section.card role="status" {
            h2 { "3. See it arrive" }
            @match step {
                Step::Ready => p { "It appears on the phone by itself." },
                Step::Sent => p { "It is on its way." },
                Step::Arrived(push, delivery) => {
                    p { strong { "It has arrived." } " " span.quiet { (time(&delivery.at)) } }
                    ul.links {
                        li { a href=(visit.to(&format!("/sandbox{}", query([("push_id", push.to_string().as_str())])))) { "The exact request, in the sandbox" } }
                        li { a href=(visit.to(&format!("/messages/{push}"))) { "The report of the message" } }
                    }
                }
            }
        }
    }
}

fn phone(visit: &Visit, step: &Step) -> Markup {
    let app = visit.app.as_ref().map_or("App", |app| app.name.as_str());
    html! {
        aside.phone aria-label="The test device" {
            @match step {
                Step::Arrived(_, delivery) => (Looks::of(&delivery.transport, &delivery.request["body"]).show(&delivery.device_type, app)),
                Step::Sent => p.quiet { "…" },
                Step::Ready => p.quiet { "No notifications yet" },
            }
        }
    }
}

fn from_a_server(visit: &Visit, token: Option<&str>) -> Result<Markup> {
    let key = &visit.app()?.key;
    let auth = |secret: &str| match token {
        Some(token) => format!("-H \"Authorization: Bearer {token}\""),
        None => format!("-u \"{key}:${secret}\""),
    };
    // The master secret never belongs into an app, and neither does a token of a server.
    let (registering, of_app) = match token {
        Some(_) => ("Register a device, from your server", auth("")),
        None => ("Register a device, as your app does with the app secret", auth("AEROGRAM_APP_SECRET")),
    };
    let (url, auth) = (base(visit), auth("AEROGRAM_MASTER_SECRET"));
    let lines = [
        (
            registering,
            format!(
                "curl {url}/api/channels {of_app} \\\n  -d '{{\"channel\": {{\"device_type\": \"android\", \"opt_in\": true, \
                 \"push_address\": \"my-first-device\", \"set_tags\": true, \"tags\": [\"news\"]}}}}'"
            ),
        ),
        (
            "Send to everybody with a tag",
            format!(
                "curl {url}/api/push {auth} \\\n  -d '{{\"audience\": {{\"tag\": \"news\"}}, \"device_types\": \"all\", \
                 \"notification\": {{\"alert\": \"Hello from my server\"}}}}'"
            ),
        ),
        ("See what was delivered", format!("curl \"{url}/api/sandbox?wait=10\" {auth}")),
    ];
    Ok(html! {
        section #server {
            h2 { "The same from your server" }
            @if token.is_some() {
                div.notice.good role="status" {
                    p { "The lines have a token that works for a day. It is shown only now, and can be revoked under "
                        a href=(visit.to("/tokens")) { "Tokens" } "." }
                }
            } @else {
                p { "Three lines for a shell. The first start of the service has printed both secrets that they use: the app secret is for \
                     apps, and the master secret for your servers alone"
                    @if visit.may(Role::Admin) { ". Or let a token take their place:" } @else { "." } }
                @if visit.may(Role::Admin) {
                    form.actions method="post" action=(visit.to("/first/token")) {
                        (once(visit))
                        @if let Some(push) = visit.query.text("push") { input type="hidden" name="push" value=(push); }
                        button { "Put a token into the lines" }
                    }
                }
            }
            ol.lines { @for (words, line) in &lines { li { p { (words) } (copy::block(line, &format!("the line: {words}"))) } } }
            p { "What devices get is in the " a href=(visit.to("/sandbox")) { "sandbox" } ", as it happens. All calls are in the "
                a href="/docs" { "API reference" } "." }
        }
    })
}

/// Where the browser has reached the service, which a shell on the same machine can, too.
fn base(visit: &Visit) -> String {
    let scheme = if visit.connection == Connection::Secure { "https" } else { "http" };
    let host = visit.host.as_ref().and_then(|host| host.to_str().ok());
    match (&visit.console.public_url, host) {
        (Some(url), _) => url.trim_end_matches('/').to_owned(),
        (None, Some(host)) => format!("{scheme}://{host}"),
        (None, None) => "http://127.0.0.1:8080".to_owned(),
    }
}
