//! The packets of Google's push connection, as a server reads and writes them: pure, without a socket. After a byte with the
//! version on either side, a packet is its kind, its length and a message of Protocol Buffers.

use bytes::{Buf, Bytes, BytesMut};

use super::protobuf::{Fields, Malformed, Message, Value, put_varint, varint};
use super::subscriptions::Notice;

/// The first byte in both directions.
pub(crate) const VERSION: u8 = 41;
/// The largest packet that a browser may send.
const MOST_BYTES: usize = 64 * 1024;

const PING: u8 = 0;
const PING_ACK: u8 = 1;
const LOGIN: u8 = 2;
const LOGIN_ANSWER: u8 = 3;
const CLOSE: u8 = 4;
const DATA: u8 = 8;

/// What a browser says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packet {
    Login(Login),
    Ping,
    Close,
    /// Acknowledgements and whatever else changes nothing here.
    Other,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Login {
    /// The number that the checkin gave to the browser, as a text.
    pub(super) browser: String,
    /// The messages that it got over earlier connections.
    pub(super) received: Vec<String>,
}

impl Packet {
    /// Takes the next packet out of the bytes that have arrived; `None` while it is incomplete.
    pub(super) fn read(buffer: &mut BytesMut) -> Result<Option<Self>, Malformed> {
        let Some((kind, rest)) = buffer.split_first() else { return Ok(None) };
        let Some((n_bytes, n_length)) = varint(rest)? else { return Ok(None) };
        let n_bytes = usize::try_from(n_bytes).ok().filter(|n_bytes| *n_bytes <= MOST_BYTES).ok_or(Malformed)?;
        let (kind, n_head) = (*kind, 1 + n_length);
        if buffer.len() < n_head + n_bytes {
            return Ok(None);
        }
        buffer.advance(n_head);
        let message = buffer.split_to(n_bytes);
        Ok(Some(match kind {
            LOGIN => Self::Login(Login::read(&message)?),
            PING => Self::Ping,
            CLOSE => Self::Close,
            _ => Self::Other,
        }))
    }
}

impl Login {
    fn read(message: &[u8]) -> Result<Self, Malformed> {
        const USER: u64 = 3;
        const RECEIVED: u64 = 10;
        let mut login = Self::default();
        for field in Fields::of(message) {
            match field? {
                (USER, value) => value.text()?.clone_into(&mut login.browser),
                (RECEIVED, value) => login.received.push(value.text()?.to_owned()),
                (_, _) => {}
            }
        }
        Ok(login)
    }
}

/// The answer to a login: the version, and that all is well.
pub(super) fn login_answer(millis: u64) -> Vec<u8> {
    const ID: u64 = 1;
    const JID: u64 = 2;
    const TIME: u64 = 8;
    let message = Message::default().text(ID, "sim-1").text(JID, "u@sim").varint(TIME, millis);
    [vec![VERSION], packet(LOGIN_ANSWER, message)].concat()
}

pub(super) fn ping_ack() -> Vec<u8> {
    packet(PING_ACK, Message::default())
}

/// A message to one subscription of the browser.
pub(super) fn data(notice: &Notice) -> Vec<u8> {
    const FROM: u64 = 3;
    const CATEGORY: u64 = 5;
    const APP_DATA: u64 = 7;
    const PERSISTENT_ID: u64 = 9;
    const TTL: u64 = 17;
    const SENT: u64 = 18;
    const RAW_DATA: u64 = 21;
    let pair = |key: &str, value: &str| Message::default().text(1, key).text(2, value);
    let message = Message::default()
        .text(FROM, &notice.subscription.sender)
        .text(CATEGORY, &notice.subscription.app)
        .message(APP_DATA, &pair("subtype", &notice.subscription.name))
        .message(APP_DATA, &pair("content-encoding", "aes128gcm"))
        .text(PERSISTENT_ID, &notice.id)
        .varint(TTL, notice.ttl.into())
        .varint(SENT, notice.sent)
        .bytes(RAW_DATA, &notice.body);
    packet(DATA, message)
}

