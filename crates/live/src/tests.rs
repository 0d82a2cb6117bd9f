//! What time does to connections, with later instants handed in: pings and the positions that come with them, silence, devices that
//! take nothing, and how all of them are told the end. And what becomes of a message when the poll that has found it is given up.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use base::{Base, GrowthLimits};
use bytes::Bytes;
use devices::{Devices, Journal, LocationSettings, ManyEvent};
use index::Indexes;
use model::app::{Mode, NewApp};
use model::event::{LiveContent, SharedPush};
use model::ids::{ChannelId, Offset, Ordinal, PushId};
use model::time::{Clock, UtcMillis};
use roaring::RoaringBitmap;
use store::{DatabaseUrl, Store, Tx};
use tempfile::TempDir;
use tenancy::{Caller, SealKey, Tenancy};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use websocket::frame;

use crate::backlog::Backlog;
use crate::hub::Hub;
use crate::line::Line;
use crate::message::{self, InboxNews, Message, Told};
use crate::socket::{STALLED, Socket};
use crate::{Connection, End, Live, Reader};

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

    fn line(&self, socket: Option<Socket>) -> Arc<Line> {
        self.line_of(ORDINAL, socket)
    }

    fn line_of(&self, ordinal: Ordinal, socket: Option<Socket>) -> Arc<Line> {
        let line = Arc::new(Line::new(ordinal, ChannelId::random(), self.caller.clone(), None, socket));
        self.hub.add(&line);
        line
    }

    /// The log was read up to an offset, and everything there was handed out.
    fn read_up_to(&self, offset: Offset) {
        self.hub.backlog.write().advance(offset);
        self.hub.inboxes.lock().restart(Offset(0), offset, &RoaringBitmap::new());
    }

    /// Puts a message to everybody who is connected into the log, which nobody follows here.
    async fn send(&self) -> Offset {
        let (app, everybody) = (self.hub.app, self.hub.lines.lock().connected.clone());
        let write = move |tx: &mut Tx<'_>| {
            let content = LiveContent { expires: None, message: "{}".to_owned() };
            let mut journal = Journal::new(NOW);
            journal.many(ManyEvent::Live(&content), &SharedPush::of(PushId::random()), &everybody)?;
            journal.write(tx, app)
        };
        self.live.0.store.write(app, write).await.unwrap()
    }

    /// A connection that is served and begins with these frames, and the socket of its device.
    async fn connect(&self, first: Vec<u8>) -> (Arc<Line>, TcpStream) {
        let (stream, device) = pair().await;
        let line = self.line(Some(Socket::new(stream.into(), first, Offset(0), PING)));
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

/// A socket that has everything up to the beginning of the log, and that of its device.
async fn current() -> (Socket, TcpStream) {
    let (stream, device) = pair().await;
    let socket = Socket::new(stream.into(), Vec::new(), Offset(0), PING);
    socket.stream.writable().await.unwrap();
    socket.refill(&Backlog::after(Offset(0)), ORDINAL, NOW).unwrap();
    socket.flush().unwrap();
    (socket, device)
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
        line.check(NOW, began + after, None);
    }
    assert_eq!(line.ended(), None);
    let pings = [frame::ping(), frame::ping()].concat();
    assert_eq!(told(&mut device, pings.len()).await, pings, "one each time");
    line.check(NOW, began + PING * 2 + STALLED + SECOND, None);
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
    line.check(NOW, began + PING * 2 + STALLED + SECOND, None);
    assert_eq!(line.ended(), None);
    line.check(NOW, began + PING * 3 + STALLED + SECOND, None);
    assert_eq!(line.ended(), Some(End::TooSlow));
}

