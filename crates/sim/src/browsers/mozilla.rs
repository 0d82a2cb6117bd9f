//! The messages between Firefox and Mozilla's push service, in JSON: pure, without a socket.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::ids::DeliveryId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::subscriptions::{Notice, Subscription, Subscriptions};

/// Where Firefox connects to.
pub(crate) const SOCKET: &str = "/push";
pub(crate) const SUBPROTOCOL: &str = "push-notification";
/// The root of the subscriptions of Firefox.
pub(crate) const PREFIX: &str = "/wpush/";
/// The origin of these subscriptions.
pub(crate) const ORIGIN: &str = "https://updates.push.services.mozilla.com";

/// What a browser says.
#[derive(Debug, Deserialize)]
#[serde(tag = "messageType", rename_all = "snake_case")]
enum Request {
    Hello {
        #[serde(default)]
        uaid: String,
    },
    Register {
        #[serde(rename = "channelID")]
        name: String,
        #[serde(default)]
        key: String,
    },
    Unregister {
        #[serde(rename = "channelID")]
        name: String,
    },
    Ack {
        updates: Vec<Update>,
    },
    /// A message that the browser could not use, which it does not want again.
    Nack {
        version: String,
    },
    Ping,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Update {
    version: String,
}

/// What follows from a message of a browser.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    Answer(String),
    /// The browser has said which one it is.
    Welcome {
        browser: String,
        answer: String,
    },
    Nothing,
    /// It does not keep to the protocol.
    End,
}

/// Carries out what a browser asks for. `browser` is its id, once it has said hello.
pub(super) fn react(subscriptions: &Subscriptions, browser: Option<&str>, text: &str) -> Reaction {
    // An empty object is a ping, too.
    if text.trim() == "{}" {
        return Reaction::Answer("{}".to_owned());
    }
    let Ok(request) = serde_json::from_str(text) else { return Reaction::End };
    match (request, browser) {
        (Request::Hello { uaid }, None) => welcome(subscriptions, uaid),
        (Request::Hello { .. }, Some(_)) | (_, None) => Reaction::End,
        (Request::Register { name, key }, Some(browser)) => {
            let (browser, sender) = (browser.to_owned(), key.trim_end_matches('=').to_owned());
            let subscription =
                Subscription { browser, name: name.clone(), app: String::new(), sender, is_ended: false };
            let endpoint = format!("{ORIGIN}{PREFIX}v2/{}", subscriptions.subscribe(subscription));
            said(&json!({"messageType": "register", "channelID": name, "status": 200, "pushEndpoint": endpoint}))
        }
        (Request::Unregister { name }, Some(browser)) => {
            subscriptions.unsubscribe(browser, &name, None);
            said(&json!({"messageType": "unregister", "channelID": name, "status": 200}))
        }
        (Request::Ack { updates }, Some(browser)) => {
            subscriptions.acknowledge(browser, updates.iter().map(|update| &*update.version));
            Reaction::Nothing
        }
        (Request::Nack { version }, Some(browser)) => {
            subscriptions.acknowledge(browser, std::iter::once(&*version));
            Reaction::Nothing
        }
        (Request::Ping, Some(_)) => Reaction::Answer("{}".to_owned()),
        (Request::Other, Some(_)) => Reaction::Nothing,
    }
}

/// A browser whose id nobody knows gets a new one, upon which it forgets its subscriptions.
fn welcome(subscriptions: &Subscriptions, uaid: String) -> Reaction {
    let is_known = subscriptions.knows_browser(&uaid);
    let browser = if is_known { uaid } else { DeliveryId::random().uuid().simple().to_string() };
    let answer = json!({"messageType": "hello", "uaid": browser, "status": 200, "use_webpush": true, "broadcasts": {}});
    Reaction::Welcome { browser, answer: answer.to_string() }
}

