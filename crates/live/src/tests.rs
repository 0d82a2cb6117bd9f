//! What time does to connections, with later instants handed in: pings, silence, devices that take nothing, and how all of them
//! are told the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{Base, GrowthLimits};
use bytes::Bytes;
use devices::{Devices, LocationSettings};
use index::Indexes;
use model::app::{Mode, NewApp};
use model::ids::{ChannelId, Offset, Ordinal};
use model::time::{Clock, UtcMillis};
use store::{DatabaseUrl, Store};
use tempfile::TempDir;
use tenancy::{Caller, SealKey, Tenancy};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use websocket::frame;

use crate::backlog::Backlog;
use crate::hub::Hub;
use crate::line::Line;
use crate::socket::{STALLED, Socket};
use crate::{Connection, End, Live};

const NOW: UtcMillis = UtcMillis(1);
const SECOND: Duration = Duration::from_secs(1);
const PING: Duration = Duration::from_secs(60);
const ORDINAL: Ordinal = Ordinal(7);

/// The live connections of an app.
struct Room {
    _folder: TempDir,
    live: Live,
    hub: Arc<Hub>,
    caller: Caller,
}

impl Room {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&DatabaseUrl::Sqlite(folder.path().join("test.db"))).await.unwrap();
        let base = Base::new(store, Clock::stepped(NOW), GrowthLimits::NONE);
        let tenancy = Tenancy::new(&base, SealKey::new(&[7; 32]));
        let index = Indexes::new(&base, &tenancy, None);
        let devices = Devices::new(&base, &tenancy, &index, LocationSettings::default());
        let live = Live::new(&base, &tenancy, &index, &devices);
        let (name, mode) = ("A".to_owned(), Mode::Development);
        let new = NewApp { name, mode, key: None, app_secret: None, master_secret: None };
        let key = tenancy.create_app(new, None).await.unwrap().key;
        let caller = tenancy.caller_by_key(key.as_str()).await.unwrap().unwrap();
        let hub = live.hub(caller.app().id);
        Self { _folder: folder, live, hub, caller }
    }

    /// A connection that is served and begins with these frames, and the socket of its device.
    async fn connect(&self, first: Vec<u8>) -> (Arc<Line>, TcpStream) {
        let (stream, device) = pair().await;
        let socket = Socket::new(stream.into(), first, Offset(0), PING);
        let line = Arc::new(Line::new(ORDINAL, ChannelId::random(), self.caller.clone(), None, Some(socket)));
        self.hub.add(&line);
        let connection = Connection::new(self.live.clone(), self.hub.clone(), line.clone());
        tokio::spawn(async move { connection.run(Bytes::new()).await });
        (line, device)
    }

    /// The same once the device has been told the beginning.
    async fn connected(&self) -> (Arc<Line>, TcpStream) {
        let hello = frame::text("hello");
        let (line, mut device) = self.connect(hello.clone()).await;
        assert_eq!(told(&mut device, hello.len()).await, hello);
        let socket = line.socket.as_ref().unwrap();
        while socket.has_rest() || socket.is_behind() {
            tokio::task::yield_now().await;
        }
        (line, device)
    }
}

/// Both ends of a connection: that of the service, and that of the device.
async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (device, accepted) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
    (accepted.unwrap().0, device.unwrap())
}

async fn told(device: &mut TcpStream, n_bytes: usize) -> Vec<u8> {
    let mut bytes = vec![0; n_bytes];
    device.read_exact(&mut bytes).await.unwrap();
    bytes
}

#[tokio::test]
async fn a_device_that_is_silent_for_two_pings_is_closed_with_4408() {
    let room = Room::new().await;
    let (line, mut device) = room.connected().await;
    let began = Instant::now();
    for after in [Duration::ZERO, PING, PING + SECOND, PING * 2] {
        line.check(NOW, began + after);
    }
    assert_eq!(line.ended(), None);
    let pings = [frame::ping(), frame::ping()].concat();
    assert_eq!(told(&mut device, pings.len()).await, pings, "one each time");
    line.check(NOW, began + PING * 2 + STALLED + SECOND);
    assert_eq!(line.ended(), Some(End::TooSlow));
    let close = frame::close(4408, End::TooSlow.reason());
    assert_eq!(told(&mut device, close.len()).await, close);
    drop(device);
    while room.hub.n_lines() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_device_that_says_something_is_not_silent() {
    let room = Room::new().await;
    let (line, _device) = room.connected().await;
    let began = Instant::now();
    line.socket.as_ref().unwrap().note_heard(began + PING);
    line.check(NOW, began + PING * 2 + STALLED + SECOND);
    assert_eq!(line.ended(), None);
    line.check(NOW, began + PING * 3 + STALLED + SECOND);
    assert_eq!(line.ended(), Some(End::TooSlow));
}

#[tokio::test]
async fn a_device_that_takes_nothing_is_too_slow_until_it_does() {
    let (stream, mut device) = pair().await;
    let socket = Socket::new(stream.into(), Vec::new(), Offset(0), PING * 10);
    socket.stream.writable().await.unwrap();
    socket.refill(&Backlog::after(Offset(0)), ORDINAL, NOW).unwrap();
    socket.flush().unwrap();
    let frame = vec![0; 16 * 1024];
    for at in 1.. {
        if socket.is_behind() {
            break;
        }
        socket.offer(Offset(at), &frame);
    }
    let full = Instant::now();
    assert_eq!(socket.check(full), Ok(()));
    assert_eq!(socket.check(full + STALLED + SECOND), Err(End::TooSlow));
    let reading = async {
        let mut bytes = vec![0; 64 * 1024];
        while device.read(&mut bytes).await.unwrap() > 0 {}
    };
    let writing = async {
        while socket.has_rest() {
            socket.stream.writable().await.unwrap();
            socket.flush().unwrap();
        }
    };
    tokio::select! {
        () = writing => {}
        () = reading => panic!("nobody has closed the connection"),
    }
    assert_eq!(socket.check(full + STALLED + SECOND), Ok(()), "it has taken everything");
}

/// However much it has not read, as a device that has just come back.
#[tokio::test]
async fn a_device_that_is_being_told_much_is_told_the_end_as_well() {
    let room = Room::new().await;
    let missed = frame::text(&"x".repeat(200 * 1024));
    let (line, mut device) = room.connect(missed.clone()).await;
    let end = End::Restart { retry: 5 };
    line.end(end);
    let all = [missed, end.frames()].concat();
    assert!(told(&mut device, all.len()).await == all, "the rest, and the reason");
}
