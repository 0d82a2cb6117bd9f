//! The form of addresses: in production an address that cannot be one of its provider is refused, with the reason.

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::client::Caller;

const FIREBASE: &str = "fGw0qy4TQfmX3gW:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx_5wYHG8lz9kKgZ3pJ0-8bTQfXkVbNnYw";
/// From the example of RFC 8291.
const P256DH: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

fn browser(address: &str, p256dh: &str) -> Value {
    let web = json!({"subscription": {"p256dh": p256dh, "auth": AUTH}});
    json!({"channel": {"device_type": "web", "opt_in": true, "push_address": address, "web": web}})
}

fn device(device_type: &str, address: &str) -> Value {
    json!({"channel": {"device_type": device_type, "opt_in": true, "push_address": address}})
}

fn phone(address: &str, p256dh: &str) -> Value {
    let android = json!({"delivery_type": "unifiedpush", "subscription": {"p256dh": p256dh, "auth": AUTH}});
    json!({"channel": {"device_type": "android", "opt_in": true, "push_address": address, "android": android}})
}

async fn production(app: &TestApp) -> (Caller, String) {
    let another = app.another_app(Mode::Production).await;
    (app.nobody().basic(&another.key, &another.app_secret), another.key)
}

/// Each with a part of the reason, which is empty for an address that is fine.
fn table() -> Vec<(Value, &'static str)> {
    let off_curve = P256DH.replace("iw4", "iw8");
    vec![
        (device("ios", &"ab12".repeat(16)), ""),
        (device("ios", &"AB12".repeat(40)), ""),
        (device("ios", "ab12"), "hexadecimal"),
        (device("ios", &"xy12".repeat(16)), "hexadecimal"),
        (device("android", FIREBASE), ""),
        (device("android", "fake"), "registration id"),
        (device("amazon", "amzn1.adm-registration.v3.Y29tLmFtYXpvbi5EZXZpY2U="), ""),
        (device("wns", "https://db5.notify.windows.com/?token=AwYAAAB8"), ""),
        (device("wns", "https://evil.example/?token=AwYAAAB8"), "notify.windows.com"),
        (browser("https://fcm.googleapis.com/fcm/send/abc:APA91", P256DH), ""),
        (browser("https://updates.push.services.mozilla.com/wpush/v2/gAAAAA", P256DH), ""),
        (browser("https://web.push.apple.com/QHxyz", P256DH), ""),
        (browser("https://wns2-par02p.notify.windows.com/w/?token=BQYAAA", P256DH), ""),
        (browser("https://evil.example/push/1", P256DH), "evil.example is not the host of a known push service"),
        (browser("http://fcm.googleapis.com/fcm/send/abc", P256DH), "https URL"),
        (browser("https://web.push.apple.com/Q2", &off_curve), "P-256"),
        (phone("https://ntfy.sh/upAbCdEf?up=1", P256DH), ""),
        (phone("https://updates.push.services.mozilla.com/wpush/v2/gBBBBB", P256DH), ""),
        (phone("https://evil.example/up/1", P256DH), "evil.example is not the host of a known push service"),
        (phone(FIREBASE, P256DH), "https URL"),
        (phone("https://ntfy.sh/up2?up=1", &off_curve), "channel.android.subscription"),
    ]
}

#[tokio::test]
async fn production_apps_refuse_addresses_that_cannot_be_any() {
    on_each_database(async |app| {
        let (devices, key) = production(&app).await;
        for (body, reason) in table() {
            let reply = devices.post("/api/channels", &body).await;
            if reason.is_empty() {
                reply.expect(201);
                continue;
            }
            let refused = reply.expect(400);
            let text = refused.to_string();
            assert!(text.contains(reason) && text.contains("channel."), "{body}: {text}");
        }
        // The same for a channel that changes its address.
        let channel = devices.post("/api/channels", device("ios", &"cd34".repeat(16))).await.expect(201);
        let path = format!("/api/channels/{}", channel["channel_id"].as_str().unwrap());
        devices.put(&path, device("ios", "nonsense")).await.expect(400);
        devices.put(&path, device("ios", &"ef56".repeat(16))).await.expect(200);

        // A platform whose endpoint is elsewhere has addresses of its own.
        let config = json!({"subject": "mailto:push@example.com", "endpoint": {"url": "http://127.0.0.1:9/"}});
        app.operator().put(&format!("/operator/apps/{key}/platforms/webpush"), config).await.expect(200);
        devices.post("/api/channels", browser("http://127.0.0.1:9/webpush/1", P256DH)).await.expect(201);
        devices.post("/api/channels", phone("http://127.0.0.1:9/up/1", P256DH)).await.expect(201);
        devices.post("/api/channels", device("ios", "ab13")).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn development_apps_take_what_somebody_typed() {
    on_each_database(async |app| {
        for (body, _) in table() {
            app.device().post("/api/channels", &body).await.expect(201);
        }
    })
    .await;
}
