//! The settings of an app: changed, with new secrets shown once, and deleted by owners who type its name.

use crate::visitor::{Visitor, on_each_database};

#[tokio::test]
async fn settings_change_and_secrets_are_shown_once() {
    on_each_database(async |app| {
        let admin = Visitor::with_role(&app, "admin").await;
        let page = format!("/console/{}/settings", app.app.key);
        let first = admin.get(&page).await;
        first.shows(&app.app.key);
        assert!(!first.text.contains("Delete for good"), "only owners delete apps");
        let name = "<script>Shop</script>";
        let fields = [("name", name), ("mode", "development"), ("associate", "devices"), ("tags", "servers")];
        admin.post(&page, &fields).await.expect_to(&page);
        let shown = admin.get(&page).await;
        shown.shows("&lt;script&gt;Shop");
        assert!(!shown.text.contains(name));
        let path = format!("/operator/apps/{}", app.app.key);
        let changed = app.operator().get(&path).await.expect(200);
        assert_eq!(
            (&changed["app"]["name"], &changed["app"]["named_users"]["tags"]),
            (&name.into(), &"servers".into())
        );
        // A rule that nobody has chosen follows the mode.
        admin
            .post(&page, &[("mode", "production"), ("associate", "devices"), ("tags", "servers")])
            .await
            .expect_to(&page);
        let changed = app.operator().get(&path).await.expect(200);
        assert_eq!(changed["app"]["named_users"]["associate"], "signed");
        admin.post(&page, &[("mode", "both")]).await.expect(400);

        let rotated = admin.post(&format!("{page}/rotate"), &[("secret", "master")]).await;
        rotated.shows("AEROGRAM_MASTER_SECRET=");
        assert!(!rotated.text.contains("AEROGRAM_APP_SECRET="));
        app.master().get("/api/schedules").await.expect(401);
        let secret = rotated.text.split_once("AEROGRAM_MASTER_SECRET=").unwrap().1[..22].to_owned();
        app.nobody().basic(&app.app.key, &secret).get("/api/schedules").await.expect(200);
        assert!(!admin.get(&page).await.expect(200).contains(&secret));
        Visitor::with_role(&app, "sender").await.get(&page).await.expect(403);

        let overlapping = admin.post(&format!("{page}/rotate"), &[("secret", "app"), ("overlap", "3600")]).await;
        overlapping.shows("good until");
        app.device().get("/api/tags").await.expect(200);
        admin.post(&format!("{page}/former/app/end"), &[]).await.expect_to(&page);
        app.device().get("/api/tags").await.expect(401);

        let owner = Visitor::owner(&app).await;
        owner.get(&page).await.shows("Delete for good");
        let delete = format!("/console/-/apps/{}/delete", app.app.key);
        owner.post(&delete, &[("typed", "Shop")]).await.expect(400);
        owner.post(&delete, &[("typed", name)]).await.expect_to("/console/-/apps");
        admin.get(&page).await.expect(404);
        app.stop().await;
    })
    .await;
}
