//! First links, logging in and out, lost passwords, one-time codes, and being locked out.

use std::time::Duration;

use accounts::TotpSecret;

use crate::visitor::{PASSWORD, Visitor, on_each_database};

#[tokio::test]
async fn a_link_makes_the_first_account_once() {
    on_each_database(async |app| {
        let stranger = Visitor::stranger(&app);
        stranger.get("/").await.expect_to("/console");
        stranger.get("/console").await.expect_to("/console/login");
        stranger.get("/console/login").await.shows("aerogram console link");
        let made = app.operator().post("/operator/accounts/owner-link", "{}").await.expect(200);
        let link = made["link"].as_str().unwrap();
        let path = &link[link.find("/console").unwrap()..];
        stranger.get(path).await.shows("Make your account");
        let code = path.split_once("code=").unwrap().1;
        let short = [("code", code), ("email", "kim"), ("name", ""), ("password", "short")];
        let refused = stranger.post("/console/start", &short).await;
        refused.expect(400);
        for words in ["must be an e-mail address", "12 to 256 characters", "1 to 128 characters"] {
            refused.shows(words);
        }
        let fields = [("code", code), ("email", "Kim@Example.com"), ("name", "Kim"), ("password", PASSWORD)];
        stranger.post("/console/start", &fields).await.expect_to(&format!("/console/{}/first", app.app.key));
        stranger.get("/console").await.expect_to(&format!("/console/{}", app.app.key));
        stranger.get(&format!("/console/{}", app.app.key)).await.shows("The first push");
        let other = Visitor::stranger(&app);
        other.post("/console/start", &fields).await.expect(410);
        other.get(path).await.shows("used already");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn links_end() {
    on_each_database(async |app| {
        let made = app.operator().post("/operator/accounts/owner-link", "{}").await.expect(200);
        let link = made["link"].as_str().unwrap();
        app.advance(Duration::from_secs(61 * 60));
        Visitor::stranger(&app).get(&link[link.find("/console").unwrap()..]).await.expect(410);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn only_the_right_password_lets_in_and_guessing_gets_slow() {
    on_each_database(async |app| {
        Visitor::owner(&app).await;
        let visitor = Visitor::stranger(&app);
        let login = |password| [("email", "OWNER@example.com"), ("password", password), ("next", "/console/-/profile")];
        visitor.get("/console/-/profile?x=1").await.expect_to("/console/login?next=%2Fconsole%2F-%2Fprofile%3Fx%3D1");
        for unknown in ["owner@example.com", "nobody@example.com"] {
            let fields = [("email", unknown), ("password", "wrong wrong wrong")];
            let refused = visitor.post("/console/login", &fields).await;
            refused.expect(403);
            refused.shows("The address or the password is wrong.");
        }
        visitor.post("/console/login", &login(PASSWORD)).await.expect_to("/console/-/profile");
        visitor.get("/console/-/profile").await.shows("owner@example.com");
        visitor.post("/console/logout", &[]).await.expect_to("/console/login");
        visitor.get("/console/-/profile").await.expect(303);
        let guesser = Visitor::stranger(&app);
        for _ in 0..5 {
            guesser.post("/console/login", &login("a wrong password")).await.expect(403);
        }
        guesser.post("/console/login", &login(PASSWORD)).await.expect(429);
        app.advance(Duration::from_secs(2));
        guesser.post("/console/login", &login(PASSWORD)).await.expect_to("/console/-/profile");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_login_leads_only_to_our_own_pages() {
    on_each_database(async |app| {
        Visitor::owner(&app).await;
        for next in ["https://evil.example/", "//evil.example/", "/consolex", "/console/\\evil", "/console/\r\nX: y"] {
            let fields = [("email", "owner@example.com"), ("password", PASSWORD), ("next", next)];
            Visitor::stranger(&app).post("/console/login", &fields).await.expect_to("/console");
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_new_password_ends_all_other_logins() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let elsewhere = Visitor::stranger(&app);
        let login = |password| [("email", "owner@example.com"), ("password", password)];
        elsewhere.post("/console/login", &login(PASSWORD)).await.expect_to("/console");
        let wrong = [("current", "not my password"), ("new", "another long one")];
        owner.post("/console/-/profile/password", &wrong).await.shows("not the current password");
        let right = [("current", PASSWORD), ("new", "another long one")];
        owner.post("/console/-/profile/password", &right).await.expect_to("/console/-/profile");
        owner.get("/console/-/profile").await.expect(200);
        elsewhere.get("/console/-/profile").await.expect(303);
        elsewhere.post("/console/login", &login(PASSWORD)).await.expect(403);
        // A link of the operator brings in somebody who has forgotten it, and ends the others.
        let accounts = app.operator().get("/operator/accounts").await.expect(200);
        let id = accounts["accounts"][0]["account_id"].as_str().unwrap();
        let made = app.operator().post(&format!("/operator/accounts/{id}/link"), "{}").await.expect(200);
        Visitor::by_link(&app, made["link"].as_str().unwrap(), "").await.get("/console/-/profile").await.expect(200);
        owner.get("/console/-/profile").await.expect(303);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nobody_stays_logged_in_for_ever() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        for _ in 0..10 {
            app.advance(Duration::from_secs(11 * 60 * 60));
            owner.get("/console/-/profile").await.expect(200);
        }
        app.advance(Duration::from_secs(13 * 60 * 60));
        owner.get("/console/-/profile").await.expect(303);
        let owner = Visitor::stranger(&app);
        owner
            .post("/console/login", &[("email", "owner@example.com"), ("password", PASSWORD)])
            .await
            .expect_to("/console");
        for _ in 0..15 {
            app.advance(Duration::from_secs(11 * 60 * 60));
            owner.get("/console/-/profile").await.expect(200);
        }
        app.advance(Duration::from_secs(4 * 60 * 60));
        owner.get("/console/-/profile").await.expect(303);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn one_time_codes_are_the_second_step() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let profile = owner.get("/console/-/profile").await;
        let secret =
            profile.text.split_once(r#"name="secret" value=""#).unwrap().1.split('"').next().unwrap().to_owned();
        let totp = TotpSecret::from_text(&secret).unwrap();
        let code = || totp.code_at(app.clock().now());
        let wrong = [("secret", secret.as_str()), ("code", "12")];
        let refused = owner.post("/console/-/profile/codes", &wrong).await;
        refused.shows("not the code");
        // The secret is in the app by now, and stays.
        refused.shows(&secret);
        owner
            .post("/console/-/profile/codes", &[("secret", &secret), ("code", &code())])
            .await
            .expect_to("/console/-/profile");
        let visitor = Visitor::stranger(&app);
        let first = [("email", "owner@example.com"), ("password", PASSWORD)];
        let second = visitor.post("/console/login", &first).await;
        second.expect(200);
        assert!(!second.text.contains(PASSWORD) && visitor.cookie().is_none());
        let ticket = second.text.split_once(r#"name="ticket" value=""#).unwrap().1.split('"').next().unwrap();
        // The code that switched codes on was used.
        visitor.post("/console/login", &[("ticket", ticket), ("code", &code())]).await.expect(403);
        app.advance(Duration::from_secs(31));
        visitor.post("/console/login", &[("ticket", ticket), ("code", "000000")]).await.expect(403);
        visitor.post("/console/login", &[("ticket", ticket), ("code", &code())]).await.expect_to("/console");
        owner
            .post("/console/-/profile/codes/end", &[("current", "a wrong password")])
            .await
            .shows("not the current password");
        // A link for a new password does not get around codes.
        let accounts = app.operator().get("/operator/accounts").await.expect(200);
        let id = accounts["accounts"][0]["account_id"].as_str().unwrap();
        let made = app.operator().post(&format!("/operator/accounts/{id}/link"), "{}").await.expect(200);
        let link = made["link"].as_str().unwrap().split_once("code=").unwrap().1;
        let other = Visitor::stranger(&app);
        let fields = [("code", link), ("name", "Kim"), ("password", PASSWORD)];
        other.post("/console/start", &fields).await.expect_to("/console/login");
        assert_eq!(other.cookie(), None);
        app.advance(Duration::from_secs(6 * 60));
        let late = Visitor::stranger(&app).post("/console/login", &[("ticket", ticket), ("code", &code())]).await;
        late.expect(403);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn codes_cannot_be_guessed_by_somebody_who_knows_the_password() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let profile = owner.get("/console/-/profile").await;
        let secret =
            profile.text.split_once(r#"name="secret" value=""#).unwrap().1.split('"').next().unwrap().to_owned();
        let code = TotpSecret::from_text(&secret).unwrap().code_at(app.clock().now());
        owner
            .post("/console/-/profile/codes", &[("secret", &secret), ("code", &code)])
            .await
            .expect_to("/console/-/profile");
        let guesser = Visitor::stranger(&app);
        let mut statuses = Vec::new();
        for _ in 0..5 {
            let second =
                guesser.post("/console/login", &[("email", "owner@example.com"), ("password", PASSWORD)]).await;
            statuses.push(second.status.as_u16());
            let Some((_, rest)) = second.text.split_once(r#"name="ticket" value=""#) else { continue };
            let ticket = rest.split('"').next().unwrap();
            statuses
                .push(guesser.post("/console/login", &[("ticket", ticket), ("code", "000000")]).await.status.as_u16());
        }
        assert!(statuses.contains(&429), "{statuses:?}");
        let log = app.operator().get("/operator/audit?action=account.sign_in_refused").await.expect(200);
        assert_eq!(log["entries"][0]["credential"], "account owner@example.com");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_open_page_is_no_sign_of_life() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let home = format!("/console/{}", app.app.key);
        for _ in 0..12 {
            owner.get_with(&home, &[("x-fragment", "content")]).await.expect(200);
            app.advance(Duration::from_secs(60 * 60 + 1));
        }
        owner.get_with(&home, &[("x-fragment", "content")]).await.expect(401);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn somebody_who_is_locked_out_is_out_at_once() {
    on_each_database(async |app| {
        Visitor::owner(&app).await;
        let viewer = Visitor::with_role(&app, "viewer").await;
        let home = format!("/console/{}", app.app.key);
        viewer.get(&home).await.expect(200);
        let accounts = app.operator().get("/operator/accounts").await.expect(200);
        let viewers =
            accounts["accounts"].as_array().unwrap().iter().find(|account| account["owner"] == false).unwrap();
        let path = format!("/operator/accounts/{}", viewers["account_id"].as_str().unwrap());
        app.operator().patch(&path, r#"{"disabled": true}"#).await.expect(200);
        viewer.get(&home).await.expect(303);
        app.operator().patch(&path, r#"{"disabled": false}"#).await.expect(200);
        viewer.get(&home).await.expect(303);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_last_owner_stays() {
    on_each_database(async |app| {
        Visitor::owner(&app).await;
        let accounts = app.operator().get("/operator/accounts").await.expect(200);
        let path = format!("/operator/accounts/{}", accounts["accounts"][0]["account_id"].as_str().unwrap());
        for change in [r#"{"disabled": true}"#, r#"{"owner": false}"#] {
            app.operator().patch(&path, change).await.expect(409);
        }
        app.operator().delete(&path).await.expect(409);
        app.stop().await;
    })
    .await;
}
