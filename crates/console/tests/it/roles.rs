//! Who may see what: every page, for everybody.

use console::{Needs, PageRoute, routes};
use http::Method;
use model::account::Role;
use model::app::Mode;
use testkit::app::TestApp;

use crate::visitor::{Page, Visitor, on_each_database};

const ROLES: [(&str, Role); 5] = [
    ("viewer", Role::Viewer),
    ("support", Role::Support),
    ("editor", Role::Editor),
    ("sender", Role::Sender),
    ("admin", Role::Admin),
];

/// A path of the route, with ids that belong to nothing.
fn path(route: &PageRoute, app: &TestApp) -> String {
    let segment = |segment: &str| match segment {
        "{app}" => app.app.key.clone(),
        _ if segment.starts_with('{') => "00000000-0000-4000-8000-000000000000".to_owned(),
        _ => segment.to_owned(),
    };
    route.path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

async fn visit(visitor: &Visitor, route: &PageRoute, app: &TestApp) -> Page {
    let path = path(route, app);
    if route.method == Method::GET { visitor.get(&path).await } else { visitor.post(&path, &[]).await }
}

#[tokio::test]
async fn every_page_lets_in_whom_it_should_and_nobody_else() {
    on_each_database(async |app| {
        let other = app.another_app(Mode::Production).await;
        let (stranger, neighbour) = (Visitor::stranger(&app), Visitor::with_role_in(&app, &other.key, "admin").await);
        let mut team = Vec::new();
        for (name, role) in ROLES {
            team.push((role, Visitor::with_role(&app, name).await));
        }
        for route in routes() {
            let shown = format!("{} {}", route.method, route.path);
            if route.needs != Needs::Nobody {
                let refused = visit(&stranger, &route, &app).await;
                if route.method == Method::GET {
                    assert!(refused.location().starts_with("/console/login?next="), "{shown}");
                } else {
                    assert_eq!(refused.status, 401, "{shown}");
                }
            }
            match route.needs {
                Needs::Nobody | Needs::Account => continue,
                Needs::Owner => assert_eq!(visit(&neighbour, &route, &app).await.status, 403, "{shown}"),
                // Nobody learns which apps there are.
                Needs::Role(_) => assert_eq!(visit(&neighbour, &route, &app).await.status, 404, "{shown}"),
            }
            for (role, visitor) in &team {
                let is_allowed = matches!(route.needs, Needs::Role(least) if *role >= least);
                let status = visit(visitor, &route, &app).await.status.as_u16();
                assert_eq!(status == 403, !is_allowed, "{shown} for {role:?}: {status}");
                assert!(status < 500, "{shown} for {role:?}: {status}");
            }
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_role_that_is_taken_away_is_gone_at_once() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let home = format!("/console/{}", app.app.key);
        sender.get(&home).await.expect(200);
        let team = app.operator().get(&format!("/operator/apps/{}/team", app.app.key)).await.expect(200);
        let path = format!("/operator/apps/{}/team/{}", app.app.key, team["team"][0]["account_id"].as_str().unwrap());
        app.operator().delete(&path).await.expect(204);
        sender.get(&home).await.expect(404);
        sender.get("/console").await.shows("no role in any app");
        app.stop().await;
    })
    .await;
}
