//! Devices with live connections, by a library of WebSockets that is not ours.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, Method};
use providers::http::Streaming;
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::app::TestApp;
use crate::client::Caller;

/// Keeps a test from hanging.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the system takes for a device that does not read. A buffer of a set size does not grow.
const NARROW: u32 = 16 * 1024;

pub struct Device {
    pub channel: String,
    pub token: String,
}

impl Device {
    /// Registers a channel that is opted in, and gets its token.
    pub async fn register(app: &TestApp, mut channel: Value) -> Self {
        channel["opt_in"] = json!(true);
        let answer = app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        Self::of(app, answer["channel_id"].as_str().expect("an id")).await
    }

    pub async fn of(app: &TestApp, channel: &str) -> Self {
        Self::at(&app.device(), channel).await
    }

    /// The same for a caller with the app secret.
    pub async fn at(device: &Caller, channel: &str) -> Self {
        let request = device.request(Method::GET, "/api/auth/device").header("X-UA-Channel-ID", channel);
        let answer = device.send(request.body(Bytes::new()).expect("a request")).await.expect(200);
        Self { channel: channel.to_owned(), token: answer["token"].as_str().expect("a token").to_owned() }
    }

    pub async fn post(&self, app: &TestApp, path: &str, body: &Value) -> (u16, Value) {
        let reply = app.nobody().bearer(&self.token).post(path, body).await;
        (reply.status.as_u16(), reply.json())
    }
}

pub struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    /// Connects as a page in a browser does, with the token among the protocols.
    pub async fn open(app: &TestApp, device: &Device, after: Option<&str>) -> Self {
        let query = after.map(|after| format!("?after={after}")).unwrap_or_default();
        Self::with(app, &query, &device.token).await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub async fn with(app: &TestApp, query: &str, token: &str) -> Result<Self, Error> {
        Self::at(&app.url(""), query, token).await
    }

    /// The same with a service at a URL.
    pub async fn at(service: &str, query: &str, token: &str) -> Result<Self, Error> {
        let stream = TcpStream::connect(host(service)).await.expect("somebody listens");
        Self::over(stream, service, query, token).await
    }

    /// Connects with a small buffer, as a device that reads nothing for a while: little is on its way to it.
    pub async fn open_narrow(app: &TestApp, device: &Device) -> Self {
        let socket = TcpSocket::new_v4().expect("there are sockets");
        socket.set_recv_buffer_size(NARROW).expect("a buffer has a size");
        let service = app.url("");
        let stream = socket.connect(host(&service).parse().expect("an address")).await.expect("somebody listens");
        Self::over(stream, &service, "", &device.token).await.unwrap_or_else(|error| panic!("{error}"))
    }

    async fn over(stream: TcpStream, service: &str, query: &str, token: &str) -> Result<Self, Error> {
        let mut request = format!("{service}/live{query}").replace("http://", "ws://").into_client_request()?;
        let protocols = format!("aerogram.live.1, token.{token}");
        request.headers_mut().insert(
            "Sec-WebSocket-Protocol",
            HeaderValue::from_str(&protocols).expect("a token of visible characters"),
        );
        let (socket, answer) = client_async(request, stream).await?;
        assert_eq!(answer.headers()["Sec-WebSocket-Protocol"], "aerogram.live.1");
        Ok(Self(socket))
    }

    /// The next message. Pings are answered on the way, and positions that come with them passed over.
    pub async fn next(&mut self) -> Value {
        match self.event().await {
            Ok(message) => message,
            Err(code) => panic!("the connection was closed with {code}"),
        }
    }

    /// The next message, or the code with which the connection was closed.
    pub async fn event(&mut self) -> Result<Value, u16> {
        loop {
            let message = timeout(PATIENCE, self.0.next()).await.expect("a message in time");
            match message {
                Some(Ok(Message::Text(text))) => {
                    let message: Value = serde_json::from_str(text.as_str()).expect("JSON");
                    if message["type"] != "at" {
                        return Ok(message);
                    }
                }
                Some(Ok(Message::Close(frame))) => return Err(frame.map_or(1005, |frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(error)) => panic!("{error}"),
                None => panic!("the connection ended without a word"),
            }
        }
    }

    /// What still comes from a service that was killed.
    pub async fn rest(mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some(Ok(message)) = timeout(PATIENCE, self.0.next()).await.expect("the end in time") {
            if let Message::Text(text) = message {
                rest.push(serde_json::from_str(text.as_str()).expect("JSON"));
            }
        }
        rest
    }

    /// The code with which the connection is closed, after any messages.
    pub async fn closed(&mut self) -> u16 {
        loop {
            if let Err(code) = self.event().await {
                return code;
            }
        }
    }

    /// Closes the connection, and waits until the service has, too.
    pub async fn leave(mut self) {
        // The service may have begun to close it.
        let _ = self.0.close(None).await;
        let ending = async { while let Some(Ok(_)) = self.0.next().await {} };
        timeout(PATIENCE, ending).await.expect("the end in time");
    }

    pub async fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.expect("an open connection");
    }

    pub async fn send(&mut self, message: Message) {
        self.0.send(message).await.expect("an open connection");
    }
}

/// The messages of a device as server-sent events.
pub struct Events {
    stream: Streaming,
    received: Vec<u8>,
}

impl Events {
    /// Goes on after the event with an id.
    pub async fn open(app: &TestApp, device: &Device, last: Option<&str>) -> Self {
        let caller = app.nobody().bearer(&device.token);
        let mut request = caller.request(Method::GET, "/live").header("Accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let (head, stream) = caller.open(request.body(Bytes::new()).expect("a request")).await;
        assert_eq!((head.status.as_u16(), head.header("content-type")), (200, Some("text/event-stream")));
        Self { stream, received: Vec::new() }
    }

    /// The next message, whose position is the id of its event. Comments are passed over.
    pub async fn next(&mut self) -> Value {
        loop {
            while let Some(end) = self.received.windows(2).position(|bytes| bytes == b"\n\n") {
                let event = String::from_utf8(self.received.drain(..end + 2).collect()).expect("text");
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                if let Some(data) = field("data: ") {
                    let message: Value = serde_json::from_str(data).expect("JSON");
                    let told = (message["at"].as_str(), message["type"].as_str());
                    assert_eq!((field("id: "), field("event: ")), told, "{event}");
                    return message;
                }
            }
            let piece = timeout(PATIENCE, self.stream.chunk()).await.expect("a message in time");
            self.received.extend_from_slice(&piece.expect("a whole answer").expect("the stream goes on"));
        }
    }
}

/// The address of a service, from its URL.
fn host(service: &str) -> &str {
    service.trim_start_matches("http://").split('/').next().unwrap_or_default()
}
