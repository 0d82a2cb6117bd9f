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

const APP_PAGES: &[Entry] = &[
    Entry { name: "Home", path: "", least: Role::Viewer, key: Some("h") },
    Entry { name: "Compose", path: "/compose", least: Role::Editor, key: Some("c") },
    Entry { name: "Messages", path: "/messages", least: Role::Viewer, key: Some("m") },
    Entry { name: "Templates", path: "/templates", least: Role::Editor, key: None },
    Entry { name: "Calendar", path: "/calendar", least: Role::Viewer, key: None },
    Entry { name: "Schedules", path: "/schedules", least: Role::Viewer, key: None },
    Entry { name: "Automation", path: "/automation", least: Role::Viewer, key: None },
    Entry { name: "Experiments", path: "/experiments", least: Role::Viewer, key: None },
    Entry { name: "Audience", path: "/audience", least: Role::Viewer, key: Some("a") },
    Entry { name: "People", path: "/people", least: Role::Support, key: Some("p") },
    Entry { name: "Reports", path: "/reports", least: Role::Viewer, key: Some("r") },
    Entry { name: "Sandbox", path: "/sandbox", least: Role::Support, key: Some("s") },
    Entry { name: "Requests", path: "/requests", least: Role::Support, key: Some("q") },
    Entry { name: "Events", path: "/events", least: Role::Support, key: Some("e") },
    Entry { name: "Platforms", path: "/platforms", least: Role::Admin, key: None },
    Entry { name: "Webhooks", path: "/webhooks", least: Role::Admin, key: None },
    Entry { name: "Tokens", path: "/tokens", least: Role::Admin, key: None },
    Entry { name: "Team", path: "/team", least: Role::Admin, key: None },
    Entry { name: "Audit", path: "/audit", least: Role::Admin, key: None },
    Entry { name: "Settings", path: "/settings", least: Role::Admin, key: None },
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
            @for entry in APP_PAGES.iter().filter(|entry| visit.may(entry.least)) {
                @let path = visit.to(entry.path);
                a href=(path) aria-current=[is_here(&path)] data-key=[entry.key] { (entry.name) }
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
