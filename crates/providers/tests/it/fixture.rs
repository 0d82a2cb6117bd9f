//! A push to render, with as little to say per test as possible.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::app::AppKey;
use model::device_type::DeviceType;
use model::ids::{ChannelId, DeliveryId, PushId};
use model::json::parse;
use model::payload::actions::InlinePage;
use model::payload::campaigns::Campaigns;
use model::payload::expiry::Expiry;
use model::payload::in_app::InApp;
use model::payload::localization::Content;
use model::payload::message::Message;
use model::payload::notification::Notification;
use model::time::UtcMillis;
use providers::{NotSendable, Recipient, RenderedPush, Rendering};
use serde_json::{Value, json};

pub(crate) const APP_KEY: &str = "ISex_TTJRuarzs9-o_Gkhg";
pub(crate) const PUSH: &str = "f0e1d2c3-b4a5-4697-8879-6a5b4c3d2e1f";
pub(crate) const MESSAGE: &str = "8OHSw7SlRpeIeWpbTD0uHw";
pub(crate) const CHANNEL: &str = "01234567-89ab-cdef-0123-456789abcdef";
pub(crate) const DELIVERY: &str = "11111111-2222-3333-4444-555555555555";
/// 2024-05-01T12:00:00Z.
pub(crate) const SENT_AT: UtcMillis = UtcMillis(1_714_564_800_000);
pub(crate) const NOW: UtcMillis = UtcMillis(SENT_AT.0 + 60_000);

/// What of a push there is; the rest of the fixture is always the same.
#[derive(Default)]
pub(crate) struct Push {
    pub(crate) notification: Option<Value>,
    pub(crate) message: Option<Value>,
    pub(crate) in_app: Option<Value>,
    pub(crate) expiry: Option<u32>,
}

impl Push {
    pub(crate) fn of(notification: Value) -> Self {
        Push { notification: Some(notification), ..Push::default() }
    }

    pub(crate) fn render(&self, device_type: &str) -> Result<RenderedPush, NotSendable> {
        let notification =
            self.notification.as_ref().map(|json| parse(json.to_string().as_bytes(), Notification::parse).unwrap());
        let message = self.message.as_ref().map(|json| parse(json.to_string().as_bytes(), Message::parse).unwrap());
        let in_app = self.in_app.as_ref().map(|json| parse(json.to_string().as_bytes(), InApp::parse).unwrap());
        let campaigns = parse(br#"{"categories": ["spring"]}"#, Campaigns::parse).unwrap();
        let expiry = self.expiry.map(Expiry::Seconds);
        let rendering = Rendering {
            app_key: &AppKey::new(APP_KEY).unwrap(),
            push_id: PUSH.parse::<PushId>().unwrap(),
            group_id: None,
            variant_id: None,
            sent_at: SENT_AT,
            now: NOW,
            expiry: expiry.as_ref(),
            content: Content {
                notification: notification.as_ref(),
                message: message.as_ref(),
                in_app: in_app.as_ref(),
            },
            has_marks: false,
            campaigns: Some(&campaigns),
            page_url: &|page: &InlinePage| format!("https://push.example/pages/{}", page.body.len()),
        };
        RenderedPush::new(&rendering, &DeviceType::from_name(device_type).unwrap())
    }

    pub(crate) fn request(&self, device_type: &str, address: &str) -> Value {
        let mut recipient = recipient(address);
        recipient.badge = 5;
        self.render(device_type).unwrap().request(&recipient).to_json()
    }
}

pub(crate) fn recipient(address: &str) -> Recipient<'_> {
    let (delivery, channel): (DeliveryId, ChannelId) = (DELIVERY.parse().unwrap(), CHANNEL.parse().unwrap());
    Recipient::new(delivery, channel, address)
}

pub(crate) fn metadata() -> String {
    STANDARD.encode(json!({"version_id": 1, "time": SENT_AT.0, "push_id": PUSH}).to_string())
}

/// A notification for everybody with an override.
pub(crate) fn rich(platform: &str, own: &Value) -> Push {
    let notification = json!({
        "alert": "Sale!",
        "actions": {
            "add_tag": "sale",
            "open": {"type": "landing_page", "content": {"body": "<h1>Hi</h1>", "content_type": "text/html"}},
            "app_defined": {"my_action": {"x": 1}},
        },
        "interactive": {
            "type": "ua_yes_no_foreground",
            "button_actions": {
                "yes": {"open": {"type": "url", "content": "https://example.com/yes"}},
                "no": {"remove_tag": ["sale", "other"]},
            },
        },
        platform: own,
    });
    Push {
        notification: Some(notification),
        message: Some(json!({"title": "Sale", "body": "<p>Sale</p>"})),
        in_app: Some(json!({
            "alert": "Sale inside", "display_type": "banner", "expiry": 7200,
            "display": {"position": "top", "duration": 0, "primary_color": "#ff0000"},
            "actions": {"share": "Look"},
            "interactive": {"type": "ua_share"},
            "extra": {"from": "in_app"},
        })),
        expiry: Some(86_400),
    }
}

pub(crate) fn tap_actions() -> Value {
    json!({"^+t": "sale", "^p": {"url": "https://push.example/pages/11"}, "my_action": {"x": 1}})
}

pub(crate) fn button_actions() -> Value {
    json!({"yes": {"^u": "https://example.com/yes"}, "no": {"^-t": ["sale", "other"]}})
}

pub(crate) fn banner() -> Value {
    json!({
        "identifier": PUSH,
        "display": {"type": "banner", "alert": "Sale inside", "position": "top", "duration": 0, "primary_color": "#ff0000"},
        "expiry": "2024-05-01T14:00:00",
        "extra": {"from": "in_app"},
        "campaigns": {"categories": ["spring"]},
        "actions": {"on_click": {"^s": "Look"}, "button_group": "ua_share"},
    })
}
