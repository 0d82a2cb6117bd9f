//! The message that live connections are sent: in the form of the payload of Web Push, whatever the device type, so that one reader
//! of it does for all.

use model::device_type::DeviceType;
use model::ids::{ChannelId, DeliveryId};
use model::payload::actions::Actions;
use model::payload::interactive::Interactive;
use model::payload::notification::Notification;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::form::Form;
use crate::recipient::Recipient;
use crate::rendered::NotSendable;
use crate::rendering::{Rendering, key};
use crate::request::PreparedRequest;
use crate::webpush::WebPush;

/// What overrides of the platforms have in common beside their texts.
#[derive(Default)]
struct Rest {
    actions: Option<Actions>,
    interactive: Option<Interactive>,
    extra: Option<Value>,
}

impl Rendering<'_> {
    /// The message for devices of a type, as JSON. `page_url` and the deadline are those of the rendering.
    pub fn live_message(&self, device_type: &DeviceType) -> Result<Map<String, Value>, NotSendable> {
        let notification = self.content.notification;
        let has_message = self.content.message.is_some() || self.content.in_app.is_some();
        let mut message = match device_type {
            DeviceType::Web => match notification.and_then(Notification::for_web) {
                Some(web) => WebPush::payload(self, &web),
                None if has_message => self.live_texts(device_type, Rest::default()),
                None => return Err(NotSendable::NothingToSend),
            },
            DeviceType::Sms | DeviceType::Mms | DeviceType::Email => return Err(NotSendable::NoTransport),
            other => match notification.and_then(|notification| rest(notification, other)) {
                Some(rest) => self.live_texts(other, rest),
                None if has_message => self.live_texts(other, Rest::default()),
                None => return Err(NotSendable::NothingToSend),
            },
        };
        message.insert("sent".to_owned(), json!(self.sent_at.to_api()));
        Ok(message)
    }

    fn live_texts(&self, device_type: &DeviceType, Rest { actions, interactive, extra }: Rest) -> Map<String, Value> {
        let shown = self.content.appearance_on(device_type);
        let mut message = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            message.extend(value.map(|value| (key.to_owned(), value)));
        };
        put("_", Some(json!(self.push_id)));
        put("push_id", Some(json!(self.push_id)));
        put(key::METADATA, Some(json!(self.metadata())));
        put(key::MESSAGE_ID, self.message_id().map(Value::from));
        put("alert", shown.body.map(Value::from));
        put("title", shown.title.map(Value::from));
        put("subtitle", shown.subtitle.map(Value::from));
        put("summary", shown.summary.map(Value::from));
        put("image", shown.image.map(|url| json!({ "url": url })));
        let actions = self.actions(actions.as_ref());
        put("actions", (!actions.is_empty()).then_some(Value::Object(actions)));
        let of_buttons = self.button_actions(interactive.as_ref()).unwrap_or_default();
        let button = |button: &model::payload::ShownButton| {
            let mut one = json!({ "id": button.id, "label": button.label.as_deref().unwrap_or(&button.id) });
            if let Some(actions) = of_buttons.get(&button.id) {
                one["actions"] = actions.clone();
            }
            one
        };
        let buttons: Vec<Value> = shown.buttons.iter().map(button).collect();
        put("buttons", (!buttons.is_empty()).then_some(Value::Array(buttons)));
        put("extra", extra);
        message
    }
}

/// `None` when there is nothing for devices of the type.
fn rest(notification: &Notification, device_type: &DeviceType) -> Option<Rest> {
    Some(match device_type {
        DeviceType::Ios => {
            let ios = notification.for_ios()?;
            Rest { actions: ios.actions, interactive: ios.interactive, extra: ios.extra.map(|extra| json!(extra)) }
        }
        DeviceType::Android => {
            let android = notification.for_android()?;
            let extra = android.extra.map(|extra| json!(extra));
            Rest { actions: android.actions, interactive: android.interactive, extra }
        }
        DeviceType::Amazon => {
            let amazon = notification.for_amazon()?;
            let extra = amazon.extra.map(|extra| json!(extra));
            Rest { actions: amazon.actions, interactive: amazon.interactive, extra }
        }
        DeviceType::Wns => notification.for_wns().map(|_| Rest::default())?,
        DeviceType::Open(platform) => {
            let open = notification.for_open(platform)?;
            let extra = open.content.extra.map(|extra| json!(extra));
            Rest { actions: open.actions, interactive: open.content.interactive, extra }
        }
        DeviceType::Web | DeviceType::Sms | DeviceType::Mms | DeviceType::Email => return None,
    })
}

/// A message with marks, to be filled in for each recipient.
#[derive(Clone, Debug)]
pub struct MarkedMessage(Form);

impl MarkedMessage {
    pub fn new(message: &str) -> Self {
        Self(Form::default().text(message).with_marks(true))
    }

    /// The numbers of its marks, some perhaps several times.
    pub fn text_numbers(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.text_numbers()
    }

    pub fn filled(&self, texts: &[String]) -> String {
        let (delivery, channel) = (DeliveryId::from_uuid(Uuid::nil()), ChannelId::from_uuid(Uuid::nil()));
        let filled = self.0.fill(&Recipient { texts, ..Recipient::new(delivery, channel, "") });
        String::from_utf8(filled).expect("texts in a text make a text")
    }
}

/// What the sandbox keeps of a message for live connections: there is no request, so that it shows where they are.
pub fn kept_message(message: &str) -> PreparedRequest {
    PreparedRequest { method: "GET".to_owned(), url: "/live".to_owned(), headers: Vec::new(), body: message.to_owned() }
}