/// A message to one subscription of the browser.
pub(super) fn notification(notice: &Notice) -> String {
    let notification = json!({
        "messageType": "notification",
        "channelID": notice.subscription.name,
        "version": notice.id,
        "ttl": notice.ttl,
        "data": URL_SAFE_NO_PAD.encode(&notice.body),
        "headers": {"encoding": "aes128gcm"},
    });
    notification.to_string()
}

fn said(answer: &Value) -> Reaction {
    Reaction::Answer(answer.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browsers::subscriptions::Standing;

    fn json(reaction: Reaction) -> Value {
        match reaction {
            Reaction::Answer(text) | Reaction::Welcome { answer: text, .. } => serde_json::from_str(&text).unwrap(),
            Reaction::Nothing | Reaction::End => Value::Null,
        }
    }

    #[test]
    fn a_browser_subscribes_is_told_and_leaves() {
        let all = Subscriptions::default();
        let hello = r#"{"messageType":"hello","broadcasts":{},"use_webpush":true}"#;
        let Reaction::Welcome { browser, .. } = react(&all, None, hello) else { panic!() };
        let mut notices = all.connect(&browser);
        let say = |text: &str| react(&all, Some(&browser), text);
        let register = r#"{"messageType":"register","channelID":"c1","key":"BKey="}"#;
        let registered = json(say(register));
        assert_eq!((&registered["status"], &registered["channelID"]), (&json!(200), &json!("c1")));
        assert_eq!(json(say(register)), registered, "the same page has the same subscription");
        let token = registered["pushEndpoint"].as_str().unwrap().rsplit('/').next().unwrap();
        assert_eq!((all.standing(token, "BKey"), all.standing(token, "BOther")), (Standing::Good, Standing::Foreign));
        assert_eq!((all.standing("x", "BKey"), all.n_active()), (Standing::Unknown, 1));

        all.send(token, 60, 5, "secret".into());
        let told: Value = serde_json::from_str(&notification(&notices.try_recv().unwrap())).unwrap();
        assert_eq!((&told["channelID"], &told["data"]), (&json!("c1"), &json!("c2VjcmV0")));
        let mut again = all.connect(&browser);
        assert_eq!(again.try_recv().unwrap().id, told["version"], "it has not said that it got the message");
        let ack =
            json!({"messageType": "ack", "updates": [{"channelID": "c1", "version": told["version"], "code": 100}]});
        assert_eq!(say(&ack.to_string()), Reaction::Nothing);
        assert!(all.connect(&browser).try_recv().is_err());

        let known = format!(r#"{{"messageType":"hello","uaid":"{browser}"}}"#);
        assert_eq!(json(react(&all, None, &known))["uaid"], json!(browser));
        let left = json(say(r#"{"messageType":"unregister","channelID":"c1","code":200}"#));
        assert_eq!(left["status"], json!(200));
        assert_eq!((all.standing(token, "BKey"), all.n_active()), (Standing::Ended, 0));
    }

    #[test]
    fn pings_are_answered_and_strangers_refused() {
        let all = Subscriptions::default();
        assert_eq!(react(&all, Some("a"), "{}"), Reaction::Answer("{}".to_owned()));
        assert_eq!(react(&all, Some("a"), r#"{"messageType":"ping"}"#), Reaction::Answer("{}".to_owned()));
        assert_eq!(
            react(&all, Some("a"), r#"{"messageType":"broadcast_subscribe","broadcasts":{}}"#),
            Reaction::Nothing
        );
        assert_eq!(react(&all, Some("a"), r#"{"messageType":"nack","version":"x","code":301}"#), Reaction::Nothing);
        for text in ["", "[]", r#"{"messageType":"register"}"#, r#"{"messageType":"hello"}"#] {
            assert_eq!(react(&all, Some("a"), text), Reaction::End, "{text}");
        }
        assert_eq!(react(&all, None, r#"{"messageType":"register","channelID":"c"}"#), Reaction::End);
        let unknown = json(react(&all, None, r#"{"messageType":"hello","uaid":"nobody"}"#));
        assert_ne!(unknown["uaid"], json!("nobody"));
    }
}
