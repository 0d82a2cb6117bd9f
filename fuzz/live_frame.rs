//! Any bytes on a WebSocket are frames, an incomplete frame or a fault, the same in whole and in pieces; a buffer never waits for
//! more than the largest frame. Any text in one is what a device may say or is not, and a position that it names is a number.
#![no_main]

#[path = "../crates/websocket/src/frame.rs"]
#[allow(dead_code, reason = "the end of a connection asks more than this")]
mod frame;

use bytes::BytesMut;
use frame::{Fault, Frame, MOST_BYTES};
use model::live::{LiveSaid, live_position};

fn all(bytes: &[u8], size: usize) -> (Vec<Frame>, Option<Fault>) {
    let (mut buffer, mut frames) = (BytesMut::new(), Vec::new());
    for piece in bytes.chunks(size) {
        buffer.extend_from_slice(piece);
        loop {
            match Frame::read(&mut buffer) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(fault) => return (frames, Some(fault)),
            }
        }
        assert!(buffer.len() < MOST_BYTES + 14, "an incomplete frame is no larger than the largest frame");
    }
    (frames, None)
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((size, bytes)) = bytes.split_first() else { return };
    let (frames, fault) = all(bytes, usize::from(*size).max(1));
    assert_eq!((&frames, fault), (&all(bytes, bytes.len().max(1)).0, all(bytes, bytes.len().max(1)).1));
    for frame in frames {
        match frame {
            Frame::Text(text) => {
                assert!(frame::text(&text).len() >= text.len() + 2);
                if let Some(at) = LiveSaid::read(&text).and_then(|said| said.ack) {
                    assert_eq!(live_position(&at.0.to_string()), Some(at), "no position is negative");
                }
            }
            Frame::Ping(payload) => assert_eq!(&frame::pong(&payload)[2..], payload),
            Frame::Close(Some(code)) => assert_eq!(frame::close(code, "")[2..], code.to_be_bytes()),
            Frame::Close(None) | Frame::Pong => assert_eq!(frame::ping().len(), 2),
        }
    }
});
