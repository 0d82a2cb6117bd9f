//! How connections to a webhook are used: again and again, and without losing an event to one that is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use model::event::EventTypes;
use model::time::UtcMillis;
use providers::Network;
use providers::http::{AddressPolicy, check_url};
use providers::webhook::{Hook, HookAnswer, WebhookConfig, WebhookSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A webhook that gives every request the same answer, and tells when it has closed a connection after it.
struct Webhook {
    url: String,
    n_connections: Arc<AtomicUsize>,
    closed: mpsc::UnboundedReceiver<()>,
}

impl Webhook {
    async fn start(answer: String, closes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/in?a=b", listener.local_addr().unwrap());
        let (n_connections, (tell, closed)) = (Arc::new(AtomicUsize::new(0)), mpsc::unbounded_channel());
        let counted = n_connections.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let (answer, tell) = (answer.clone(), tell.clone());
                tokio::spawn(async move {
                    serve(stream, answer.as_bytes(), closes).await;
                    let _ = tell.send(());
                });
            }
        });
        Self { url, n_connections, closed }
    }

    fn hook(&self) -> Hook {
        self.hook_with(60)
    }

    fn hook_with(&self, timeout_seconds: u32) -> Hook {
        let url = check_url(&self.url, AddressPolicy::ANY).unwrap();
        let settings = WebhookSettings { timeout_seconds: Some(timeout_seconds), ..WebhookSettings::default() };
        let config = WebhookConfig::new(url, EventTypes::all()).with(&settings);
        Hook::new(&Network::new(AddressPolicy::ANY), &config)
    }

    fn n_connections(&self) -> usize {
        self.n_connections.load(Ordering::SeqCst)
    }
}

/// Every request here has a body that ends in `!`.
async fn serve(mut stream: TcpStream, answer: &[u8], closes: bool) {
    let mut received = Vec::new();
    while stream.read_buf(&mut received).await.is_ok_and(|n_bytes| n_bytes > 0) {
        if received.last() == Some(&b'!') {
            let text = String::from_utf8_lossy(&received).to_ascii_lowercase();
            assert!(text.starts_with("post /in?a=b http/1.1\r\nhost: 127.0.0.1:"), "{text}");
            assert!(text.contains("content-length: 6\r\n"), "{text}");
            received.clear();
            if stream.write_all(answer).await.is_err() || closes {
                return;
            }
        }
    }
}

async fn post(hook: &Hook) -> HookAnswer {
    hook.post(&[Bytes::from_static(b"event!")], UtcMillis(0)).await
}

#[tokio::test]
async fn a_connection_is_used_again_whatever_the_answer_looks_like() {
    let long = "x".repeat(40_000);
    let answers = [
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
        format!("HTTP/1.1 201 Created\r\nContent-Length: 40000\r\n\r\n{long}"),
        format!("HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n9c40\r\n{long}\r\n0\r\n\r\n"),
        "HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno".to_owned(),
    ];
    for answer in answers {
        let webhook = Webhook::start(answer.clone(), false).await;
        let hook = webhook.hook();
        let first = post(&hook).await;
        assert_eq!(matches!(first, HookAnswer::Taken { .. }), !answer.contains("500"), "{first:?}");
        for _ in 0..3 {
            assert_eq!(post(&hook).await, first);
        }
        assert_eq!(webhook.n_connections(), 1, "{:.30}", answer);
    }
}

#[tokio::test]
async fn an_answer_without_an_end_is_not_waited_for() {
    let webhook =
        Webhook::start(format!("HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n{}", "x".repeat(900_000)), false)
            .await;
    let hook = webhook.hook();
    for n_connections in 1..4 {
        assert_eq!(post(&hook).await, HookAnswer::Taken { status: 200 });
        assert_eq!(webhook.n_connections(), n_connections);
    }
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_costs_no_event() {
    let mut webhook = Webhook::start("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned(), true).await;
    let hook = webhook.hook();
    for n_connections in 1..4 {
        assert_eq!(post(&hook).await, HookAnswer::Taken { status: 200 });
        webhook.closed.recv().await.unwrap();
        assert_eq!(webhook.n_connections(), n_connections);
    }
}

#[tokio::test]
async fn who_does_not_answer_is_not_waited_for_and_nobody_answers_where_nobody_is() {
    let silent = Webhook::start(String::new(), false).await;
    let HookAnswer::Failed { status: None, reason, .. } = post(&silent.hook_with(1)).await else {
        panic!("nothing was answered")
    };
    assert!(reason.contains("in time"), "{reason}");
    let hasty = Webhook::start(String::new(), true).await;
    let HookAnswer::Failed { status: None, reason, .. } = post(&hasty.hook()).await else {
        panic!("nothing was answered")
    };
    assert!(reason.contains("connection"), "{reason}");
    let url = check_url("http://127.0.0.1:1/", AddressPolicy::ANY).unwrap();
    let config = WebhookConfig::new(url, EventTypes::all());
    for policy in [AddressPolicy::ANY, AddressPolicy::PUBLIC_ONLY] {
        let HookAnswer::Failed { reason, .. } = post(&Hook::new(&Network::new(policy), &config)).await else {
            panic!("nobody is there")
        };
        assert_eq!(reason.contains("AEROGRAM_ALLOW_PRIVATE_ADDRESSES"), !policy.allow_private, "{reason}");
    }
}
