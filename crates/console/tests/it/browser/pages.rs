//! Every page, for everybody who may see it: nothing to complain about for the browser and for people who cannot see well, and
//! nothing that sticks out at the side.

use std::cell::Cell;
use std::path::PathBuf;

use console::Needs;
use model::account::Role;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::browser::{Browser, Tab};

use super::filled::{Shown, fill};
use super::{member, owner, pictures};
use crate::visitor::{on_each_database, on_one_database};

/// A width in pixels, and whether the system is dark.
type Screen = (u32, bool);
const SCREENS: [Screen; 4] = [(1280, false), (1280, true), (390, false), (320, true)];

/// Compose with something in every part of it.
const EVERYTHING_WRITTEN: &str = "/console/{app}/compose?who=some&kind0=tag&value0=news&kind1=location&value1=Portland&title=Spring\
    &kind2=attribute&of2=plan&how2=less&value2=3&kind3=push&how3=opened&kind4=segment&kind5=json&value5=x&text=It+is+here&lang0=de&ltitle0=Fr%C3%BChling&ltext0=Er+ist+da&ios_sound=bell&web_image=https%3A%2F%2Fa.example%2Fb.png\
    &buttons=ua_shop_now&inbox_title=More&inbox_body=%3Cp%3EMore&when=at&at=2030-01-31T12:00&repeat=weekly&day=monday&b_text=Or+there";
/// Views of pages that have several, with the least role that sees them.
const VIEWS: [(&str, Role); 14] = [
    ("/console/{app}/find?q=bold", Role::Viewer),
    ("/console/{app}/messages?origin=test", Role::Viewer),
    ("/console/{app}/calendar?week=2024-05-01", Role::Viewer),
    ("/console/{app}/audience?show=tags", Role::Viewer),
    ("/console/{app}/audience?show=attributes", Role::Viewer),
    ("/console/{app}/audience?show=lists", Role::Viewer),
    ("/console/{app}/reports?cohort=day", Role::Viewer),
    ("/console/{app}/people?show=devices", Role::Support),
    ("/console/{app}/people?q=kim", Role::Support),
    ("/console/{app}/people/user?id=kim-1&push={push}", Role::Support),
    ("/console/{app}/people/user?id=kim-1&kind=event", Role::Support),
    ("/console/{app}/people/user?id=kim-1&kind=change", Role::Support),
    ("/console/{app}/people/erase?named_user_id=kim-1", Role::Admin),
    (EVERYTHING_WRITTEN, Role::Editor),
];

/// The text of axe-core, by which accessibility is judged; `scripts/browser` puts it there.
fn axe() -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("axe/axe.min.js");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn every_page_is_in_order() {
    let (browser, axe) = (Browser::start().await, axe());
    // How a page is laid out does not depend on the database.
    let screens = Cell::new(&SCREENS[..]);
    on_each_database(async |app| {
        let tab = browser.tab().await;
        owner(&app, &tab).await;
        let (shown, screens) = (fill(&app).await, screens.replace(&SCREENS[..1]));
        for path in paths(&app, &shown, |_| true) {
            for &screen in screens {
                look(&app, &tab, &axe, &path, screen, true).await;
            }
        }
        app.stop().await;
    })
    .await;
}

/// The same pages as others see them. They differ by what is left out, so one screen is enough for each, another one in turns.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium; scripts/test browser runs it"]
async fn every_page_is_in_order_for_every_role() {
    let (browser, axe) = (Browser::start().await, axe());
    on_one_database(async |app| {
        let shown = fill(&app).await;
        let mut screens = SCREENS.into_iter().cycle();
        for &(name, role) in Role::WORDS {
            let tab = browser.tab().await;
            member(&app, &tab, name).await;
            let may_see = |needs| match needs {
                Needs::Role(least) => role >= least,
                Needs::Account => true,
                Needs::Nobody | Needs::Owner => false,
            };
            for path in paths(&app, &shown, may_see) {
                look(&app, &tab, &axe, &path, screens.next().unwrap(), false).await;
            }
        }
        app.stop().await;
    })
    .await;
}

/// The paths of all pages that show something, and their views. A table for spreadsheets or a file is no page.
fn paths(app: &TestApp, shown: &Shown, may_see: impl Fn(Needs) -> bool) -> Vec<String> {
    let routes = console::routes().into_iter();
    let pages = routes.filter(|route| route.method == http::Method::GET && route.needs != Needs::Nobody);
    let views = VIEWS.into_iter().map(|(view, least)| (view, Needs::Role(least)));
    let mut paths = Vec::new();
    for (path, _) in pages.map(|route| (route.path, route.needs)).chain(views).filter(|(_, needs)| may_see(*needs)) {
        let path = path.replace("{app}", &app.app.key);
        let path = shown.iter().fold(path, |path, (name, value)| path.replace(name, value));
        if !path.contains('{') && !path.ends_with("/csv") && !path.ends_with("/result") {
            paths.push(path);
        }
    }
    paths
}

async fn look(app: &TestApp, tab: &Tab, axe: &str, path: &str, (width, is_dark): Screen, keep: bool) {
    tab.resize(width, 900).await;
    tab.darken(is_dark).await;
    tab.open(&app.url(path)).await;
    let sticks_out = tab.run("document.documentElement.scrollWidth > document.documentElement.clientWidth").await;
    assert_eq!(sticks_out, json!(false), "{path} at {width}");
    assert_eq!(tab.complaints(), [""; 0], "{path} at {width}");
    let theme = if is_dark { "dark" } else { "light" };
    if keep {
        let (page, view) = path.split_once('?').unwrap_or((path, ""));
        let view: String = view.chars().take(20).collect();
        let name =
            format!("{}{view}", page.replace(&app.app.key, "app").replace("/console/", "")).replace(['/', '='], "-");
        tab.screenshot(&pictures().join(format!("{name}-{width}-{theme}.png"))).await;
    }
    let violations = judge(tab, axe).await;
    assert_eq!(violations, json!([]), "{path} at {width}, {theme}");
    tab.complaints();
}

async fn judge(tab: &Tab, axe: &str) -> Value {
    tab.inject(axe).await;
    let judged = "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations.map((one) => \
                  [one.id, one.nodes.map((node) => node.html).slice(0, 3)]))";
    tab.run(judged).await
}
