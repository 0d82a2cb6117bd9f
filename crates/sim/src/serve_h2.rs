//! One HTTP/2 connection: requests in, verdicts out, in batches so that many answers share one write.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use h2::server::{self, SendResponse};
use h2::{Reason, RecvStream};
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep};

use crate::answer::{Action, PlannedReply};
use crate::apns;
use crate::call::{Call, ShownCredentials};
use crate::frames::{Edits, Frames};
use crate::serve::Client;
use crate::shared::Shared;

const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;
const MOST_BODY_BYTES: usize = 16 * 1024 * 1024;
/// How long a client has to close a connection that has gone away.
const PATIENCE: Duration = Duration::from_secs(1);

pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(stream: S, shared: Arc<Shared>, client: Client) {
    let streams = if shared.careful_start { 1 } else { shared.streams };
    let edits = Edits::new(streams);
    let mut builder = server::Builder::new();
    builder.initial_window_size(STREAM_WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
    // Clients that break the protocol are none of the simulator's business.
    let Ok(h2) = builder.handshake(Frames::new(stream, edits.clone())).await else { return };
    let mut connection = Connection {
        h2,
        edits,
        shown: ShownCredentials { has_certificate: client.has_certificate, ..ShownCredentials::default() },
        is_trusted: !shared.careful_start,
        has_to_raise: false,
        shared,
        client,
        arriving: Vec::new(),
        late: BinaryHeap::new(),
        alarm: Box::pin(tokio::time::sleep(Duration::ZERO)),
        n_requests: 0,
        last_stream: 0,
        leaving: Leaving::No,
        ignored: Vec::new(),
    };
    std::future::poll_fn(|cx| connection.poll(cx)).await;
}

struct Connection<S> {
    h2: server::Connection<Frames<S>, Bytes>,
    edits: Arc<Edits>,
    shared: Arc<Shared>,
    shown: ShownCredentials,
    client: Client,
    /// Whether more than one stream is allowed.
    is_trusted: bool,
    /// Whether the client still has to be told that more streams are allowed.
    has_to_raise: bool,
    /// Requests whose body is incomplete.
    arriving: Vec<Arriving>,
    /// Answers that are not due yet, the next one on top.
    late: BinaryHeap<Reverse<Late>>,
    /// Rings when the next of them is due.
    alarm: Pin<Box<Sleep>>,
    n_requests: u32,
    /// The last stream that was looked at.
    last_stream: u32,
    leaving: Leaving,
    /// Requests that are not answered. They are kept, since the library would reset them otherwise.
    ignored: Vec<SendResponse<Bytes>>,
}

enum Leaving {
    No,
    /// New requests are still served, and the library knows when to close.
    Gracefully,
    /// Requests after the last stream are ignored.
    Abruptly {
        patience: Pin<Box<Sleep>>,
    },
    /// The connection closes at once.
    Cut,
}

struct Arriving {
    stream: u32,
    request: Request<RecvStream>,
    body: Body,
    respond: SendResponse<Bytes>,
}

/// Most bodies come in one piece.
enum Body {
    Empty,
    Whole(Bytes),
    Pieces(BytesMut),
}

struct Late {
    due: Instant,
    stream: u32,
    respond: SendResponse<Bytes>,
    action: Action,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Ready when the connection is over.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            // Accepting also writes, so all requests are accepted before any is answered.
            while let Poll::Ready(next) = self.h2.poll_accept(cx) {
                let Some(Ok((request, respond))) = next else { return Poll::Ready(()) };
                let stream = respond.stream_id().as_u32();
                self.arriving.push(Arriving { stream, request, body: Body::Empty, respond });
            }
            let mut has_answered = self.serve_arrived(cx);
            has_answered |= self.send_late(cx);
            if self.has_to_raise {
                self.has_to_raise = self.h2.set_initial_window_size(STREAM_WINDOW).is_err();
                has_answered |= !self.has_to_raise;
            }
            match &mut self.leaving {
                Leaving::No | Leaving::Gracefully => {}
                Leaving::Abruptly { patience } => {
                    if self.late.is_empty() && self.arriving.is_empty() && patience.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(());
                    }
                }
                Leaving::Cut => {
                    // Earlier answers still get out.
                    drop(self.h2.poll_accept(cx));
                    return Poll::Ready(());
                }
            }
            if !has_answered {
                return Poll::Pending;
            }
        }
    }

    /// Judges the complete requests. Returns whether there is anything to write.
    fn serve_arrived(&mut self, cx: &mut Context<'_>) -> bool {
        let was_trusted = self.is_trusted;
        let mut has_answered = false;
        let arriving = std::mem::take(&mut self.arriving);
        let mut n_served = 0;
        for mut arrived in arriving {
            if matches!(self.leaving, Leaving::Cut) {
                break;
            }
            match arrived.poll_body(cx) {
                Poll::Pending => self.arriving.push(arrived),
                Poll::Ready(Err(())) => {}
                Poll::Ready(Ok(())) => {
                    // Requests come in the order of their streams, so these came before.
                    let n_before = self.arriving.len() + self.late.len() + n_served;
                    let is_over_limit = !was_trusted && n_before > 0;
                    self.serve_one(arrived, is_over_limit);
                    n_served += 1;
                    has_answered = true;
                }
            }
        }
        has_answered
    }

    fn serve_one(&mut self, arrived: Arriving, is_over_limit: bool) {
        let Arriving { stream, request, body, mut respond } = arrived;
        let (head, _) = request.into_parts();
        let path = head.uri.path();
        if matches!(self.leaving, Leaving::Abruptly { .. }) && stream > self.last_stream {
            self.shared.book().ignored += 1;
            self.ignored.push(respond);
            return;
        }
        if is_over_limit && path.starts_with(apns::PREFIX) {
            self.shared.book().over_limit += 1;
            respond.send_reset(Reason::REFUSED_STREAM);
            return;
        }
        let goaway_every = self.shared.faults().goaway_every;
        if goaway_every > 0 && self.n_requests >= goaway_every && matches!(self.leaving, Leaving::No) {
            self.leave();
            if matches!(self.leaving, Leaving::Abruptly { .. }) && stream > self.last_stream {
                self.shared.book().ignored += 1;
                self.ignored.push(respond);
                return;
            }
        }
        self.n_requests += 1;
        self.last_stream = self.last_stream.max(stream);
        let call = Call {
            method: &head.method,
            path,
            query: head.uri.query().unwrap_or_default(),
            headers: &head.headers,
            body: body.as_slice(),
            scheme: self.client.scheme,
            authority: head.uri.authority().map_or("", |authority| authority.as_str()),
            is_h2: true,
        };
        let PlannedReply { action, delay, is_trusted } = self.shared.judge(&mut self.shown, &call);
        if is_trusted && !self.is_trusted {
            self.is_trusted = true;
            self.has_to_raise = true;
            self.edits.allow(self.shared.streams);
        }
        if matches!(action, Action::Silence) {
            self.ignored.push(respond);
        } else if delay.is_zero() {
            self.act(stream, &mut respond, action);
        } else {
            self.late.push(Reverse(Late { due: Instant::now() + delay, stream, respond, action }));
        }
    }

    fn leave(&mut self) {
        self.shared.book().goaways += 1;
        if self.shared.faults().is_graceful(self.client.serial) {
            self.h2.graceful_shutdown();
            self.leaving = Leaving::Gracefully;
        } else {
            self.edits.go_away(self.last_stream);
            self.leaving = Leaving::Abruptly { patience: Box::pin(tokio::time::sleep(PATIENCE)) };
        }
    }

    /// Sends the answers that are due, and sets the alarm for the next.
    fn send_late(&mut self, cx: &mut Context<'_>) -> bool {
        let mut has_answered = false;
        while let Some(Reverse(next)) = self.late.peek() {
            let due = next.due;
            if due > Instant::now() {
                if self.alarm.deadline() != due {
                    self.alarm.as_mut().reset(due);
                }
                if self.alarm.as_mut().poll(cx).is_pending() {
                    break;
                }
            }
            let Some(Reverse(Late { stream, mut respond, action, .. })) = self.late.pop() else { break };
            self.act(stream, &mut respond, action);
            has_answered = true;
        }
        has_answered
    }

    fn act(&mut self, stream: u32, respond: &mut SendResponse<Bytes>, action: Action) {
        match action {
            Action::Answer(response) => answer(respond, response),
            Action::Reset { is_clean } => {
                // Some servers say that a request can be repeated, others leave it open.
                let says_so = is_clean && stream & 2 == 0;
                respond.send_reset(if says_so { Reason::REFUSED_STREAM } else { Reason::INTERNAL_ERROR });
            }
            // Requests without an answer were set aside when they came.
            Action::Silence => {}
            Action::Cut => self.leaving = Leaving::Cut,
        }
    }
}

