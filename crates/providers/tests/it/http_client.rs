//! The client keeps to its limits: where it connects, how long it waits, how much it reads.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use providers::http::{AddressPolicy, Client, MOST_ANSWER_BYTES, Outgoing, Refusal, SendError, Timeouts};
use tokio::net::TcpListener;

use crate::receiver::{Receiver, answer};

fn get(url: &str) -> Request<Bytes> {
    Request::get(url).body(Bytes::new()).unwrap()
}

#[tokio::test]
async fn a_request_is_answered_and_connections_are_reused() {
    let receiver = Receiver::start(|request| answer(201, request.body.clone())).await;
    let client = Client::new(AddressPolicy::ANY);
    for body in ["one", "two"] {
        let request = Request::post(receiver.url("/echo?x=1")).body(Bytes::from(body)).unwrap();
        let response = client.send(request).await.unwrap();
        assert_eq!((response.status().as_u16(), response.body().as_ref()), (201, body.as_bytes()));
    }
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].peer, received[1].peer);
    assert_eq!(received[0].head.uri, "/echo?x=1");
    assert_eq!(received[0].header("host"), Some(receiver.address.to_string().as_str()));
}

#[tokio::test]
async fn private_addresses_are_refused_as_literals_and_behind_names() {
    let receiver = Receiver::start(|_| answer(200, "")).await;
    let port = receiver.address.port();
    let client = Client::new(AddressPolicy::PUBLIC_ONLY);
    let refused = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        format!("https://127.0.0.1:{port}/"),
    ];
    for url in refused {
        match client.send(get(&url)).await {
            Err(SendError::Refused(refusal @ Refusal::Address { .. })) => {
                assert!(refusal.to_string().contains("AEROGRAM_ALLOW_PRIVATE_ADDRESSES"), "{refusal}");
            }
            other => panic!("{url}: {other:?}"),
        }
    }
    assert!(receiver.received().is_empty());
}

#[tokio::test]
async fn a_name_is_permitted_when_private_addresses_are() {
    let receiver = Receiver::start(|_| answer(200, "")).await;
    let client = Client::new(AddressPolicy::ANY);
    let url = format!("http://localhost:{}/", receiver.address.port());
    assert_eq!(client.send(get(&url)).await.unwrap().status(), 200);
}

#[tokio::test]
async fn redirects_are_answers() {
    let receiver = Receiver::start(|request| match request.head.uri.path() {
        "/old" => {
            let mut moved = answer(302, "");
            moved.headers_mut().insert("location", "/new".parse().unwrap());
            moved
        }
        _ => answer(200, "followed"),
    })
    .await;
    let response = Client::new(AddressPolicy::ANY).send(get(&receiver.url("/old"))).await.unwrap();
    assert_eq!(response.status(), 302);
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test]
async fn a_listener_that_never_answers_times_out_and_one_that_speaks_no_tls_is_not_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let within = |seconds| {
        let timeouts = Timeouts { connect: Duration::from_secs(60), total: Duration::from_secs(seconds) };
        Client::with_timeouts(AddressPolicy::ANY, timeouts)
    };
    let (plain, encrypted) = (format!("http://{address}/"), format!("https://{address}/"));
    let plain = async {
        // A machine that is too busy to connect in that time gets more.
        for seconds in [1, 4, 16] {
            match within(seconds).send(get(&plain)).await {
                Err(SendError::Unreachable(_)) => {}
                ended => return ended,
            }
        }
        within(60).send(get(&plain)).await
    };
    let (client, request) = (within(1), get(&encrypted));
    let (plain, encrypted) = tokio::join!(plain, client.send(request));
    assert!(matches!(plain, Err(SendError::Timeout)), "{plain:?}");
    match encrypted {
        Err(SendError::Unreachable(text)) => assert_eq!(text, "there was no connection in time"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_closed_port_is_a_connection_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::new(AddressPolicy::ANY);
    match client.send(get(&url)).await {
        Err(SendError::Unreachable(text)) => assert!(text.contains("refused"), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_connection_closed_without_an_answer_is_a_connection_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let closing = tokio::spawn(async move {
        drop(listener.accept().await.unwrap());
    });
    let client = Client::new(AddressPolicy::ANY);
    assert!(matches!(client.send(get(&url)).await, Err(SendError::Connection(_))));
    closing.await.unwrap();
}

#[tokio::test]
async fn long_answers_are_cut() {
    let receiver = Receiver::start(|_| answer(200, vec![b'x'; 10 * MOST_ANSWER_BYTES])).await;
    let client = Client::new(AddressPolicy::ANY);
    let response = client.send(get(&receiver.url("/"))).await.unwrap();
    assert_eq!((response.status().as_u16(), response.body().len()), (200, MOST_ANSWER_BYTES));
    // The connection with the unread rest is not used again.
    assert_eq!(client.send(get(&receiver.url("/"))).await.unwrap().body().len(), MOST_ANSWER_BYTES);
}

#[tokio::test]
async fn an_answer_can_be_read_piece_by_piece_and_whole() {
    let n_bytes = 3 * MOST_ANSWER_BYTES;
    let receiver = Receiver::start(move |_| answer(200, vec![b'x'; n_bytes])).await;
    let mut body = Client::new(AddressPolicy::ANY).open(get(&receiver.url("/"))).await.unwrap().into_body();
    let mut n_read = 0;
    while let Some(chunk) = body.chunk().await.unwrap() {
        n_read += chunk.len();
    }
    assert_eq!(n_read, n_bytes);

    let refused = Client::new(AddressPolicy::PUBLIC_ONLY).open(get(&receiver.url("/"))).await;
    assert!(matches!(refused, Err(SendError::Refused(Refusal::Address { .. }))));
    assert_eq!(receiver.received().len(), 1);
}

/// A source that does not end before a while has passed, one byte at a time.
struct Lasting(Instant, Duration);

impl Read for Lasting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'x');
        Ok(if self.0.elapsed() < self.1 { 1 } else { 0 })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_lasts_as_long_as_it_moves() {
    let receiver = Receiver::start(|request| answer(200, request.body.len().to_string())).await;
    let timeouts = Timeouts { total: Duration::from_secs(2), ..Timeouts::default() };
    let client = Client::with_timeouts(AddressPolicy::ANY, timeouts);
    let body = Outgoing::new(Lasting(Instant::now(), Duration::from_millis(2500)), None);
    let sent = body.sent();
    let mut body = client.upload(Request::put(receiver.url("/")).body(body).unwrap()).await.unwrap().into_body();
    assert_eq!(body.chunk().await.unwrap().unwrap(), sent.get().to_string());

    // With its size, and to a listener that takes what the network holds and no more.
    let known = Outgoing::new("some bytes".as_bytes(), Some(10));
    client.upload(Request::put(receiver.url("/")).body(known).unwrap()).await.unwrap();
    assert_eq!(receiver.received()[1].header("content-length"), Some("10"));
    let stuck = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", stuck.local_addr().unwrap());
    let endless = Outgoing::new(io::repeat(b'x'), None);
    let ended = client.upload(Request::put(url).body(endless).unwrap()).await;
    assert!(matches!(ended, Err(SendError::Timeout)), "{ended:?}");
}
