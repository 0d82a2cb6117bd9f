//! Frames of WebSockets (RFC 6455), as a server reads and writes them: pure, without a socket. A fuzz target reads this file by
//! itself.
//!
//! A client may send texts of [`MOST_BYTES`] in one frame each, and control frames. Everything else is refused with the close code
//! that the standard has for it.

use bytes::{Buf, BytesMut};

/// The largest text that a client may send.
pub const MOST_BYTES: usize = 4096;
/// The largest payload of a control frame.
const MOST_CONTROL_BYTES: usize = 125;
/// Two bytes, the longest form of a length, and the mask.
const MOST_HEAD_BYTES: usize = 2 + 8 + 4;

const FIN: u8 = 0x80;
const RESERVED: u8 = 0x70;
const MASKED: u8 = 0x80;
/// The lengths that say that two or eight bytes with the length follow.
const LENGTH_OF_TWO: u8 = 126;
const LENGTH_OF_EIGHT: u8 = 127;

const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xA;

/// A frame that a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    Text(String),
    Ping(Vec<u8>),
    Pong,
    /// With its code, if it has one.
    Close(Option<u16>),
}

/// Why a client is disconnected: the code of the close frame that it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(pub u16);

impl Fault {
    pub const PROTOCOL: Self = Self(1002);
    /// Binary data, or a text in several frames.
    pub const UNSUPPORTED: Self = Self(1003);
    pub const NOT_TEXT: Self = Self(1007);
    pub const TOO_LARGE: Self = Self(1009);
}

/// The beginning of a frame.
struct Head {
    opcode: u8,
    n_bytes: usize,
    mask: [u8; 4],
    /// How long the head itself is.
    n_head: usize,
}

impl Frame {
    /// Takes the next frame out of the bytes that have arrived; `None` while it is incomplete. Too large frames are refused by
    /// their head, so that a buffer never has to hold more than one frame of the largest size.
    pub fn read(buffer: &mut BytesMut) -> Result<Option<Self>, Fault> {
        let Some(head) = Head::read(buffer)? else { return Ok(None) };
        if buffer.len() < head.n_head + head.n_bytes {
            return Ok(None);
        }
        buffer.advance(head.n_head);
        let mut payload = buffer.split_to(head.n_bytes);
        for (byte, mask) in payload.iter_mut().zip(head.mask.iter().cycle()) {
            *byte ^= mask;
        }
        match head.opcode {
            TEXT => match String::from_utf8(payload.to_vec()) {
                Ok(text) => Ok(Some(Frame::Text(text))),
                Err(_) => Err(Fault::NOT_TEXT),
            },
            PING => Ok(Some(Frame::Ping(payload.to_vec()))),
            PONG => Ok(Some(Frame::Pong)),
            CLOSE => close_code(&payload).map(|code| Some(Frame::Close(code))),
            _ => Err(Fault::PROTOCOL),
        }
    }
}

impl Head {
    fn read(bytes: &[u8]) -> Result<Option<Self>, Fault> {
        let &[first, second, ref rest @ ..] = bytes else { return Ok(None) };
        let (opcode, is_last) = (first & 0x0F, first & FIN != 0);
        if first & RESERVED != 0 || second & MASKED == 0 {
            return Err(Fault::PROTOCOL);
        }
        let most = match opcode {
            TEXT if is_last => MOST_BYTES,
            // A continuation is one of a text that was refused, or of none at all.
            TEXT | BINARY => return Err(Fault::UNSUPPORTED),
            CLOSE | PING | PONG if is_last => MOST_CONTROL_BYTES,
            CONTINUATION | CLOSE | PING | PONG => return Err(Fault::PROTOCOL),
            _ => return Err(Fault::PROTOCOL),
        };
        let short = second & !MASKED;
        if opcode >= CLOSE && usize::from(short) > most {
            return Err(Fault::PROTOCOL);
        }
        let (n_bytes, rest, n_length) = match short {
            LENGTH_OF_TWO => {
                let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
                let length = u64::from(u16::from_be_bytes(*length));
                (if length < u64::from(LENGTH_OF_TWO) { Err(Fault::PROTOCOL) } else { Ok(length) }?, rest, 2)
            }
            LENGTH_OF_EIGHT => {
                let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
                let length = u64::from_be_bytes(*length);
                // A length that fits into two bytes is written in them, and the highest bit is never set.
                let is_wrong = length <= u64::from(u16::MAX) || length > u64::MAX >> 1;
                (if is_wrong { Err(Fault::PROTOCOL) } else { Ok(length) }?, rest, 8)
            }
            short => (u64::from(short), rest, 0),
        };
        let n_bytes = usize::try_from(n_bytes).unwrap_or(usize::MAX);
        if n_bytes > most {
            return Err(Fault::TOO_LARGE);
        }
        let Some((mask, _)) = rest.split_first_chunk() else { return Ok(None) };
        Ok(Some(Self { opcode, n_bytes, mask: *mask, n_head: 2 + n_length + mask.len() }))
    }
}

fn close_code(payload: &[u8]) -> Result<Option<u16>, Fault> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return if payload.is_empty() { Ok(None) } else { Err(Fault::PROTOCOL) };
    };
    let code = u16::from_be_bytes(*code);
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(Fault::PROTOCOL);
    }
    std::str::from_utf8(reason).map_err(|_| Fault::NOT_TEXT)?;
    Ok(Some(code))
}

/// Whether a client that was told the end has closed as well, by the bytes that have arrived since. Other frames are passed over.
pub fn is_over(buffer: &mut BytesMut) -> bool {
    loop {
        match Frame::read(buffer) {
            Ok(Some(Frame::Close(_))) | Err(_) => return true,
            Ok(Some(Frame::Text(_) | Frame::Ping(_) | Frame::Pong)) => {}
            Ok(None) => return false,
        }
    }
}

/// A text as a server sends it: in one frame, without a mask.
pub fn text(text: &str) -> Vec<u8> {
    written(TEXT, text.as_bytes())
}

pub fn ping() -> Vec<u8> {
    written(PING, &[])
}

/// The answer to a ping, which never has more than the payload of a control frame.
pub fn pong(payload: &[u8]) -> Vec<u8> {
    written(PONG, &payload[..payload.len().min(MOST_CONTROL_BYTES)])
}

pub fn close(code: u16, reason: &str) -> Vec<u8> {
    let mut payload = code.to_be_bytes().to_vec();
    let room = MOST_CONTROL_BYTES - payload.len();
    let end = (0..=reason.len().min(room)).rev().find(|end| reason.is_char_boundary(*end)).unwrap_or(0);
    payload.extend_from_slice(&reason.as_bytes()[..end]);
    written(CLOSE, &payload)
}

fn written(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(MOST_HEAD_BYTES + payload.len());
    frame.push(FIN | opcode);
    if let Ok(length) = u8::try_from(payload.len())
        && length < LENGTH_OF_TWO
    {
        frame.push(length);
    } else if let Ok(length) = u16::try_from(payload.len()) {
        frame.push(LENGTH_OF_TWO);
        frame.extend(length.to_be_bytes());
    } else {
        frame.push(LENGTH_OF_EIGHT);
        frame.extend((payload.len() as u64).to_be_bytes());
    }
    frame.extend_from_slice(payload);
    frame
}