/// A client that is gone needs no answer.
fn answer(respond: &mut SendResponse<Bytes>, response: Response<Bytes>) {
    let (head, body) = response.into_parts();
    let response = Response::from_parts(head, ());
    if let Ok(mut stream) = respond.send_response(response, body.is_empty())
        && !body.is_empty()
    {
        drop(stream.send_data(body, true));
    }
}

impl Arriving {
    /// Ready when the body is complete, or never will be.
    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ()>> {
        while !self.request.body().is_end_stream() {
            let Some(chunk) = ready!(self.request.body_mut().poll_data(cx)) else { break };
            let Ok(chunk) = chunk else { return Poll::Ready(Err(())) };
            let n_bytes = chunk.len();
            self.body.push(chunk);
            if self.body.as_slice().len() > MOST_BODY_BYTES {
                return Poll::Ready(Err(()));
            }
            if !self.request.body().is_end_stream() {
                drop(self.request.body_mut().flow_control().release_capacity(n_bytes));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl Body {
    fn push(&mut self, chunk: Bytes) {
        match self {
            Body::Empty => *self = Body::Whole(chunk),
            Body::Whole(whole) => {
                let mut pieces = BytesMut::from(whole.as_ref());
                pieces.extend_from_slice(&chunk);
                *self = Body::Pieces(pieces);
            }
            Body::Pieces(pieces) => pieces.extend_from_slice(&chunk),
        }
    }

    fn as_slice(&self) -> &[u8] {
        match self {
            Body::Empty => &[],
            Body::Whole(whole) => whole,
            Body::Pieces(pieces) => pieces,
        }
    }
}

impl Ord for Late {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.stream).cmp(&(other.due, other.stream))
    }
}
impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Eq for Late {}
impl PartialEq for Late {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
