//! The latest requests of an app, with what was wrong with those that were refused, for the developers of its servers and devices.

use std::sync::Arc;

use maud::{Markup, html};
use model::app::Mode;
use serde::Deserialize;

use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::copy;
use crate::parts::fields::{choice, problems};
use crate::parts::numbers::grouped;
use crate::parts::states::badge_saying;
use crate::visit::Visit;

#[derive(Default, Deserialize)]
struct Requests {
    requests: Vec<Request>,
}

#[derive(Deserialize)]
struct Request {
    at: String,
    request_id: String,
    by: String,
    method: String,
    route: String,
    path: Option<String>,
    status: u16,
    ms: u64,
    bytes: Option<u64>,
    answer_bytes: Option<u64>,
    error_code: Option<u32>,
    error: Option<String>,
    details: Option<Details>,
    body: Option<String>,
}

#[derive(Deserialize)]
struct Details {
    path: String,
}

const BY: [(&str, &str); 3] = [("", "anybody"), ("server", "servers"), ("device", "devices")];
const ENDS: [(&str, &str); 3] = [("", "any"), ("true", "refused"), ("false", "not refused")];
const LIMIT: &str = "100";

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let filter = [wanted("q"), wanted("by"), wanted("refused"), ("limit", LIMIT)];
    let (found, error) = match visit.get::<Requests>(&format!("/api/requests{}", query(filter))).await {
        Ok(found) => (found, None),
        Err(error @ Error::Invalid(_)) => (Requests::default(), Some(error)),
        Err(other) => return Err(other),
    };
    let is_filtered = ["q", "by", "refused"].iter().any(|name| visit.query.text(name).is_some());
    let body = html! {
        form.filter method="get" role="search" {
            div.field {
                label for="q" { "Search" }
                input id="q" name="q" type="search" value=(wanted("q").1) placeholder="path, error, problem or request id";
            }
            (choice("by", "Asked by", &BY, wanted("by").1))
            (choice("refused", "Answer", &ENDS, wanted("refused").1))
            button { "Show" }
            @if is_filtered { a href=(visit.path) { "Show all" } }
        }
        (problems(error.as_ref(), &[]))
        @if !found.requests.is_empty() {
            p.quiet { "What this node has answered in the last day, the newest first; up to " (LIMIT) " of them. New ones appear by \
                       themselves." }
            ol.timeline.requests { @for request in &found.requests { (line(&visit, request)) } }
        } @else if error.is_none() { (nothing(&visit, is_filtered)) }
    };
    let answer = Answer::page("Requests", body)?;
    Ok(match &error {
        Some(error) => answer.refused(error),
        None => answer,
    })
}

fn nothing(visit: &Visit, is_filtered: bool) -> Markup {
    let app = visit.app.as_ref();
    let is_development = app.is_some_and(|app| app.mode == Mode::Development);
    let key = app.map_or("", |app| app.key.as_str());
    html! {
        div.empty {
            @if is_filtered { p { "No request fits." } }
            @else if is_development {
                p { "Nobody has asked this node for anything in the last day. Whatever servers and devices ask for appears here, with the \
                     body, and with what is wrong with it if it is refused. Try it with a push that names no audience:" }
                pre { code { "curl \"$AEROGRAM_URL/api/push\" -u \"" (key) ":$AEROGRAM_MASTER_SECRET\" -d '{}'" } }
            } @else {
                p { "Nothing was refused by this node in the last day. Of a production app only refused requests are kept, and no bodies." }
            }
        }
    }
}

fn line(visit: &Visit, request: &Request) -> Markup {
    let Request { at, by, method, route, path, status, ms, error, .. } = request;
    let state = match status {
        100..400 => "ok",
        400..500 => "failed",
        _ => "gone",
    };
    html! {
        li {
            span.when { (time(at)) }
            span.word { (badge_saying(state, &status.to_string())) }
            div.what {
                p { strong { (method) } " " code { (path.as_deref().unwrap_or(route)) }
                    " " span.quiet { "by a " (by) " · " (grouped(*ms)) " ms" } }
                @if let Some(error) = error {
                    p {
                        @if let Some(Details { path }) = &request.details && !path.is_empty() { code.chip.bad { (path) } " " }
                        (error)
                    }
                }
                details.fold id={ "request-" (at) "-" (request.request_id) } { summary { "Details" } (details(visit, request)) }
            }
        }
    }
}

fn details(visit: &Visit, request: &Request) -> Markup {
    let bytes = |n: Option<u64>| n.map_or_else(|| "unknown".to_owned(), |n| format!("{} bytes", grouped(n)));
    let is_cut = request.body.as_ref().zip(request.bytes).is_some_and(|(body, bytes)| (body.len() as u64) < bytes);
    html! {
        dl.facts {
            dt { "Route" } dd { a href="/docs" { code { (request.method) " " (request.route) } } }
            dt { "Request" } dd { code { (request.request_id) } ", " (bytes(request.bytes)) }
            dt { "Answer" } dd { (request.status) ", " (bytes(request.answer_bytes))
                @if let Some(code) = request.error_code { ", error code " code { (code) } } }
        }
        @if let Some(body) = &request.body { p.quiet { "The body" @if is_cut { ", the first 16 KiB of it" } } pre { code { (body) } } }
        @if request.path.is_some() {
            p.quiet { "Try it, from a shell" @if is_cut { "; the body is incomplete" }
                ". What stood after a question mark is not kept." }
            (copy::block(&curl(visit, request), "the request"))
        }
    }
}

/// The request as a line for a shell. Credentials are not kept; they come from the environment.
fn curl(visit: &Visit, request: &Request) -> String {
    let key = visit.app.as_ref().map_or("", |app| app.key.as_str());
    let secret = if request.by == "server" { "$AEROGRAM_MASTER_SECRET" } else { "$AEROGRAM_APP_SECRET" };
    let path = request.path.as_deref().unwrap_or(&request.route);
    let quoted = |text: &str| text.replace('\'', r"'\''");
    let body =
        request.body.as_deref().map(|body| format!(" \\\n  -H 'Content-Type: application/json' -d '{}'", quoted(body)));
    format!(
        "curl -X {} \"$AEROGRAM_URL\"'{}' -u \"{key}:{secret}\"{}",
        request.method,
        quoted(path),
        body.unwrap_or_default()
    )
}
