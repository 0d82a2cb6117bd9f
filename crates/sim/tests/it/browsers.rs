//! The push services that browsers connect to, spoken to by hand: subscribing, messages, and what becomes of subscriptions that
//! ended.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use sim::{Faults, Protocol, SimSettings, Simulator};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::client::{Connection, http1, raw_tls};
use crate::signing::now;
use crate::webpush::{Vapid, encrypt};

/// Any keys: the simulator does not read what it sends on.
const P256DH: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

fn headers(vapid: &Vapid, audience: &str) -> [(&'static str, String); 3] {
    let claims = json!({"aud": audience, "exp": now() + 43_200, "sub": "mailto:push@example.com"});
    [("authorization", vapid.header(&claims)), ("ttl", "60".to_owned()), ("content-encoding", "aes128gcm".to_owned())]
}

async fn post(connection: &Connection, path: &str, headers: &[(&'static str, String); 3], body: &[u8]) -> u16 {
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    connection.post(path, &headers, body.to_vec()).await.unwrap().status.as_u16()
}

#[tokio::test]
async fn firefox_subscribes_gets_messages_and_unsubscribes() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let address = simulator.plain_url(Protocol::WebPush).strip_prefix("http://").unwrap().to_owned();
    let mut request = format!("ws://{address}/push").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "push-notification".parse().unwrap());
    let (mut socket, answer) = client_async(request, TcpStream::connect(&address).await.unwrap()).await.unwrap();
    assert_eq!(answer.headers()["sec-websocket-protocol"], "push-notification");
    let mut say = async |message: Value| {
        socket.send(Message::text(message.to_string())).await.unwrap();
        serde_json::from_str::<Value>(socket.next().await.unwrap().unwrap().to_text().unwrap()).unwrap()
    };
    let vapid = Vapid::new();
    let hello = say(json!({"messageType": "hello", "use_webpush": true})).await;
    assert_eq!((&hello["status"], &hello["use_webpush"]), (&json!(200), &json!(true)));
    let registered = say(json!({"messageType": "register", "channelID": "c1", "key": vapid.public_key})).await;
    let endpoint = registered["pushEndpoint"].as_str().unwrap();
    let path = endpoint.strip_prefix("https://updates.push.services.mozilla.com").unwrap();
    assert_eq!(simulator.stats().subscriptions, 1);

    let connection = Connection::tls(&simulator).await;
    let body = encrypt(b"{}", P256DH, AUTH);
    let good = headers(&vapid, "https://updates.push.services.mozilla.com");
    assert_eq!(post(&connection, path, &good, &body).await, 201);
    let told = say(json!({})).await;
    let data = URL_SAFE_NO_PAD.decode(told["data"].as_str().unwrap()).unwrap();
    assert_eq!((&told["messageType"], &told["channelID"], data), (&json!("notification"), &json!("c1"), body.clone()));
    let other = headers(&Vapid::new(), "https://updates.push.services.mozilla.com");
    assert_eq!(post(&connection, path, &other, &body).await, 403, "the subscription belongs to another key");
    assert_eq!(post(&connection, path, &headers(&vapid, "https://push.example"), &body).await, 401);
    assert_eq!(post(&connection, "/wpush/v2/nobody", &good, &body).await, 404);
    simulator.set_faults(Faults { throttled: 1.0, ..Faults::default() });
    assert_eq!(post(&connection, path, &good, &body).await, 429);
    simulator.set_faults(Faults::default());
    assert_eq!(say(json!({"messageType": "unregister", "channelID": "c1"})).await, json!({}), "the answer to the ping");
    simulator.wait_until(|stats| stats.subscriptions == 0).await;
    assert_eq!(post(&connection, path, &good, &body).await, 410);
    assert_eq!(simulator.stats().of(Protocol::WebPush).gone, 1);
}

#[tokio::test]
async fn chromium_checks_in_registers_and_gets_what_it_missed() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let checkin = http1(&simulator, "POST", "/checkin", &[], b"").await.unwrap();
    // The number of the browser is the eight bytes of field 7.
    let at = checkin.body.iter().position(|byte| *byte == 0x39).unwrap();
    let browser = u64::from_le_bytes(checkin.body[at + 1..at + 9].try_into().unwrap());
    assert!(checkin.body.starts_with(&[0x08, 1]) && i64::try_from(browser).is_ok());
    let vapid = Vapid::new();
    let form = format!("app=com.chrome.linux&X-subtype=wp%3Aa&device={browser}&sender={}", vapid.public_key);
    let answer = http1(&simulator, "POST", "/register", &[], form.as_bytes()).await.unwrap();
    let token = str::from_utf8(&answer.body).unwrap().strip_prefix("token=").unwrap().to_owned();
    let (path, body) = (format!("/fcm/send/{token}"), encrypt(b"{}", P256DH, AUTH));
    let (connection, good) = (Connection::tls(&simulator).await, headers(&vapid, "https://jmt17.google.com"));
    assert_eq!(post(&connection, &path, &good, &body).await, 201);

    // It logs in only now.
    let mut line = raw_tls(&simulator).await;
    let user = browser.to_string();
    let login = [&[0x1a, u8::try_from(user.len()).unwrap()], user.as_bytes()].concat();
    let packet = [&[41, 2, u8::try_from(login.len()).unwrap()], &*login].concat();
    line.write_all(&packet).await.unwrap();
    let mut heard = Vec::new();
    while !heard.windows(body.len()).any(|window| window == body) {
        assert_ne!(line.read_buf(&mut heard).await.unwrap(), 0);
    }
    assert_eq!(heard[..2], [41, 3]);
    let ending = format!("X-subtype=wp%3Aa&device={browser}&sender=*&delete=true");
    http1(&simulator, "POST", "/register", &[], ending.as_bytes()).await.unwrap();
    assert_eq!(post(&connection, &path, &good, &body).await, 410);
}

#[tokio::test]
async fn a_server_of_unified_push_says_what_it_is_and_takes_messages() {
    let simulator = Simulator::start(SimSettings { decrypt: true, ..SimSettings::default() }).await.unwrap();
    let (address, keys) = simulator.unified_push_subscription(1);
    let path = address.strip_prefix(&simulator.url(Protocol::UnifiedPush)).unwrap();
    let found = http1(&simulator, "GET", path, &[], b"").await.unwrap();
    assert_eq!(found.json(), json!({"unifiedpush": {"version": 1}}));
    let connection = Connection::tls(&simulator).await;
    let good = headers(&Vapid::new(), &simulator.url(Protocol::UnifiedPush));
    assert_eq!(post(&connection, path, &good, &encrypt(b"{\"_\":\"1\"}", &keys.p256dh, &keys.auth)).await, 201);
    assert_eq!(simulator.stats().of(Protocol::UnifiedPush).accepted, 1);
}
