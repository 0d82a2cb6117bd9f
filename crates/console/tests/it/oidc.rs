//! Logging in by an OpenID provider, and everything that can be wrong with what it says.

use std::time::Duration;

use accounts::{GroupRole, OidcSettings};
use serde_json::json;
use sim::{OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OidcFault, OidcKey, OidcPerson, OidcProvider, OidcReturn};
use testkit::app::TestApp;
use testkit::store::databases;

use crate::visitor::{Page, Visitor};

const BEGIN: &str = "/console/login/provider?next=/console/-/profile";

/// Runs a test on each database, with a provider whose groups are the ones given; `KEY` stands for the key of the app.
async fn with_provider(groups: &'static [&'static str], test: impl AsyncFn(&TestApp, &OidcProvider)) {
    for database in databases() {
        // The key of the app is known before the pages are made: they are made anew with it.
        let app = TestApp::on(database).await;
        let provider = OidcProvider::start(app.clock().clone()).await.unwrap();
        let issuer = provider.issuer().to_owned();
        let key = app.app.key.clone();
        let groups: Vec<GroupRole> =
            groups.iter().map(|group| GroupRole::parse(&group.replace("KEY", &key)).unwrap()).collect();
        let pages = move |engine| {
            let oidc = OidcSettings {
                issuer: issuer.clone(),
                client_id: OIDC_CLIENT_ID.to_owned(),
                client_secret: OIDC_CLIENT_SECRET.to_owned(),
                groups: groups.clone(),
                allow_private_addresses: true,
                trust: accounts::Trust::of_system(),
            };
            console::pages(engine, console::Settings { oidc: Some(oidc), ..console::Settings::default() })
        };
        let app = app.restart_with_pages(Box::leak(Box::new(pages))).await;
        Box::pin(test(&app, &provider)).await;
        app.stop().await;
    }
}

fn kim(groups: &[&str]) -> OidcPerson {
    OidcPerson {
        subject: "kim-1".to_owned(),
        email: Some("kim@example.com".to_owned()),
        is_verified: true,
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
    }
}

async fn come_back(visitor: &Visitor, returned: &OidcReturn) -> Page {
    let OidcReturn { code, state } = returned;
    visitor.get(&format!("/console/login/provider/return?code={code}&state={state}")).await
}

async fn log_in(app: &TestApp, provider: &OidcProvider, person: OidcPerson, fault: OidcFault) -> (Visitor, Page) {
    let visitor = Visitor::stranger(app);
    let sent = visitor.get(BEGIN).await;
    assert_eq!(sent.status.as_u16(), 303, "{}", sent.text);
    let returned = provider.log_in(sent.location(), person, fault).unwrap_or_else(|| panic!("{}", sent.location()));
    let page = come_back(&visitor, &returned).await;
    (visitor, page)
}

#[tokio::test]
async fn groups_give_roles_at_every_login() {
    with_provider(&["senders=sender:KEY", "viewers=viewer:KEY", "bosses=owner"], async |app, provider| {
        Visitor::stranger(app).get("/console/login").await.shows("/console/login/provider");
        // The last owner of an installation would stay one.
        Visitor::owner(app).await;
        let (visitor, page) = log_in(app, provider, kim(&["senders", "viewers", "others"]), OidcFault::None).await;
        page.expect_to("/console/-/profile");
        visitor.get("/console/-/profile").await.shows("kim@example.com");
        let (compose, team) = (format!("/console/{}/compose", app.app.key), format!("/console/{}/team", app.app.key));
        visitor.get(&compose).await.expect(200);
        visitor.get(&team).await.expect(403);
        // Another login, other groups, the same account.
        let (again, page) = log_in(app, provider, kim(&["viewers"]), OidcFault::None).await;
        page.expect_to("/console/-/profile");
        for browser in [&visitor, &again] {
            browser.get(&compose).await.expect(403);
        }
        let (owner, _) = log_in(app, provider, kim(&["bosses"]), OidcFault::None).await;
        owner.get("/console/-/accounts").await.expect(200);
        let accounts = app.operator().get("/operator/accounts").await.expect(200);
        assert_eq!(accounts["accounts"].as_array().unwrap().len(), 2);
        // Without a role nobody gets in, and whoever was in is out.
        let (_, page) = log_in(app, provider, kim(&[]), OidcFault::None).await;
        page.expect(403);
        page.shows("no role");
        owner.get("/console/-/accounts").await.expect(403);
        let (_, page) =
            log_in(app, provider, OidcPerson { subject: "new".to_owned(), ..kim(&["x"]) }, OidcFault::None).await;
        page.expect(403);
    })
    .await;
}

#[tokio::test]
async fn an_owner_by_the_provider_lets_another_go_and_stays_as_the_last() {
    with_provider(&["bosses=owner"], async |app, provider| {
        Visitor::owner(app).await;
        let account = async |email: &str| {
            let accounts = app.operator().get("/operator/accounts").await.expect(200);
            let found = accounts["accounts"].as_array().unwrap().iter().find(|one| one["email"] == email);
            format!("/operator/accounts/{}", found.unwrap()["account_id"].as_str().unwrap())
        };
        let first = account("owner@example.com").await;
        app.operator().delete(&first).await.expect(409);
        log_in(app, provider, kim(&["bosses"]), OidcFault::None).await.1.expect_to("/console/-/profile");
        app.operator().delete(&first).await.expect(204);
        let last = account("kim@example.com").await;
        for change in [r#"{"disabled": true}"#, r#"{"owner": false}"#] {
            app.operator().patch(&last, change).await.expect(409);
        }
        app.operator().delete(&last).await.expect(409);
    })
    .await;
}