/// The number that an earlier checkin gave to the browser, if any.
pub(super) fn checked_in_as(request: &[u8]) -> Option<u64> {
    const ID: u64 = 2;
    let mut fields = Fields::of(request).map_while(Result::ok);
    fields.find_map(|field| match field {
        (ID, Value::Varint(id)) if id != 0 => Some(id),
        _ => None,
    })
}

pub(super) fn checkin_answer(browser: u64, secret: u64, millis: u64) -> Bytes {
    const STATS_OK: u64 = 1;
    const TIME: u64 = 3;
    const ANDROID_ID: u64 = 7;
    const SECURITY_TOKEN: u64 = 8;
    const VERSION_INFO: u64 = 11;
    let message = Message::default()
        .varint(STATS_OK, 1)
        .varint(TIME, millis)
        .fixed64(ANDROID_ID, browser)
        .fixed64(SECURITY_TOKEN, secret)
        .text(VERSION_INFO, "sim");
    message.into_bytes().into()
}

fn packet(kind: u8, message: Message) -> Vec<u8> {
    let message = message.into_bytes();
    let mut packet = vec![kind];
    put_varint(&mut packet, message.len() as u64);
    packet.extend(message);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browsers::subscriptions::Subscription;

    fn login() -> Vec<u8> {
        let message = Message::default().text(1, "chrome-63").text(3, "4711").text(10, "a").text(10, "b").varint(14, 1);
        packet(LOGIN, message)
    }

    #[test]
    fn packets_are_read_in_pieces() {
        let bytes = [
            login(),
            packet(PING, Message::default()),
            packet(7, Message::default()),
            packet(CLOSE, Message::default()),
        ];
        let bytes = bytes.concat();
        for size in [1, 2, 7, bytes.len()] {
            let (mut buffer, mut packets) = (BytesMut::new(), Vec::new());
            for piece in bytes.chunks(size) {
                buffer.extend_from_slice(piece);
                while let Some(packet) = Packet::read(&mut buffer).unwrap() {
                    packets.push(packet);
                }
            }
            let login = Login { browser: "4711".to_owned(), received: vec!["a".to_owned(), "b".to_owned()] };
            assert_eq!(packets, [Packet::Login(login), Packet::Ping, Packet::Other, Packet::Close], "{size}");
        }
    }

    #[test]
    fn packets_without_end_are_refused() {
        let mut huge = vec![LOGIN];
        put_varint(&mut huge, 1 << 20);
        assert_eq!(Packet::read(&mut BytesMut::from(&*huge)), Err(Malformed));
        assert_eq!(Packet::read(&mut BytesMut::from(&[DATA, 0xff, 0xff][..])), Ok(None));
        assert_eq!(Packet::read(&mut BytesMut::from(&[LOGIN, 2, 0x1a, 9][..])), Err(Malformed));
    }

    #[test]
    fn a_message_says_for_which_subscription_it_is() {
        let subscription = Subscription {
            browser: "4711".to_owned(),
            name: "wp:https://shop.example/#1".to_owned(),
            app: "com.chrome.linux".to_owned(),
            sender: "BKey".to_owned(),
            is_ended: false,
        };
        let notice =
            Notice { id: "m1".to_owned(), subscription, ttl: 60, sent: 5, body: Bytes::from_static(b"secret") };
        let bytes = data(&notice);
        assert_eq!(bytes[0], DATA);
        let (_, n_length) = varint(&bytes[1..]).unwrap().unwrap();
        let fields: Vec<(u64, Value<'_>)> = Fields::of(&bytes[1 + n_length..]).map(Result::unwrap).collect();
        assert!(fields.contains(&(3, Value::Bytes(b"BKey"))), "{fields:?}");
        assert!(fields.contains(&(21, Value::Bytes(b"secret"))), "{fields:?}");
        assert_eq!(fields.iter().filter(|(field, _)| *field == 7).count(), 2);
        assert_eq!(checked_in_as(&Message::default().varint(2, 7).into_bytes()), Some(7));
        assert_eq!(checked_in_as(&[0x12]), None);
    }
}
