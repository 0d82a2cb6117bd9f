//! The device libraries of version 20, Android's and Apple's: every call from the first start over login, events, inbox and in-app
//! messages to a preference center, as they make it, with answers that are read as they read them.

mod data;

use bytes::Bytes;
use http::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;

use super::answers::{
    AssociatedChannels, ChannelLists, ChannelMade, ChannelToken, ContactLists, Identity, Inbox, InboxMessage,
    InboxUser, Item, PreferenceForms, RemoteData, Scope, ScopedLists, Section,
};
use super::{Headers, Library};
use crate::events_intake::{bare_deflate, gzip};
use data::{check_data, keep_data};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Platform {
    Android,
    Apple,
}

impl Platform {
    fn name(self) -> &'static str {
        match self {
            Platform::Android => "android",
            Platform::Apple => "ios",
        }
    }

    fn version(self) -> &'static str {
        match self {
            Platform::Android => "20.10.0",
            Platform::Apple => "20.6.3",
        }
    }

    fn pack(self, body: &Value) -> (&'static str, Bytes) {
        match self {
            Platform::Android => ("gzip", gzip(&body.to_string()).into()),
            Platform::Apple => ("deflate", bare_deflate(&body.to_string()).into()),
        }
    }
}

struct Install<'a> {
    app: &'a TestApp,
    library: Library<'a>,
    platform: Platform,
}

/// The answer of a call that succeeded, as the library reads it.
#[track_caller]
fn read<T: DeserializeOwned>(reply: &Reply) -> T {
    assert!(reply.status.is_success(), "{}: {}", reply.status, reply.text());
    serde_json::from_slice(&reply.body).unwrap_or_else(|error| panic!("{error} in {}", reply.text()))
}

impl Install<'_> {
    /// A signature of the app or, with its id, of a channel. Each platform writes the time in its own way.
    fn signed(&self, channel: Option<&str>) -> Headers {
        let now = self.app.clock().now().to_api();
        let time = match self.platform {
            Platform::Android => format!("{now}Z"),
            Platform::Apple => now.replace('T', " "),
        };
        let (key, nonce) = (self.library.key(), self.library.nonce());
        let signed: Vec<&str> = [key].into_iter().chain(channel).chain([&*nonce, &*time]).collect();
        let signature = self.library.sign(&signed);
        let mut headers = vec![
            ("X-UA-Appkey", key.to_owned()),
            ("X-UA-Nonce", nonce.clone()),
            ("X-UA-Timestamp", time.clone()),
            ("Authorization", signature),
        ];
        headers.extend(channel.map(|channel| ("X-UA-Channel-ID", channel.to_owned())));
        headers
    }

    async fn call(&self, method: Method, path: &str, headers: &Headers, body: &Value) -> Reply {
        let mut request = self.app.nobody().request(method, path);
        request = request.header("Accept", "application/vnd.urbanairship+json; version=3;");
        request = request.header("X-UA-App-Key", self.library.key());
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let mut content = Bytes::new();
        if !body.is_null() {
            let (encoding, packed) = self.platform.pack(body);
            request = request.header("Content-Type", "application/json").header("Content-Encoding", encoding);
            content = packed;
        }
        self.app.nobody().send(request.body(content).unwrap()).await
    }

    async fn get(&self, path: &str, headers: &Headers) -> Reply {
        self.call(Method::GET, path, headers, &Value::Null).await
    }

    async fn identify(&self, channel: &str, action: Value) -> Identity {
        let body = json!({"device_info": {"device_type": self.platform.name()}, "action": action});
        read(&self.call(Method::POST, "/api/contacts/identify/v2", &self.signed(Some(channel)), &body).await)
    }

    fn registration(&self, more: &Value) -> Value {
        let mut channel = json!({
            "device_type": self.platform.name(), "opt_in": true, "background": true, "set_tags": true, "tags": ["fresh"],
            "push_address": "AB".repeat(32), "timezone": "Europe/Oslo", "locale_language": "nb", "locale_country": "NO",
            "app_version": "7", "sdk_version": self.platform.version(), "is_activity": true,
            "permissions": {"display_notifications": "granted", "location": "not_determined"},
        });
        let own = match self.platform {
            Platform::Android => json!({"android_api_version": 34, "android": {"delivery_type": "fcm"}}),
            Platform::Apple => {
                json!({"device_os": "18.1", "ios": {"badge": 0, "time_sensitive": true, "scheduled_summary": false}})
            }
        };
        for part in [&own, more] {
            channel.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        }
        json!({"channel": channel})
    }

    fn event(&self, n: usize, kind: &str, mut data: Value) -> Value {
        data["session_id"] = json!("5d1f6c1c-93f2-4f6f-9f0f-0d3d1c6e2f10");
        let time = format!("{}.000", self.app.clock().now().seconds());
        json!({"type": kind, "event_id": format!("5d1f6c1c-93f2-4f6f-{:04}-{n:012}", self.platform as u32), "time": time, "data": data})
    }
}

