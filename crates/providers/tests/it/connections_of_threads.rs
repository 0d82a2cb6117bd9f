//! How several threads use the connections to one provider: each its own where it can, and none waits for that.

use providers::Sender;
use providers::outcome::Outcome;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::connections::{proven, send, sender};
use crate::frames::{FrameServer, Peer};

/// A thread that drives the connections that it opens, until it is dropped.
struct Thread {
    runtime: Handle,
    _until: oneshot::Sender<()>,
}

impl Thread {
    fn start() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (until, ended) = oneshot::channel();
        let handle = runtime.handle().clone();
        std::thread::spawn(move || runtime.block_on(ended));
        Self { runtime: handle, _until: until }
    }

    fn send(&self, sender: &Sender, n: usize) -> JoinHandle<Vec<Outcome>> {
        let _here = self.runtime.enter();
        send(sender, n)
    }
}

async fn answer(peer: &mut Peer, streams: Vec<u32>) {
    for stream in streams {
        peer.answer(stream, 200).await;
    }
}

async fn requests(peer: &mut Peer, n: usize) -> Vec<u32> {
    let mut streams = Vec::new();
    for _ in 0..n {
        streams.push(peer.request().await);
    }
    streams
}

#[tokio::test]
async fn a_thread_opens_its_own_connection_once_that_of_another_is_crowded() {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    let mut shared = proven(&server, &sender, 100).await;
    let thread = Thread::start();
    let alone = thread.send(&sender, 1);
    let stream = shared.request().await;
    shared.answer(stream, 200).await;
    assert_eq!(alone.await.unwrap(), [Outcome::Delivered], "what has next to nothing to do is shared");

    let crowd = send(&sender, 40);
    let crowded = requests(&mut shared, 40).await;
    let meanwhile = thread.send(&sender, 1);
    let mut own = server.accept(100).await;
    let stream = shared.request().await;
    shared.answer(stream, 200).await;
    assert_eq!(meanwhile.await.unwrap(), [Outcome::Delivered], "it does not wait for a connection");
    answer(&mut shared, crowded).await;
    assert_eq!(crowd.await.unwrap(), vec![Outcome::Delivered; 40]);

    // Both take their own from then on, whichever has less to do.
    let proof = thread.send(&sender, 1);
    let stream = own.request().await;
    own.answer(stream, 200).await;
    assert_eq!(proof.await.unwrap(), [Outcome::Delivered]);
    let (by_thread, by_us) = (thread.send(&sender, 3), send(&sender, 1));
    let (on_own, on_shared) = (requests(&mut own, 3).await, requests(&mut shared, 1).await);
    let more_by_us = send(&sender, 5);
    let more_on_shared = requests(&mut shared, 5).await;
    answer(&mut own, on_own).await;
    answer(&mut shared, [on_shared, more_on_shared].concat()).await;
    for (sent, n) in [(by_thread, 3), (by_us, 1), (more_by_us, 5)] {
        assert_eq!(sent.await.unwrap(), vec![Outcome::Delivered; n]);
    }
}

#[tokio::test]
async fn a_crowd_leaves_the_last_place_to_a_thread_without_a_connection() {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    // Nine connections are the most.
    let crowd = send(&sender, 8 * 41 + 10);
    let mut theirs = Vec::new();
    for _ in 0..8 {
        let mut peer = server.accept(40).await;
        let first = peer.request().await;
        peer.answer(first, 200).await;
        theirs.push(peer);
    }
    for peer in &mut theirs {
        requests(peer, 40).await;
    }
    let thread = Thread::start();
    let ours = thread.send(&sender, 1);
    let mut own = server.accept(40).await;
    // It has room for those of the crowd that wait, too.
    for n in [1, 10] {
        let streams = requests(&mut own, n).await;
        answer(&mut own, streams).await;
    }
    assert_eq!(ours.await.unwrap(), [Outcome::Delivered]);
    crowd.abort();
}

#[tokio::test]
async fn a_new_connection_that_says_nothing_holds_up_one_request() {
    let server = FrameServer::start().await;
    let sender = sender(&server);
    let mut shared = proven(&server, &sender, 100).await;
    let thread = Thread::start();
    let crowd = send(&sender, 32);
    let crowded = requests(&mut shared, 32).await;
    let stuck = thread.send(&sender, 2);
    let mut own = server.accept(100).await;
    // Neither the first on the new connection nor those behind it, which do not wait for its proof.
    let on_shared = requests(&mut shared, 2).await;
    answer(&mut shared, on_shared).await;
    assert_eq!(stuck.await.unwrap(), vec![Outcome::Delivered; 2]);
    answer(&mut shared, crowded).await;
    assert_eq!(crowd.await.unwrap(), vec![Outcome::Delivered; 32]);
    let waiting = thread.send(&sender, 1);
    own.request().await;
    let behind = thread.send(&sender, 3);
    let on_shared = requests(&mut shared, 3).await;
    answer(&mut shared, on_shared).await;
    assert_eq!(behind.await.unwrap(), vec![Outcome::Delivered; 3], "one that is silent takes one request");
    waiting.abort();
}