#[tokio::test]
async fn a_device_that_takes_nothing_is_too_slow_until_it_does() {
    let (socket, mut device) = current().await;
    let frame = vec![0; 16 * 1024];
    for at in 1.. {
        if socket.is_behind() {
            break;
        }
        socket.offer(Offset(at), &frame);
    }
    let full = Instant::now();
    assert_eq!(socket.check(full, None), Ok(()));
    assert_eq!(socket.check(full + STALLED + SECOND, None), Err(End::TooSlow));
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
    assert_eq!(socket.check(full + STALLED + SECOND, None), Ok(()), "it has taken everything");
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

/// It would come back with a position from which too much has happened to be looked through.
#[tokio::test]
async fn a_device_for_which_nothing_comes_is_told_how_far_it_is_with_a_ping() {
    let (socket, mut device) = current().await;
    let began = Instant::now();
    let (five, ping) = (frame::text(&message::position(Offset(5))), frame::ping());
    socket.check(began + PING, Some(Offset(5))).unwrap();
    socket.check(began + PING * 2, Some(Offset(5))).unwrap();
    let all = [&five[..], &ping, &ping].concat();
    assert_eq!(told(&mut device, all.len()).await, all, "once");
    let next = frame::text("next");
    assert!(socket.offer(Offset(5), b"what it has") && socket.offer(Offset(6), &next));
    assert_eq!(told(&mut device, next.len()).await, next);
}

#[tokio::test]
async fn a_device_that_is_behind_is_not_told_a_position_that_it_has_not_reached() {
    let (stream, mut device) = pair().await;
    let socket = Socket::new(stream.into(), Vec::new(), Offset(0), PING);
    socket.stream.writable().await.unwrap();
    socket.flush().unwrap();
    socket.check(Instant::now() + PING, Some(Offset(5))).unwrap();
    assert_eq!(told(&mut device, 2).await, frame::ping());
    assert!(!socket.offer(Offset(5), b"read from the backlog"), "the message there is yet to come");
}

#[tokio::test]
async fn what_a_device_is_to_be_told_of_its_inbox_comes_before_a_position() {
    let room = Room::new().await;
    let (socket, mut device) = current().await;
    let line = room.line(Some(socket));
    let (socket, began) = (line.socket.as_ref().unwrap(), Instant::now());
    let news = InboxNews { at: Offset(5), unread: 1 };
    line.tell_inbox(news);
    line.check(NOW, began + PING, Some(Offset(5)));
    line.offer_inbox(socket);
    socket.flush().unwrap();
    line.check(NOW, began + PING * 2, Some(Offset(5)));
    let all = [frame::ping(), frame::text(&news.json()), frame::ping()].concat();
    assert_eq!(told(&mut device, all.len()).await, all);
    room.hub.inboxes.lock().restart(Offset(0), Offset(9), &RoaringBitmap::from([ORDINAL.0]));
    assert_eq!(room.hub.inboxes.lock().settled(), None, "somebody is yet to be told");
}

#[tokio::test]
async fn a_device_without_a_socket_is_told_how_far_it_is_as_well() {
    let room = Room::new().await;
    let line = room.line(None);
    let mut reader = Reader::new(room.live.clone(), room.hub.clone(), line.clone(), Vec::new(), (Offset(0), Offset(0)));
    room.read_up_to(Offset(9));
    assert_eq!(reader.position(), Ok(Some(Offset(9))));
    let message =
        Message { at: Offset(11), occurred: NOW, push: PushId::random(), expires: None, content: "{}".into() };
    room.hub.backlog.write().add(&message, &RoaringBitmap::from([ORDINAL.0]));
    assert_eq!(reader.position(), Ok(None), "it is told the message first");
    assert_eq!(reader.next().await, Ok(vec![Told::Push(message)]));
    let news = InboxNews { at: Offset(12), unread: 1 };
    line.tell_inbox(news);
    room.read_up_to(Offset(12));
    assert_eq!(reader.position(), Ok(None), "and how its inbox is");
    assert_eq!(reader.next().await, Ok(vec![Told::Inbox(news)]));
    assert_eq!(reader.position(), Ok(Some(Offset(12))));
}

/// It is in the backlog by then, and so would count as received with the next one that the device acknowledges.
#[tokio::test]
async fn a_message_reaches_everybody_although_the_poll_that_has_found_it_is_given_up() {
    let room = Room::new().await;
    // So many that others get their turn on the thread before the last one is written to.
    let others: Vec<_> = (0..1_000).map(|number| room.line_of(Ordinal(number), None)).collect();
    let (socket, mut device) = current().await;
    let last = room.line_of(Ordinal(1_000), Some(socket));
    room.live.catch_up(&room.hub).await.unwrap();
    let first = room.send().await;
    let mut poll = Box::pin(room.live.catch_up(&room.hub));
    while room.hub.backlog.read().seen() < first {
        poll_fn(|context| Poll::Ready(poll.as_mut().poll(context).is_ready())).await;
        tokio::task::yield_now().await;
    }
    drop(poll);
    room.send().await;
    room.live.catch_up(&room.hub).await.unwrap();
    last.socket.as_ref().unwrap().flush().unwrap();
    let all: Vec<_> = room.hub.backlog.read().to(last.ordinal, Offset(0)).map(Message::json).collect();
    assert_eq!((all.len(), others.len()), (2, 1_000));
    for message in all {
        let frame = frame::text(&message);
        assert_eq!(told(&mut device, frame.len()).await, frame, "in order, and each once");
    }
}