#[tokio::test]
async fn every_fault_of_a_provider_keeps_everybody_out() {
    with_provider(&["bosses=owner"], async |app, provider| {
        for fault in [
            OidcFault::WrongNonce,
            OidcFault::WrongAudience,
            OidcFault::OtherParty,
            OidcFault::WrongIssuer,
            OidcFault::Expired,
            OidcFault::AlgorithmNone,
            OidcFault::PublicKeyAsSecret,
            OidcFault::WrongSignature,
            OidcFault::UnknownKey,
        ] {
            let (visitor, page) = log_in(app, provider, kim(&["bosses"]), fault).await;
            assert_eq!(page.status.as_u16(), 403, "{fault:?}: {}", page.text);
            page.shows("did not confirm");
            visitor.get("/console/-/profile").await.expect(303);
        }
        assert_eq!(app.operator().get("/operator/accounts").await.expect(200)["accounts"], json!([]));
        for key in [OidcKey::Rsa, OidcKey::P256, OidcKey::Ed25519] {
            provider.sign_with(key);
            log_in(app, provider, kim(&["bosses"]), OidcFault::None).await.1.expect_to("/console/-/profile");
        }
    })
    .await;
}

#[tokio::test]
async fn a_provider_may_replace_its_keys() {
    with_provider(&["bosses=owner"], async |app, provider| {
        log_in(app, provider, kim(&["bosses"]), OidcFault::None).await.1.expect_to("/console/-/profile");
        provider.rotate();
        // The keys are not fetched again for every key that somebody names.
        log_in(app, provider, kim(&["bosses"]), OidcFault::None).await.1.expect(403);
        app.advance(Duration::from_secs(10));
        log_in(app, provider, kim(&["bosses"]), OidcFault::None).await.1.expect_to("/console/-/profile");
    })
    .await;
}

#[tokio::test]
async fn a_mail_address_counts_for_an_invitation_and_only_if_it_is_verified() {
    with_provider(&[], async |app, provider| {
        let team = format!("/operator/apps/{}/team", app.app.key);
        // Nobody is let in whom nobody has invited.
        log_in(app, provider, kim(&[]), OidcFault::None).await.1.shows("no role");
        app.operator().post(&team, json!({"email": "kim@example.com", "role": "editor"})).await.expect(201);
        let unverified = OidcPerson { is_verified: false, ..kim(&[]) };
        log_in(app, provider, unverified, OidcFault::None).await.1.expect(403);
        let (visitor, page) = log_in(app, provider, kim(&[]), OidcFault::None).await;
        page.expect_to("/console/-/profile");
        visitor.get(&format!("/console/{}/compose", app.app.key)).await.expect(200);
        // From then on the subject is the account, whatever address it has, and nobody else with the address is.
        let moved = OidcPerson { email: Some("kim@elsewhere.example".to_owned()), is_verified: false, ..kim(&[]) };
        log_in(app, provider, moved, OidcFault::None).await.1.expect_to("/console/-/profile");
        let other = OidcPerson { subject: "somebody else".to_owned(), ..kim(&[]) };
        log_in(app, provider, other, OidcFault::None).await.1.shows("already");
        // Nor does an address get anybody into an account that has a password.
        Visitor::owner(app).await;
        let owner = OidcPerson { subject: "o".to_owned(), email: Some("owner@example.com".to_owned()), ..kim(&[]) };
        log_in(app, provider, owner, OidcFault::None).await.1.shows("already");
        // A locked account stays locked.
        let accounts = app.operator().get("/operator/accounts").await.expect(200);
        let id = accounts["accounts"][0]["account_id"].as_str().unwrap();
        app.operator().patch(&format!("/operator/accounts/{id}"), json!({"disabled": true})).await.expect(200);
        log_in(app, provider, kim(&[]), OidcFault::None).await.1.shows("locked");
    })
    .await;
}

#[tokio::test]
async fn a_login_ends_in_the_browser_in_which_it_began_and_in_time() {
    with_provider(&["bosses=owner"], async |app, provider| {
        let begin = async || {
            let visitor = Visitor::stranger(app);
            let sent = visitor.get(BEGIN).await;
            (visitor, provider.log_in(sent.location(), kim(&["bosses"]), OidcFault::None).unwrap())
        };
        let (mine, returned) = begin().await;
        let (theirs, _) = begin().await;
        for page in [come_back(&theirs, &returned).await, come_back(&Visitor::stranger(app), &returned).await] {
            page.expect(403);
            page.shows("another browser");
        }
        let forged = OidcReturn { state: "x".to_owned(), ..returned.clone() };
        come_back(&mine, &forged).await.expect(403);
        come_back(&mine, &returned).await.expect_to("/console/-/profile");
        // A code counts once.
        let (visitor, returned) = begin().await;
        let cookie = visitor.cookie();
        come_back(&visitor, &returned).await.expect_to("/console/-/profile");
        come_back(&Visitor::with_cookie(app, cookie), &returned).await.expect(403);
        let (late, returned) = begin().await;
        app.advance(Duration::from_secs(5 * 60));
        come_back(&late, &returned).await.expect(403);
        let refused = mine.get("/console/login/provider/return?error=access_denied").await;
        refused.expect(403);
        // Only to our own pages.
        let sent = Visitor::stranger(app);
        let away = sent.get("/console/login/provider?next=https://evil.example/").await;
        let returned = provider.log_in(away.location(), kim(&["bosses"]), OidcFault::None).unwrap();
        come_back(&sent, &returned).await.expect_to("/console");
    })
    .await;
}
