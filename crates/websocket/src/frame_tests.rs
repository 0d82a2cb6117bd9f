//! Tests of the codec: the rules of RFC 6455 one by one, and properties of all frames.

use bytes::BytesMut;
use proptest::prelude::*;

use crate::frame::{Fault, Frame, MOST_BYTES, close, ping, pong, text};

const MASK: [u8; 4] = [0x37, 0xFA, 0x21, 0x3D];

/// A frame as a client sends it: the first byte, the payload, and how many bytes its length takes (0, 2 or 8).
fn sent(first: u8, payload: &[u8], n_length: usize) -> Vec<u8> {
    let mut bytes = vec![first];
    match n_length {
        0 => bytes.push(0x80 | u8::try_from(payload.len()).unwrap()),
        2 => {
            bytes.push(0x80 | 126);
            bytes.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
        }
        _ => {
            bytes.push(0x80 | 127);
            bytes.extend((payload.len() as u64).to_be_bytes());
        }
    }
    bytes.extend(MASK);
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

fn shortest(first: u8, payload: &[u8]) -> Vec<u8> {
    let n_length = match payload.len() {
        0..=125 => 0,
        126..=65_535 => 2,
        _ => 8,
    };
    sent(first, payload, n_length)
}

fn read(bytes: &[u8]) -> Result<Option<Frame>, Fault> {
    Frame::read(&mut BytesMut::from(bytes))
}

#[test]
fn the_examples_of_the_standard_are_read() {
    let hello = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
    assert_eq!(read(&hello), Ok(Some(Frame::Text("Hello".to_owned()))));
    let pong = [0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
    assert_eq!(read(&pong), Ok(Some(Frame::Pong)));
    assert_eq!(text("Hello"), [&[0x81, 0x05][..], b"Hello"].concat());
}

#[test]
fn lengths_are_read_in_their_shortest_form_only() {
    for n in [0, 1, 125, 126, 127, MOST_BYTES] {
        let payload = "a".repeat(n);
        assert_eq!(read(&shortest(0x81, payload.as_bytes())), Ok(Some(Frame::Text(payload))), "{n}");
    }
    for (n, n_length) in [(0, 2), (125, 2), (125, 8), (126, 8), (65_535, 8)] {
        assert_eq!(read(&sent(0x81, &vec![b'a'; n], n_length)), Err(Fault::PROTOCOL), "{n} in {n_length}");
    }
    let highest_bit = [&[0x81, 0xff][..], &[0xff; 8], &MASK].concat();
    assert_eq!(read(&highest_bit), Err(Fault::PROTOCOL));
}

#[test]
fn what_is_too_large_is_refused_by_its_head() {
    for n in [MOST_BYTES + 1, 65_535, 65_536] {
        let whole = shortest(0x81, &vec![b'a'; n]);
        let n_head = if n > 65_535 { 10 } else { 4 };
        assert_eq!(read(&whole[..n_head]), Err(Fault::TOO_LARGE), "{n}");
    }
}

#[test]
fn frames_that_are_not_for_us_are_refused() {
    let unmasked = [0x81, 0x01, b'a'];
    assert_eq!(read(&unmasked), Err(Fault::PROTOCOL));
    for reserved in [0x40, 0x20, 0x10] {
        assert_eq!(read(&shortest(0x81 | reserved, b"a")), Err(Fault::PROTOCOL), "{reserved}");
    }
    for unknown in [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF] {
        assert_eq!(read(&shortest(0x80 | unknown, b"a")), Err(Fault::PROTOCOL), "{unknown}");
    }
    assert_eq!(read(&shortest(0x82, b"a")), Err(Fault::UNSUPPORTED), "binary");
    assert_eq!(read(&shortest(0x01, b"a")), Err(Fault::UNSUPPORTED), "the first fragment of a text");
    assert_eq!(read(&shortest(0x80, b"a")), Err(Fault::PROTOCOL), "a continuation of nothing");
    for control in [0x08, 0x09, 0x0A] {
        assert_eq!(read(&shortest(control, b"")), Err(Fault::PROTOCOL), "a control frame in fragments");
        assert_eq!(read(&sent(0x80 | control, &[b'a'; 126], 2)), Err(Fault::PROTOCOL), "a long control frame");
    }
}

#[test]
fn texts_are_utf_8() {
    for bad in [&b"\xc3\x28"[..], b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xe2\x82"] {
        assert_eq!(read(&shortest(0x81, bad)), Err(Fault::NOT_TEXT));
    }
    assert_eq!(read(&shortest(0x81, "κόσμε".as_bytes())), Ok(Some(Frame::Text("κόσμε".to_owned()))));
}

#[test]
fn close_frames_have_codes_that_may_be_sent() {
    let with = |code: u16, reason: &[u8]| [&code.to_be_bytes()[..], reason].concat();
    assert_eq!(read(&shortest(0x88, b"")), Ok(Some(Frame::Close(None))));
    assert_eq!(read(&shortest(0x88, b"\x03")), Err(Fault::PROTOCOL));
    for good in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999] {
        assert_eq!(read(&shortest(0x88, &with(good, b"bye"))), Ok(Some(Frame::Close(Some(good)))), "{good}");
    }
    for bad in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
        assert_eq!(read(&shortest(0x88, &with(bad, b""))), Err(Fault::PROTOCOL), "{bad}");
    }
    assert_eq!(read(&shortest(0x88, &with(1000, b"\xff"))), Err(Fault::NOT_TEXT));
}