async fn live(install: &Install<'_>) {
    let (app, platform, key) = (install.app, install.platform, install.library.key());
    let name = platform.name();

    // The first start: where everything is, a channel, its token, and who it belongs to.
    let query = format!("sdk_version={}&language=nb&country=NO&random_value=42", platform.version());
    let path = format!("/api/remote-data/app/{key}/{name}?{query}");
    let reply = install.get(&path, &install.signed(None)).await;
    let modified = reply.header("last-modified").unwrap().to_owned();
    let data: RemoteData = read(&reply);
    check_data(&data, platform, &app.url(""));
    let mut again = install.signed(None);
    again.push(("If-Modified-Since", modified));
    assert_eq!(install.get(&path, &again).await.status, 304);

    let made =
        install.call(Method::POST, "/api/channels/", &install.signed(None), &install.registration(&json!({}))).await;
    assert!([200, 201].contains(&made.status.as_u16()), "Apple's library takes no other success");
    let channel = read::<ChannelMade>(&made).channel_id;
    let token: ChannelToken = read(&install.get("/api/auth/device", &install.signed(Some(&channel))).await);
    assert!(token.expires_in > 60_000, "it would be asked for all the time");
    let token = install.library.with_token(&token.token);
    let nobody = install.identify(&channel, json!({"type": "resolve"})).await;
    assert!(nobody.contact.is_anonymous && nobody.token_expires_in > 60_000);
    let update = install.registration(&json!({"contact_id": nobody.contact.contact_id}));
    read::<ChannelMade>(&install.call(Method::PUT, &format!("/api/channels/{channel}"), &token, &update).await);

    // Login.
    let login =
        json!({"type": "identify", "named_user_id": format!("jo-{name}"), "contact_id": nobody.contact.contact_id});
    let jo = install.identify(&channel, login).await;
    let contact = jo.contact.contact_id;
    assert!(!jo.contact.is_anonymous && contact != nobody.contact.contact_id);
    let contact_token = install.library.with_token(&jo.token);
    let channels: AssociatedChannels =
        read(&install.get(&format!("/api/contacts/associated_types/{contact}"), &contact_token).await);
    assert!(channels.channels.is_empty());
    let path = format!("/api/remote-data-contact/{name}/{contact}?{query}");
    read::<RemoteData>(&install.get(&path, &contact_token).await);

    // Events.
    let mut headers = token.clone();
    headers.extend([("X-UA-Channel-ID", channel.clone()), ("X-UA-Lib-Version", platform.version().to_owned())]);
    headers.push(("X-UA-Sent-At", format!("{}.250", app.clock().now().seconds())));
    headers.push(("X-UA-Device-Family", name.to_owned()));
    let events = json!([
        install.event(1, "app_foreground", json!({"time_zone": 7200})),
        install.event(2, "enhanced_custom_event", json!({"event_name": "viewed_cart", "event_value": 1_500_000})),
        install.event(
            3,
            "screen_tracking",
            json!({"screen": "cart", "entered_time": "1.0", "exited_time": "2.0", "duration": "1.0"})
        ),
        install.event(
            4,
            "feature_flag_interaction",
            json!({"flag_name": "checkout", "eligible": true,
            "reporting_metadata": {"flag_id": "22222222-aaaa-4bbb-8ccc-000000000001"}})
        ),
        install.event(5, "app_background", json!({})),
    ]);
    let told = install.call(Method::POST, "/warp9/", &headers, &events).await;
    assert_eq!(told.status, 200, "{}", told.text());
    let limit = |name: &str| told.header(name).unwrap().parse::<u32>().unwrap();
    assert!((10..=5120).contains(&limit("x-ua-max-total")) && (10..=500).contains(&limit("x-ua-max-batch")));
    assert_eq!(limit("x-ua-min-batch-interval"), 60);

    check_inbox(install, &channel, &token).await;
    check_preferences(install, &channel, &token, &data, (&contact, &contact_token)).await;

    // Logout, and what Apple's library does with the secret where Android's has a token.
    let open = json!({"channel": {"type": "open", "opt_in": true, "address": format!("tv-{name}"), "open": {"open_platform_name": "tv"}}});
    let made = install.call(Method::POST, "/api/channels/restricted/open", &install.signed(None), &open).await;
    let tv = read::<ChannelMade>(&made).channel_id;
    let associate = json!({"associate": [{"device_type": "open", "channel_id": tv}]});
    let path = format!("/api/contacts/{contact}");
    assert_eq!(install.call(Method::POST, &path, &contact_token, &associate).await.status, 200);
    let leave = json!({"channel_type": "open", "channel_id": tv, "opt_out": false});
    let path = format!("/api/contacts/disassociate/{contact}");
    let left = match platform {
        Platform::Android => install.call(Method::POST, &path, &contact_token, &leave).await,
        Platform::Apple => app.device().post(&path, leave).await,
    };
    assert_eq!((left.status.as_u16(), read::<ChannelMade>(&left).channel_id), (200, tv));
    let out = install.identify(&channel, json!({"type": "reset"})).await;
    assert!(out.contact.is_anonymous && out.contact.contact_id != contact);
}

