//! Stock device libraries from their first start: the calls they make, in their order and with their headers and bodies.

mod answers;
mod auth;
mod contacts;
mod schedules;
mod start;
mod unknown_users;
mod version_20;

use std::cell::Cell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Method;
use ring::hmac;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::Reply;

/// What a library of the newer kind knows: the app's key and secret.
pub(crate) struct Library<'a> {
    app: &'a TestApp,
    secret: String,
    n_nonces: Cell<u32>,
}

pub(crate) type Headers = Vec<(&'static str, String)>;

impl<'a> Library<'a> {
    pub(crate) fn of(app: &'a TestApp) -> Self {
        Self { app, secret: app.app.app_secret.clone(), n_nonces: Cell::new(0) }
    }

    pub(crate) fn key(&self) -> &str {
        &self.app.app.key
    }

    fn sign(&self, values: &[&str]) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.secret.as_bytes());
        format!("Bearer {}", STANDARD.encode(hmac::sign(&key, values.join(":").as_bytes())))
    }

    fn nonce(&self) -> String {
        self.n_nonces.set(self.n_nonces.get() + 1);
        format!("00000000-0000-4000-8000-{:012}", self.n_nonces.get())
    }

    /// As for calls that no channel makes.
    pub(crate) fn as_app(&self) -> Headers {
        let (nonce, time) = (self.nonce(), self.app.clock().now().to_api());
        let signature = self.sign(&[self.key(), &nonce, &time]);
        vec![
            ("X-UA-Appkey", self.key().to_owned()),
            ("X-UA-Nonce", nonce),
            ("X-UA-Timestamp", time),
            ("Authorization", signature),
        ]
    }

    /// As for calls of a channel that has no token yet.
    pub(crate) fn as_channel(&self, channel: &str) -> Headers {
        let (nonce, time) = (self.nonce(), format!("{}Z", self.app.clock().now().to_api()));
        let signature = self.sign(&[self.key(), channel, &nonce, &time]);
        vec![
            ("X-UA-Appkey", self.key().to_owned()),
            ("X-UA-Channel-ID", channel.to_owned()),
            ("X-UA-Nonce", nonce),
            ("X-UA-Timestamp", time),
            ("Authorization", signature),
        ]
    }

    pub(crate) fn with_token(&self, token: &str) -> Headers {
        vec![
            ("X-UA-Appkey", self.key().to_owned()),
            ("X-UA-Auth-Type", "SDK-JWT".to_owned()),
            ("Authorization", format!("Bearer {token}")),
        ]
    }

    pub(crate) async fn call(&self, method: Method, path: &str, headers: &Headers, body: &Value) -> Reply {
        let mut request = self.app.nobody().request(method, path);
        request = request.header("Accept", "application/vnd.urbanairship+json; version=3;");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.app.nobody().send(request.body(Bytes::from(body)).unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str, headers: &Headers) -> Reply {
        self.call(Method::GET, path, headers, &Value::Null).await
    }

    pub(crate) async fn post(&self, path: &str, headers: &Headers, body: &Value) -> Reply {
        self.call(Method::POST, path, headers, body).await
    }

    pub(crate) async fn put(&self, path: &str, headers: &Headers, body: &Value) -> Reply {
        self.call(Method::PUT, path, headers, body).await
    }

    /// A new channel and its token.
    pub(crate) async fn channel(&self, address: &str) -> (String, String) {
        let made = self.post("/api/channels/", &self.as_app(), &android(address)).await.expect(201);
        let id = made["channel_id"].as_str().unwrap().to_owned();
        let token = self.get("/api/auth/device", &self.as_channel(&id)).await.expect(200);
        (id, token["token"].as_str().unwrap().to_owned())
    }

    /// The answer to what a channel does about whose it is.
    pub(crate) async fn act(&self, channel: &str, action: Value) -> Value {
        let body = json!({"device_info": {"device_type": "android"}, "action": action});
        self.post("/api/contacts/identify/v2", &self.as_channel(channel), &body).await.expect(200)
    }
}

fn android(address: &str) -> Value {
    json!({"channel": {
        "device_type": "android", "opt_in": true, "background": true, "push_address": address,
        "set_tags": true, "tags": ["fresh"], "timezone": "Europe/Oslo", "locale_language": "nb", "locale_country": "NO",
        "app_version": "7", "sdk_version": "20.10.0", "device_model": "Pixel 8", "android_api_version": 34,
        "is_activity": true, "permissions": {"display_notifications": "granted"}, "android": {"delivery_type": "fcm"},
    }})
}

/// How many devices a push to an audience would go to.
pub(crate) async fn reached(app: &TestApp, audience: Value) -> u64 {
    let body = json!({"audience": audience, "device_types": "all"});
    let explained = app.master().post("/api/audience/explain", body).await.expect(200);
    explained["reachable"].as_u64().unwrap_or_else(|| panic!("{explained}"))
}
