//! Inboxes as devices use them: users, listings, reading and deleting, across restarts.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::{Caller, Reply};

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// A device with an inbox.
pub(crate) struct Phone {
    pub(crate) channel: String,
    pub(crate) user: String,
    password: String,
}

/// The channel of a device that takes neither notifications nor silent pushes: it has no address.
pub(crate) async fn quiet_channel(app: &TestApp, device_type: &str, more: Value) -> String {
    let mut channel = json!({"device_type": device_type, "opt_in": false});
    channel.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let created = app.device().post("/api/channels/", json!({"channel": channel})).await.expect(201);
    created["channel_id"].as_str().unwrap().to_owned()
}

impl Phone {
    pub(crate) async fn new(app: &TestApp, device_type: &str, more: Value) -> Self {
        let channel = quiet_channel(app, device_type, more).await;
        Self::with(app, &json!({format!("{device_type}_channels"): [channel]}), &channel).await
    }

    pub(crate) async fn with(app: &TestApp, body: &Value, channel: &str) -> Self {
        let created = app.device().post("/api/user/", body).await.expect(201);
        let text = |key: &str| created[key].as_str().unwrap().to_owned();
        let phone = Self { channel: channel.to_owned(), user: text("user_id"), password: text("password") };
        assert_eq!(created["user_url"], app.url(&format!("/api/user/{}/", phone.user)));
        phone
    }

    pub(crate) fn caller(&self, app: &TestApp) -> Caller {
        app.nobody().basic(&self.user, &self.password)
    }

    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/api/user/{}/{rest}", self.user)
    }

    pub(crate) async fn messages(&self, app: &TestApp) -> Vec<Value> {
        let listing = self.caller(app).get(&self.path("messages/")).await.expect(200);
        listing["messages"].as_array().unwrap().clone()
    }

    pub(crate) async fn titles(&self, app: &TestApp) -> Vec<String> {
        self.messages(app).await.iter().map(|message| message["title"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) async fn unread(&self, app: &TestApp) -> Vec<String> {
        let listing = self.caller(app).get(&self.path("messages/unread/")).await.expect(200);
        let messages = listing["messages"].as_array().unwrap();
        assert_eq!(listing["unread"], messages.len());
        messages.iter().map(|message| message["title"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) async fn list_since(&self, app: &TestApp, since: &str) -> Reply {
        let request = self.caller(app).request(Method::GET, &self.path("messages/"));
        let request = request.header("if-modified-since", since).header("x-ua-channel-id", &self.channel);
        self.caller(app).send(request.body(Bytes::new()).unwrap()).await
    }
}

/// Sends a message to everybody and answers the push's id and the message's.
pub(crate) async fn send(app: &TestApp, title: &str, more: Value) -> (String, String) {
    let mut push = json!({"audience": "all", "device_types": "all",
        "message": {"title": title, "body": format!("<p>{title}</p>"), "extra": {"k": "v"}}});
    for (key, value) in more.as_object().unwrap() {
        match (push.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
            (_, value) => push[key] = value.clone(),
        }
    }
    let accepted = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    let text = |key: &str| accepted[key][0].as_str().unwrap().to_owned();
    (text("push_ids"), text("message_ids"))
}

#[tokio::test]
async fn a_message_has_what_devices_of_all_generations_look_for() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "ios", json!({})).await;
        assert_eq!(phone.messages(&app).await, Vec::<Value>::new());
        let icons = json!({"list_icon": "https://img.example/1.png"});
        let (push, id) = send(&app, "Hello", json!({"message": {"icons": icons, "options": {"o": [1]}}})).await;
        let url = app.url(&phone.path(&format!("messages/message/{id}/")));
        let expected = json!({
            "message_id": id, "message_url": url, "message_body_url": format!("{url}body/"),
            "message_read_url": format!("{url}read/"), "unread": true, "message_sent": "2024-05-01T12:00:00",
            "title": "Hello", "content_type": "text/html", "content_size": "12", "extra": {"k": "v"},
            "icons": icons, "options": {"o": [1]}, "message_reporting": {"message_id": id, "push_id": push},
        });
        assert_eq!(phone.messages(&app).await, std::slice::from_ref(&expected));
        let app = app.restart().await;
        let path = phone.path(&format!("messages/message/{id}/"));
        let one = phone.caller(&app).get(&path).await.expect(200);
        assert_eq!((&one["title"], &one["message"]), (&json!("Hello"), &json!("<p>Hello</p>")));
        let body = phone.caller(&app).get(&format!("{path}body/")).await;
        assert_eq!((body.status.as_u16(), body.text()), (200, "<p>Hello</p>"));
        for (header, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(body.header(header), Some(value), "{header}");
        }
        let policy = body.header("content-security-policy").unwrap();
        assert!(policy.starts_with("sandbox") && !policy.contains("allow-same-origin"), "{policy}");
    })
    .await;
}