#[test]
fn control_frames_may_stand_between_texts() {
    let all = [shortest(0x81, b"a"), shortest(0x89, b"p"), shortest(0x8A, b""), shortest(0x81, b"b")].concat();
    let mut buffer = BytesMut::from(&all[..]);
    let mut frames = Vec::new();
    while let Ok(Some(frame)) = Frame::read(&mut buffer) {
        frames.push(frame);
    }
    let text = |text: &str| Frame::Text(text.to_owned());
    assert_eq!(frames, [text("a"), Frame::Ping(b"p".to_vec()), Frame::Pong, text("b")]);
    assert!(buffer.is_empty());
}

#[test]
fn frames_are_written_with_the_shortest_length() {
    let heads = [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)];
    for (n, n_head) in heads {
        let frame = text(&"a".repeat(n));
        assert_eq!((frame.len(), frame[0]), (n_head + n, 0x81), "{n}");
    }
    assert_eq!((ping(), pong(b"p")), (vec![0x89, 0], vec![0x8A, 1, b'p']));
    assert_eq!(close(4401, "no"), [0x88, 4, 0x11, 0x31, b'n', b'o']);
    let long = close(1000, &"ä".repeat(100));
    assert!(long.len() <= 2 + 125 && std::str::from_utf8(&long[4..]).is_ok());
}

proptest! {
    #[test]
    fn a_text_survives_being_sent_in_pieces(texts in prop::collection::vec(".{0,300}", 0..4), cut in 1_usize..64) {
        let all: Vec<u8> = texts.iter().flat_map(|text| shortest(0x81, text.as_bytes())).collect();
        let (mut buffer, mut got) = (BytesMut::new(), Vec::new());
        for piece in all.chunks(cut) {
            buffer.extend_from_slice(piece);
            while let Some(Frame::Text(text)) = Frame::read(&mut buffer).unwrap() {
                got.push(text);
            }
        }
        prop_assert_eq!(got, texts);
        prop_assert!(buffer.is_empty());
    }

    #[test]
    fn any_bytes_are_read_the_same_in_whole_and_in_pieces(bytes in prop::collection::vec(any::<u8>(), 0..400), cut in 1_usize..32) {
        let in_pieces = |size: usize| {
            let (mut buffer, mut got) = (BytesMut::new(), Vec::new());
            for piece in bytes.chunks(size.max(1)) {
                buffer.extend_from_slice(piece);
                loop {
                    match Frame::read(&mut buffer) {
                        Ok(Some(frame)) => got.push(Ok(frame)),
                        Ok(None) => break,
                        Err(fault) => return [got, vec![Err(fault)]].concat(),
                    }
                }
            }
            got
        };
        prop_assert_eq!(in_pieces(bytes.len()), in_pieces(cut));
    }
}