async fn check_inbox(install: &Install<'_>, channel: &str, token: &Headers) {
    let (app, name) = (install.app, install.platform.name());
    let mut headers = token.clone();
    headers.push(("X-UA-Channel-ID", channel.to_owned()));
    let body = json!({format!("{name}_channels"): [channel]});
    let made = install.call(Method::POST, "/api/user/", &headers, &body).await;
    assert_eq!(made.status, 201, "Apple's library takes no other success");
    let user: InboxUser = read(&made);
    let own = app.nobody().basic(&user.user_id, &user.password);
    let base = format!("/api/user/{}/", user.user_id);
    let add = json!({format!("{name}_channels"): {"add": [channel]}});
    assert_eq!(own.post(&base, add).await.status, 200);
    let message =
        json!({"title": "Hi", "body": "<p>Hei</p>", "content_type": "text/html", "extra": {"k": "v"}, "expiry": 3600});
    let push = json!({"audience": {"channel": channel}, "device_types": [name], "message": message});
    app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    let list = async || read::<Inbox>(&own.get(&format!("{base}messages/")).await).messages;
    let inbox = list().await;
    let [
        InboxMessage {
            message_id, message_url, message_body_url, expiry, title, unread, extra, message_reporting, ..
        },
    ] = &inbox[..]
    else {
        panic!("{} messages", inbox.len())
    };
    assert_eq!((&**title, *unread, extra["k"].as_str(), expiry.is_some()), ("Hi", true, "v", true));
    assert!(message_url.contains(message_id.as_str()));
    let body = own.get(message_body_url.strip_prefix(&app.url("")).unwrap()).await;
    assert_eq!((body.status.as_u16(), body.text()), (200, "<p>Hei</p>"));
    let reports = json!({"messages": [message_reporting]});
    assert_eq!(own.post(&format!("{base}messages/unread/"), &reports).await.status, 200);
    assert!(!list().await[0].unread);
    assert_eq!(own.post(&format!("{base}messages/delete/"), &reports).await.status, 200);
    assert!(list().await.is_empty());
}