#[tokio::test]
async fn bodies_come_as_they_were_sent() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "android", json!({})).await;
        for (message, content_type, listed, expected) in [
            (
                json!({"body": "aGk=", "content_encoding": "base64", "content_type": "text/plain"}),
                "text/plain",
                "text/plain",
                "hi",
            ),
            (json!({"body": "hé", "content_type": "text/plain"}), "text/plain; charset=utf-8", "text/plain", "hé"),
            (json!({"body": "{}", "content_type": "application/json"}), "application/json", "application/json", "{}"),
            (json!({"body": "a", "content_type": "Text/HTML ; charset=x"}), "Text/HTML ; charset=x", "text/html", "a"),
        ] {
            let (_, id) = send(&app, "T", json!({"message": message})).await;
            let body = phone.caller(&app).get(&phone.path(&format!("messages/message/{id}/body/"))).await;
            assert_eq!((body.header("content-type"), body.text()), (Some(content_type), expected));
            let inbox = phone.caller(&app).get(&phone.path("messages/")).await.expect(200);
            assert_eq!(
                (&inbox["messages"][0]["message_id"], &inbox["messages"][0]["content_type"]),
                (&json!(id), &json!(listed))
            );
            let message = phone.caller(&app).get(&phone.path(&format!("messages/message/{id}/"))).await.expect(200);
            assert_eq!(message["content_type"], listed);
        }
    })
    .await;
}

/// What is posted to mark the message with this id and URL.
type Report = fn(&str, &str) -> Value;

#[tokio::test]
async fn devices_old_and_new_mark_messages() {
    // By what request, whether it deletes, and with which body.
    let table: [(&str, Method, &str, bool, Report); 9] = [
        ("old Android reads", Method::POST, "messages/unread/", false, |_, url| json!({"mark_as_read": [url]})),
        (
            "it knows us by another address",
            Method::POST,
            "messages/unread/",
            false,
            |id, _| json!({"mark_as_read": [format!("https://device-api.example.com/api/user/u/messages/message/{id}/")]}),
        ),
        (
            "new SDKs read",
            Method::POST,
            "messages/unread",
            false,
            |id, _| json!({"messages": [{"message_id": id, "group_id": "g"}]}),
        ),
        ("old iOS reads", Method::POST, "messages/message/ID/read/", false, |_, _| json!({})),
        ("a link is read", Method::GET, "messages/message/ID/read/", false, |_, _| Value::Null),
        ("old SDKs delete", Method::POST, "messages/delete/", true, |_, url| json!({"delete": [url]})),
        ("new SDKs delete", Method::POST, "messages/delete/", true, |id, _| json!({"messages": [{"message_id": id}]})),
        ("one is deleted", Method::DELETE, "messages/message/ID/", true, |_, _| Value::Null),
        (
            "what is unknown comes along",
            Method::POST,
            "messages/delete/",
            true,
            |id, _| json!({"delete": ["x", "/message/none/"], "messages": [{"message_id": id}, {"message_id": "AAAA"}, {}]}),
        ),
    ];
    on_each_database(async |app| {
        let phone = Phone::new(&app, "amazon", json!({})).await;
        for (what, method, path, deletes, report) in table.clone() {
            let (_, id) = send(&app, what, json!({})).await;
            let url = phone.messages(&app).await[0]["message_url"].as_str().unwrap().to_owned();
            let path = phone.path(&path.replace("ID", &id));
            for _ in 0..2 {
                let reply = phone.caller(&app).call(method.clone(), &path, report(&id, &url)).await;
                assert_eq!(reply.expect(200)["ok"], true, "{what}");
            }
            let there = phone.titles(&app).await.iter().any(|title| title == what);
            assert_eq!(there, !deletes, "{what}");
            assert!(!phone.unread(&app).await.iter().any(|title| title == what), "{what}");
        }
        let before = phone.messages(&app).await;
        assert_eq!(before.len(), 5);
        let app = app.restart().await;
        assert_eq!(phone.titles(&app).await.len(), 5, "marks last");
        assert_eq!(phone.unread(&app).await, Vec::<String>::new());
        // Looking whether a message could be marked does not mark it.
        let (_, id) = send(&app, "looked at", json!({})).await;
        let path = phone.path(&format!("messages/message/{id}/read/"));
        let head = phone.caller(&app).request(Method::HEAD, &path).body(Bytes::new()).unwrap();
        let refused = phone.caller(&app).send(head).await;
        assert_eq!((refused.status.as_u16(), refused.header("allow")), (405, Some("GET,POST")));
        assert_eq!(phone.unread(&app).await, ["looked at"]);
        phone.caller(&app).post(&phone.path("messages/unread"), json!({"messages": "x"})).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn listings_say_whether_anything_changed() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "ios", json!({})).await;
        let (_, first) = send(&app, "first", json!({})).await;
        let fresh = phone.caller(&app).get(&phone.path("messages/")).await;
        let at_once = fresh.header("last-modified").unwrap().to_owned();
        assert_eq!(at_once, "Wed, 01 May 2024 11:59:55 GMT", "a change that is being committed would be newer");
        assert_eq!(phone.list_since(&app, &at_once).await.status.as_u16(), 200);
        app.advance(MINUTE);
        let settled = phone.list_since(&app, &at_once).await;
        assert_eq!(settled.status.as_u16(), 200);
        let mut known = settled.header("last-modified").unwrap().to_owned();
        for (what, n_left) in [("sent", 2), ("read", 2), ("deleted", 1), ("expired", 0), ("linked", 0)] {
            let unchanged = phone.list_since(&app, &known).await;
            assert_eq!((unchanged.status.as_u16(), unchanged.text()), (304, ""), "before {what}");
            app.advance(MINUTE);
            let path = phone.path(&format!("messages/message/{first}/"));
            match what {
                "sent" => drop(send(&app, "second", json!({"message": {"expiry": 3600}})).await),
                "read" => drop(phone.caller(&app).post(&format!("{path}read/"), "").await.expect(200)),
                "deleted" => drop(phone.caller(&app).delete(&path).await.expect(200)),
                "expired" => app.advance(60 * MINUTE),
                _ => {
                    let other = quiet_channel(&app, "ios", json!({})).await;
                    let change = json!({"ios_channels": {"add": [other]}});
                    phone.caller(&app).post(&phone.path(""), change).await.expect(200);
                }
            }
            app.advance(MINUTE);
            let changed = phone.list_since(&app, &known).await;
            assert_eq!(changed.expect(200)["messages"].as_array().unwrap().len(), n_left, "{what}");
            known = changed.header("last-modified").unwrap().to_owned();
        }
        // Who held the expired message is forgotten a day later; that something went away is not.
        app.advance(60 * 26 * MINUTE);
        app.step_all().await;
        assert_eq!(phone.list_since(&app, &known).await.status.as_u16(), 304);
        assert_eq!(phone.list_since(&app, "Wed, 01 May 2024 12:30:00 GMT").await.status.as_u16(), 200);
        assert_eq!(phone.list_since(&app, "nonsense").await.status.as_u16(), 200);
    })
    .await;
}

