//! What a second click on a form does: nothing more. Of what is made or sent by one there is one.

use serde_json::json;
use testkit::app::TestApp;
use testkit::event_receiver::EventReceiver;

use crate::visitor::{Page, Visitor, on_each_database};

const PHONE: &str = "10000000-0000-4000-8000-000000000000";

/// The field by which the forms of a page are known again.
fn once(page: &Page) -> (&'static str, String) {
    let fields = page.hidden_fields();
    let (_, value) = fields.into_iter().find(|(name, _)| name == "once").unwrap_or_else(|| panic!("{}", page.text));
    ("once", value)
}

/// How many of something the API lists.
async fn count(app: &TestApp, list: &str, key: &str) -> usize {
    let caller = if list.starts_with("/operator/") { app.operator() } else { app.master() };
    caller.get(list).await.expect(200)[key].as_array().unwrap().len()
}

/// Looks at a page, and clicks twice on the button of a form of it.
async fn click_twice(visitor: &Visitor, page: &str, form: &str, fields: &[(&str, &str)]) -> [Page; 2] {
    let (name, value) = once(&visitor.get(page).await);
    let fields = [fields, &[(name, value.as_str())]].concat();
    let clicks = [visitor.post(form, &fields).await, visitor.post(form, &fields).await];
    for click in &clicks {
        assert!(click.status.as_u16() < 400, "{form}: {}", click.text);
    }
    assert_eq!(clicks[0].location(), clicks[1].location(), "{form}");
    clicks
}

#[tokio::test]
async fn what_is_built_by_clicking_is_made_once() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let home = format!("/console/{}", app.app.key);
        let automation = [("name", "Welcome"), ("trigger0", "first_open"), ("text", "Hello"), ("do", "save")];
        let segment = [("display_name", "Readers"), ("kind0", "tag"), ("value0", "news"), ("do", "save")];
        let template = [("name", "Welcome"), ("text", "Hello"), ("do", "save")];
        let draft = [("who", "all"), ("text", "Hello"), ("do", "save")];
        for (page, fields, list, key) in [
            ("/automation/new", &automation[..], "/api/pipelines", "pipelines"),
            ("/audience/segments/new", &segment[..], "/api/segments", "segments"),
            ("/templates/new", &template[..], "/api/templates", "templates"),
            ("/compose", &draft[..], "/api/drafts", "drafts"),
        ] {
            let page = format!("{home}{page}");
            click_twice(&sender, &page, &page, fields).await;
            assert_eq!(count(&app, list, key).await, 1, "{list}");
            // Another look at the page is for another one, and so is something else in the same form.
            let (name, value) = once(&sender.get(&page).await);
            let again = [fields, &[(name, value.as_str())]].concat();
            sender.post(&page, &again).await.expect(303);
            let other = [("name", "Other"), ("display_name", "Other"), ("text", "Other")];
            sender.post(&page, &[&other[..], &again[..]].concat()).await.expect(303);
            assert_eq!(count(&app, list, key).await, 3, "{list}");
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_sent_to_somebody_is_sent_once() {
    on_each_database(async |app| {
        let channel = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "one", "set_tags": true, "tags": ["test"]}});
        app.device().put(&format!("/api/channels/{PHONE}"), channel).await.expect(200);
        let admin = Visitor::with_role(&app, "admin").await;
        let home = format!("/console/{}", app.app.key);
        admin.post(&format!("{home}/settings/sending"), &[("test_group", "test")]).await.expect(303);
        let person = format!("{home}/people/channels/{PHONE}");
        let pushes = async || count(&app, "/api/pushes", "pushes").await;
        let own = ("channel_id", PHONE);
        click_twice(&admin, &person, &format!("{home}/people/test"), &[own, ("text", "Only you")]).await;
        assert_eq!(pushes().await, 1);
        // The same test once more is meant.
        click_twice(&admin, &person, &format!("{home}/people/test"), &[own, ("text", "Only you")]).await;
        assert_eq!(pushes().await, 2);
        let compose = format!("{home}/compose");
        click_twice(&admin, &compose, &compose, &[("who", "all"), ("text", "A try"), ("do", "test")]).await;
        assert_eq!(pushes().await, 3);
        let first = format!("{home}/first");
        click_twice(&admin, &first, &first, &[]).await;
        assert_eq!(pushes().await, 4);
        let [asked, _] = click_twice(&admin, &person, &format!("{home}/people/export"), &[own]).await;
        assert!(asked.location().starts_with(&format!("{home}/people/requests/")), "{}", asked.location());
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn secrets_are_made_once_and_shown_to_both_clicks() {
    on_each_database(async |app| {
        let admin = Visitor::with_role(&app, "admin").await;
        let home = format!("/console/{}", app.app.key);
        let of_app = format!("/operator/apps/{}", app.app.key);
        let fields = [("name", "Shop"), ("role", "support"), ("ends", "86400")];
        for (page, list, key) in [("/tokens", "/tokens", "tokens"), ("/tokens/clients", "/oauth-clients", "clients")] {
            let page = format!("{home}{page}");
            let clicks = click_twice(&admin, &page, &page, &fields).await;
            let shown = clicks.each_ref().map(|click| {
                let (_, rest) = click.text.split_once("<code>").unwrap();
                rest.split_once("</code>").unwrap().0.to_owned()
            });
            assert_eq!(shown[0], shown[1]);
            assert_eq!(count(&app, &format!("{of_app}{list}"), key).await, 1, "{list}");
            // The form below the new one is for another.
            assert_ne!(once(&clicks[0]), once(&clicks[1]));
        }
        let webhooks = format!("{home}/webhooks");
        let receiver = EventReceiver::start().await;
        let url = receiver.url();
        let fields = [("url", url.as_str()), ("types", "FIRST_OPEN")];
        click_twice(&admin, &webhooks, &webhooks, &fields).await;
        assert_eq!(count(&app, &format!("{of_app}/webhooks"), "webhooks").await, 1);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_page_with_a_form_is_the_same_when_it_is_asked_for_again() {
    on_each_database(async |app| {
        let admin = Visitor::with_role(&app, "admin").await;
        let page = format!("/console/{}/tokens", app.app.key);
        let update = admin.get_with(&page, &[("x-fragment", "content")]).await;
        update.shows(r#"name="once" value="" data-once"#);
        let tag = update.headers["etag"].to_str().unwrap();
        admin.get_with(&page, &[("x-fragment", "content"), ("if-none-match", tag)]).await.expect(304);
        app.stop().await;
    })
    .await;
}