async fn check_preferences(
    install: &Install<'_>,
    channel: &str,
    token: &Headers,
    data: &RemoteData,
    (contact, contact_token): (&str, &Headers),
) {
    let forms: PreferenceForms = data.read("preference_forms");
    let form = &forms.preference_forms[0].form;
    assert_eq!(form.id, "news");
    let at = "2024-05-01T12:00:00";
    let channel_lists = format!("/api/subscription_lists/channels/{channel}");
    let contact_lists = format!("/api/subscription_lists/contacts/{contact}");
    let batch = format!("/api/channels/sdk/batch/{channel}?platform={}", install.platform.name());
    let items = form.sections.iter().flat_map(|section| match section {
        Section::Section { items, .. } => items.as_slice(),
        Section::LabeledSectionBreak { .. } => &[],
    });
    // Every switch is turned on.
    let mut ids = Vec::new();
    for item in items {
        let subscribe =
            |list: &str, scope: &str| json!({"action": "subscribe", "list_id": list, "scope": scope, "timestamp": at});
        let (id, changes) = match item {
            Item::ChannelSubscription { id, subscription_id } => {
                let change = json!([{"action": "subscribe", "list_id": subscription_id, "timestamp": at}]);
                let changed = install.call(Method::PUT, &batch, token, &json!({"subscription_lists": change})).await;
                assert!(changed.status.is_success(), "{}", changed.text());
                (id, None)
            }
            Item::ContactSubscription { id, subscription_id, scopes } => {
                assert_eq!(scopes, &[Scope::App]);
                (id, Some(json!([subscribe(subscription_id, "app")])))
            }
            Item::ContactSubscriptionGroup { id, subscription_id, components } => {
                assert_eq!(components[0].scopes, [Scope::App, Scope::Web]);
                (id, Some(json!([subscribe(subscription_id, "app"), subscribe(subscription_id, "web")])))
            }
            Item::Alert { id, button } => {
                assert!(button.is_some());
                (id, None)
            }
        };
        if let Some(changes) = changes {
            let body = json!({"subscription_lists": changes});
            let changed = install.call(Method::POST, &format!("/api/contacts/{contact}"), contact_token, &body).await;
            assert_eq!(changed.status, 200, "Android's library takes no other success");
        }
        ids.push(id.as_str());
    }
    assert_eq!(ids, ["i1", "i2", "i3", "i4"]);
    let of_channel: ChannelLists = read(&install.get(&channel_lists, token).await);
    assert_eq!(of_channel.list_ids, ["weekly"]);
    let of_contact: ContactLists = read(&install.get(&contact_lists, contact_token).await);
    let lists = |scope: Scope, lists: &[&str]| ScopedLists {
        scope,
        list_ids: lists.iter().map(|list| (*list).to_owned()).collect(),
    };
    let expected = [lists(Scope::App, &["news", "offers"]), lists(Scope::Web, &["news"])];
    assert_eq!(of_contact.subscription_lists, expected);
}

#[tokio::test]
async fn libraries_of_version_20_read_every_answer() {
    on_each_database(async |app| {
        keep_data(&app).await;
        for platform in [Platform::Android, Platform::Apple] {
            let library = Library::of(&app);
            library.n_nonces.set(if platform == Platform::Android { 0 } else { 1000 });
            live(&Install { app: &app, library, platform }).await;
        }
        let told = app
            .master()
            .get("/api/events?follow=false&types=OPEN,CUSTOM,SCREEN_VIEWED,FEATURE_FLAG_INTERACTION,CLOSE")
            .await;
        assert_eq!(told.text().lines().count(), 2 * 5, "{}", told.text());
    })
    .await;
}