#[tokio::test]
async fn channels_of_a_user_share_the_inbox() {
    on_each_database(async |app| {
        let first = quiet_channel(&app, "ios", json!({})).await;
        let phone = Phone::with(&app, &json!({"ios_channels": [first], "ua_device_id": "old"}), &first).await;
        let (_, shared) = send(&app, "before", json!({})).await;
        // A later device of the same user: by its registration by a server, and by a change of the user.
        let hints =
            json!({"channel": {"device_type": "android", "opt_in": false}, "identity_hints": {"user_id": phone.user}});
        let second = app.master().post("/api/channels", hints).await.expect(201)["channel_id"].clone();
        let third = quiet_channel(&app, "amazon", json!({})).await;
        let change = json!({"amazon_channels": {"add": [third, "00000000-0000-4000-8000-000000000000"]}});
        let user = phone.caller(&app).post(&phone.path(""), change).await.expect(200);
        assert_eq!(user["android_channels"], json!([second]));
        assert_eq!((&user["ios_channels"], &user["amazon_channels"]), (&json!([first]), &json!([third])));
        send(&app, "to the second", json!({"audience": {"android_channel": second}, "device_types": ["android"]}))
            .await;
        send(&app, "to the third", json!({"audience": {"amazon_channel": third}, "device_types": ["amazon"]})).await;
        assert_eq!(phone.titles(&app).await, ["to the third", "to the second", "before"]);
        let remove = json!({"amazon_channels": {"remove": [third]}});
        phone.caller(&app).post(&phone.path(""), remove).await.expect(200);
        assert_eq!(phone.titles(&app).await, ["to the second", "before"]);
        // The newcomers alone do not have what was sent before they came.
        let other = Phone::with(&app, &json!({"android_channels": [second], "amazon_channels": [third]}), "").await;
        assert_eq!(other.titles(&app).await, ["to the third", "to the second"]);
        assert_eq!(phone.titles(&app).await, ["before"], "a channel is one user's");
        let shown = phone.caller(&app).get(&phone.path("")).await.expect(200);
        assert_eq!((&shown["ios_channels"], &shown["android_channels"]), (&json!([first]), &json!([])));
        other.caller(&app).get(&other.path(&format!("messages/message/{shared}/body"))).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn only_user_and_password_open_an_inbox() {
    on_each_database(async |app| {
        let (phone, other) = (Phone::new(&app, "ios", json!({})).await, Phone::new(&app, "ios", json!({})).await);
        let (_, id) =
            send(&app, "secret", json!({"audience": {"ios_channel": phone.channel}, "device_types": ["ios"]})).await;
        assert_eq!(other.titles(&app).await, Vec::<String>::new());
        let path = phone.path("messages/");
        let nobody = app.nobody();
        for caller in [
            nobody.clone(),
            nobody.basic(&phone.user, "wrong"),
            nobody.basic(&phone.user, ""),
            nobody.basic(&phone.user, &other.password),
            nobody.basic("nonsense", &phone.password),
            other.caller(&app),
            app.master(),
            app.device(),
        ] {
            let refused = caller.get(&path).await;
            assert_eq!(refused.expect(401)["error_code"], 40100);
            assert!(refused.header("www-authenticate").unwrap().starts_with("Basic"));
        }
        // With credentials of one's own nothing of another can be read or changed.
        other.caller(&app).get(&other.path(&format!("messages/message/{id}/"))).await.expect(404);
        let marks = json!({"messages": [{"message_id": id}]});
        other.caller(&app).post(&other.path("messages/delete"), &marks).await.expect(200);
        other.caller(&app).post(&other.path("messages/unread"), &marks).await.expect(200);
        assert_eq!(phone.unread(&app).await, ["secret"]);
        // Nor by claiming the channel, alone or together with one that is nobody's.
        let free = quiet_channel(&app, "ios", json!({})).await;
        let claim = json!({"ios_channels": {"add": [phone.channel, free]}});
        let claimed = other.caller(&app).post(&other.path(""), claim).await.expect(200);
        let mut shown: Vec<&str> =
            claimed["ios_channels"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let mut wanted = [other.channel.as_str(), free.as_str()];
        shown.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(shown, wanted);
        assert_eq!((phone.titles(&app).await.len(), other.titles(&app).await.len()), (1, 0));
        // Nor by an app with the channels of another.
        let stranger = app.another_app(Mode::Development).await;
        let stranger = nobody.basic(&stranger.key, &stranger.master_secret);
        let created = stranger.post("/api/user", json!({"ios_channels": [phone.channel]})).await.expect(201);
        assert_eq!(created["ios_channels"], json!([]));
        stranger.delete(&format!("/api/user/messages/{id}")).await.expect(404);
        app.operator().delete(&format!("/operator/apps/{}", app.app.key)).await.expect(204);
        phone.caller(&app).get(&path).await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn creating_a_user_twice_with_one_key_makes_one() {
    on_each_database(async |app| {
        let create = async || {
            let request = app.device().request(Method::POST, "/api/user/").header("idempotency-key", "k");
            app.device().send(request.body(Bytes::from("{}")).unwrap()).await.expect(201)
        };
        assert_eq!(create().await, create().await);
        app.device().post("/api/user", json!({"ios_channels": ["x"]})).await.expect(400);
        app.device().post("/api/user", json!({"ios_channels": "x"})).await.expect(400);
        app.nobody().post("/api/user", json!({})).await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn servers_see_what_is_in_the_inbox_of_a_channel() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "ios", json!({})).await;
        let path = format!("/api/channels/{}/inbox", phone.channel);
        assert_eq!(app.master().get(&path).await.expect(200), json!({"ok": true, "messages": [], "unread": 0}));
        let (push, id) = send(&app, "First", json!({})).await;
        app.advance(MINUTE);
        let (second, _) = send(&app, "Second", json!({})).await;
        phone.caller(&app).post(&phone.path(&format!("messages/message/{id}/read/")), "").await.expect(200);
        let message = |push: &str, title: &str, minute: u32, unread: bool| {
            json!({"push_id": push, "title": title, "sent": format!("2024-05-01T12:0{minute}:00"), "unread": unread})
        };
        let expected = json!({"ok": true, "unread": 1, "messages": [message(&second, "Second", 1, true), message(&push, "First", 0, false)]});
        assert_eq!(app.master().get(&path).await.expect(200), expected);
        app.device().get(&path).await.expect(401);
        app.master().delete(&format!("/api/user/messages/{push}")).await.expect(202);
        assert_eq!(app.master().get(&path).await.expect(200)["messages"].as_array().unwrap().len(), 1);
        // A device without an inbox has an empty one, and what is no channel has none.
        let other = quiet_channel(&app, "android", json!({})).await;
        assert_eq!(app.master().get(&format!("/api/channels/{other}/inbox")).await.expect(200)["unread"], 0);
        let unknown = "00000000-0000-4000-8000-000000000000";
        app.master().get(&format!("/api/channels/{unknown}/inbox")).await.expect(404);
    })
    .await;
}
