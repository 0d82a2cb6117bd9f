//! What is around every page: navigation, the app, the visitor, and the calls that the page consists of.

use http::Method;
use maud::{DOCTYPE, Markup, html};
use model::account::Role;
use tenancy::App;

use crate::answer::Page;
use crate::assets;
use crate::calls::Call;
use crate::error::Result;
use crate::live;
use crate::parts::copy;
use crate::parts::states::badge;
use crate::visit::Visit;

struct Entry {
    name: &'static str,
    /// Below the app.
    path: &'static str,
    least: Role,
    /// After `g`, on the keyboard.
    key: Option<&'static str>,
}

const fn entry(name: &'static str, path: &'static str, least: Role) -> Entry {
    Entry { name, path, least, key: None }
}

const fn entry_with_key(name: &'static str, path: &'static str, least: Role, key: &'static str) -> Entry {
    Entry { name, path, least, key: Some(key) }
}

/// The pages of an app, in groups.
const APP_PAGES: [(&str, &[Entry]); 4] = [
    (
        "Messages",
        &[
            entry_with_key("Home", "", Role::Viewer, "h"),
            entry_with_key("Compose", "/compose", Role::Editor, "c"),
            entry_with_key("Messages", "/messages", Role::Viewer, "m"),
            entry("Templates", "/templates", Role::Editor),
            entry("Calendar", "/calendar", Role::Viewer),
            entry("Schedules", "/schedules", Role::Viewer),
            entry("Automation", "/automation", Role::Viewer),
            entry("Experiments", "/experiments", Role::Viewer),
        ],
    ),
    (
        "People",
        &[
            entry_with_key("Audience", "/audience", Role::Viewer, "a"),
            entry_with_key("People", "/people", Role::Support, "p"),
            entry_with_key("Reports", "/reports", Role::Viewer, "r"),
        ],
    ),
    (
        "What happens",
        &[
            entry_with_key("Sandbox", "/sandbox", Role::Support, "s"),
            entry_with_key("Requests", "/requests", Role::Support, "q"),
            entry_with_key("Events", "/events", Role::Support, "e"),
        ],
    ),
    (
        "The app",
        &[
            entry("Platforms", "/platforms", Role::Admin),
            entry("Web pages", "/web-pages", Role::Admin),
            entry("Webhooks", "/webhooks", Role::Admin),
            entry("Tokens", "/tokens", Role::Admin),
            entry("Team", "/team", Role::Admin),
            entry("Audit", "/audit", Role::Admin),
            entry("Settings", "/settings", Role::Admin),
        ],
    ),
];
const OWNER_PAGES: [(&str, &str); 5] = [
    ("Apps", "/console/-/apps"),
    ("Accounts", "/console/-/accounts"),
    ("Nodes", "/console/-/nodes"),
    ("Doctor", "/console/-/doctor"),
    ("Audit of all", "/console/-/audit"),
];

pub(crate) async fn around(visit: &Visit, page: &Page) -> Result<Markup> {
    let visitor = visit.visitor()?;
    let apps = visit.console.engine.tenancy().apps().await?;
    let apps: Vec<&App> = apps.iter().filter(|app| visitor.may(app.id, Role::Viewer)).collect();
    let stream = live::stream_of(visit);
    Ok(document(
        &page.title,
        &html! {
            a.skip href="#main" { "Skip to the content" }
            header.top {
                a.brand href="/console" { img src=(assets::path("icon.svg")) alt="" width="24" height="24"; "Aerogram" }
                (app_choice(visit, &apps))
                (search(visit))
                @if stream.is_some() { span #live.live data-state="off" role="status" { "not connected" } }
                details.menu {
                    summary { (visitor.account.name) }
                    div.sheet {
                        p.quiet { (visitor.account.email) }
                        a href="/console/-/profile" { "Profile" }
                        form method="post" action="/console/logout" { button.plain { "Log out" } }
                    }
                }
            }
            div.below {
                nav.side aria-label="Pages" { (navigation(visit)) }
                main #main tabindex="-1" { (content(page)) }
            }
            (calls(visit))
        },
        stream.as_deref(),
    ))
}

/// The part of a page that is brought up to date by itself.
pub(crate) fn content(page: &Page) -> Markup {
    html! { div #content { h1 { (page.title) } (page.body) } }
}

/// Around the pages by which people get in.
pub(crate) fn door(page: &Page) -> Markup {
    document(
        &page.title,
        &html! {
            main.door #main {
                p.brand { img src=(assets::path("icon.svg")) alt="" width="28" height="28"; "Aerogram" }
                (content(page))
            }
        },
        None,
    )
}

fn document(title: &str, body: &Markup, live: Option<&str>) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Aerogram" }
                link rel="icon" href=(assets::path("icon.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(assets::path("app.css"));
                script type="module" src=(assets::path("app.js")) {}
            }
            body data-stream=[live] { (body) }
        }
    }
}

/// The field that finds everything in an app.
fn search(visit: &Visit) -> Markup {
    let page = visit.to("/find");
    let typed = visit.query.text("q").filter(|_| visit.path == page).unwrap_or_default();
    html! {
        @if visit.app.is_some() {
            form.find method="get" action=(page) role="search" aria-label="Everything in the app" {
                input name="q" type="search" value=(typed) aria-label="Find a message, person, device or id"
                    placeholder="/ Find a message, person, device or id";
            }
        } @else { span.fill {} }
    }
}

fn app_choice(visit: &Visit, apps: &[&App]) -> Markup {
    let current = visit.app.as_ref();
    html! {
        @if !apps.is_empty() {
            details.menu {
                summary {
                    @match current {
                        Some(app) => { (app.name) " " (badge(app.mode.word())) }
                        None => "Choose an app",
                    }
                }
                div.sheet {
                    @for app in apps {
                        a href={ "/console/" (app.key) } aria-current=[current.filter(|own| own.id == app.id).map(|_| "true")] {
                            (app.name) " " (badge(app.mode.word()))
                        }
                    }
                }
            }
        }
    }
}

fn navigation(visit: &Visit) -> Markup {
    let is_owner = visit.visitor().is_ok_and(|visitor| visitor.account.is_owner);
    let is_here = |path: &str| (visit.path == path).then_some("page");
    html! {
        @if visit.app.is_some() {
            @for (group, entries) in APP_PAGES {
                @let entries: Vec<&Entry> = entries.iter().filter(|entry| visit.may(entry.least)).collect();
                @if !entries.is_empty() { p.group { (group) } }
                @for entry in entries {
                    @let path = visit.to(entry.path);
                    a href=(path) aria-current=[current(visit, entry)] data-key=[entry.key] { (entry.name) }
                }
            }
        }
        @if is_owner {
            p.group { "Installation" }
            @for (name, path) in OWNER_PAGES { a href=(path) aria-current=[is_here(path)] { (name) } }
        }
        p.group { "Help" }
        a href="/console/-/help" aria-current=[is_here("/console/-/help")] data-help { "Keys and help" }
        a href="/docs" { "API reference" }
    }
}

/// Whether an entry is of the page, or of the one that it belongs to.
fn current(visit: &Visit, entry: &Entry) -> Option<&'static str> {
    let page = visit.path.strip_prefix(visit.to("").as_str())?;
    if page == entry.path {
        return Some("page");
    }
    let is_below = |path: &str| page.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    // Drafts have no entry of their own.
    let is_draft = entry.path == "/messages" && is_below("/drafts");
    (is_draft || (!entry.path.is_empty() && is_below(entry.path))).then_some("true")
}

/// The calls that the page consists of, for whoever wants to do the same from a program.
fn calls(visit: &Visit) -> Markup {
    let calls = visit.calls();
    html! {
        @if !calls.is_empty() {
            details.calls {
                summary { "Show as API call" }
                @for call in &calls { (copy::block(&curl(visit, call), "the call")) }
                p.quiet {
                    "With the key and the master secret of the app in the environment, as the first start prints them; calls of \
                     the operator take the operator token."
                }
            }
        }
    }
}

/// A call as a line for a shell.
pub(crate) fn curl(visit: &Visit, call: &Call) -> String {
    let credentials = match call.path.starts_with("/operator/") {
        true => "-H \"Authorization: Bearer $AEROGRAM_OPERATOR_TOKEN\"",
        false => "-u \"$AEROGRAM_APP_KEY:$AEROGRAM_MASTER_SECRET\"",
    };
    let method = match (&call.method, &call.body) {
        (&Method::GET, _) | (&Method::POST, Some(_)) => String::new(),
        (method, _) => format!("-X {method} "),
    };
    let body = call.body.as_ref().map(|body| format!(" \\\n  -d '{}'", body.to_string().replace('\'', r"'\''")));
    format!("curl {method}\"{}{}\" {credentials}{}", visit.address(), call.path, body.unwrap_or_default())
}
