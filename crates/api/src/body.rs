//! Request bodies: bounded in size and time, each and together, and unpacked when they are gzip, regardless of their headers,
//! or when their headers say deflate.

mod pace;
mod room;

pub use pace::BodyPatience;
pub(crate) use pace::Pace;
pub(crate) use room::{Reservation, Room};

use std::io::Read;
use std::ops::Deref;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::error::{Error, Result};

/// The largest body, packed or unpacked, where no lower limit applies.
pub(crate) const MOST_BODY_BYTES: usize = 5 * 1024 * 1024;
/// How much is read and discarded of a body that is too large, so that its sender gets to read the refusal.
const MOST_DISCARDED_BYTES: usize = 4 * MOST_BODY_BYTES;

/// How much is unpacked at a time.
const PIECE_BYTES: u64 = 64 * 1024;
pub(crate) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A whole body, unpacked, and the room it takes up.
pub(crate) struct Whole {
    bytes: Bytes,
    _reservation: Reservation,
}

impl Whole {
    /// `deflated` comes from the headers: the bytes do not show it.
    pub(crate) async fn read(
        body: Body,
        deflated: bool,
        mut reservation: Reservation,
        patience: BodyPatience,
    ) -> Result<Self> {
        let whole = collect(body, &mut reservation, Pace::of_whole(patience)).await?;
        let bytes =
            if deflated { inflate(whole, &mut reservation).await? } else { unpack(whole, &mut reservation).await? };
        Ok(Self { bytes, _reservation: reservation })
    }
}

impl Deref for Whole {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

async fn collect(mut body: Body, reservation: &mut Reservation, mut pace: Pace) -> Result<Bytes> {
    if body.size_hint().lower() > reservation.most_bytes() as u64 {
        return discard(body, 0, pace, too_large(reservation)).await;
    }
    let mut whole = BytesMut::new();
    while let Some(frame) = pace.frame(&mut body).await? {
        let Some(data) = frame.data_ref() else { continue };
        let n_bytes = whole.len() + data.len();
        if n_bytes > reservation.most_bytes() {
            return discard(body, n_bytes, pace, too_large(reservation)).await;
        }
        if let Err(refusal) = reservation.grow_to(n_bytes).await {
            drop(whole);
            return discard(body, n_bytes, pace, refusal).await;
        }
        whole.extend_from_slice(data);
    }
    Ok(whole.freeze())
}

fn too_large(reservation: &Reservation) -> Error {
    Error::BodyTooLarge { limit_bytes: reservation.most_bytes() as u64 }
}

/// Reads and discards the rest of the body, for a while, and fails.
async fn discard(mut body: Body, already: usize, mut pace: Pace, refusal: Error) -> Result<Bytes> {
    let mut n_bytes = already;
    while n_bytes < MOST_DISCARDED_BYTES {
        let Ok(Some(frame)) = pace.frame(&mut body).await else { break };
        n_bytes += frame.data_ref().map_or(0, Bytes::len);
    }
    Err(refusal)
}

/// Some clients say gzip for plain bodies, so only the bytes decide.
async fn unpack(body: Bytes, reservation: &mut Reservation) -> Result<Bytes> {
    if !body.starts_with(&GZIP_MAGIC) {
        return Ok(body);
    }
    read_to_end(MultiGzDecoder::new(&body[..]), body.len(), reservation).await
}

/// By the standard deflate comes in the wrapping of zlib, but some devices send it bare, and some send other bodies as deflate.
async fn inflate(body: Bytes, reservation: &mut Reservation) -> Result<Bytes> {
    if body.starts_with(&GZIP_MAGIC) {
        return unpack(body, reservation).await;
    }
    let is_wrapped = matches!(&body[..], [first, second, ..]
        if first & 0x0f == 8 && u16::from_be_bytes([*first, *second]) % 31 == 0);
    let unpacked = match is_wrapped {
        true => read_to_end(ZlibDecoder::new(&body[..]), body.len(), reservation).await,
        false => read_to_end(DeflateDecoder::new(&body[..]), body.len(), reservation).await,
    };
    match unpacked {
        Err(Error::Invalid(_)) if body.starts_with(b"[") || body.starts_with(b"{") => Ok(body),
        unpacked => unpacked,
    }
}

async fn read_to_end(mut unpacker: impl Read, n_packed: usize, reservation: &mut Reservation) -> Result<Bytes> {
    let mut unpacked = Vec::new();
    loop {
        let n_before = unpacked.len();
        (&mut unpacker)
            .take(PIECE_BYTES)
            .read_to_end(&mut unpacked)
            .map_err(|error| Error::invalid("", format!("The body cannot be unpacked: {error}.")))?;
        if unpacked.len() == n_before {
            return Ok(unpacked.into());
        }
        if unpacked.len() > reservation.most_bytes() {
            return Err(too_large(reservation));
        }
        reservation.grow_to(n_packed + unpacked.len()).await?;
        // Other tasks get their turn: unpacking takes longer than anything else here.
        tokio::task::yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::holder::Holder;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write;
    use std::time::Duration;

    fn reservation() -> Reservation {
        Room::new(4 * MOST_BODY_BYTES, MOST_BODY_BYTES, Duration::from_secs(60)).reserve(Holder::Public)
    }

    async fn read(body: Body, room: &Room) -> Result<Whole> {
        Whole::read(body, false, room.reserve(Holder::Public), BodyPatience::DEFAULT).await
    }

    fn packed(bytes: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    async fn unpack(body: Bytes) -> Result<Bytes> {
        super::unpack(body, &mut reservation()).await
    }

    #[tokio::test]
    async fn gzip_is_recognized_by_its_bytes() {
        assert_eq!(unpack(Bytes::from_static(b"{}")).await.unwrap(), "{}");
        assert_eq!(unpack(packed(b"{}")).await.unwrap(), "{}");
        let two_members = [packed(b"{\"a\""), packed(b":1}")].concat();
        assert_eq!(unpack(two_members.into()).await.unwrap(), "{\"a\":1}");
        assert!(matches!(unpack(Bytes::from_static(b"\x1f\x8bnonsense")).await, Err(Error::Invalid(_))));
        let cut_off = packed(b"{}").slice(..12);
        assert!(matches!(unpack(cut_off).await, Err(Error::Invalid(_))));
    }

    #[tokio::test]
    async fn deflate_is_taken_with_and_without_its_wrapping() {
        let text = br#"[{"type":"app_foreground"}]"#.repeat(20);
        let mut wrapped = ZlibEncoder::new(Vec::new(), Compression::default());
        wrapped.write_all(&text).unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(&text).unwrap();
        let mut reservation = reservation();
        for body in [wrapped.finish().unwrap(), bare.finish().unwrap(), text.clone(), packed(&text).to_vec()] {
            assert_eq!(inflate(body.into(), &mut reservation).await.unwrap(), text);
        }
        assert!(matches!(inflate(Bytes::from_static(b"nonsense"), &mut reservation).await, Err(Error::Invalid(_))));
        let mut bomb = DeflateEncoder::new(Vec::new(), Compression::best());
        bomb.write_all(&vec![0; MOST_BODY_BYTES + 1]).unwrap();
        let bomb = inflate(bomb.finish().unwrap().into(), &mut reservation).await;
        assert!(matches!(bomb, Err(Error::BodyTooLarge { .. })));
    }

    #[tokio::test]
    async fn a_bomb_does_not_go_off() {
        let largest = vec![b' '; MOST_BODY_BYTES];
        assert_eq!(unpack(packed(&largest)).await.unwrap().len(), MOST_BODY_BYTES);
        let bomb = packed(&vec![0; MOST_BODY_BYTES + 1]);
        assert!(bomb.len() < 10_000);
        assert!(matches!(unpack(bomb).await, Err(Error::BodyTooLarge { .. })));
    }

    #[tokio::test]
    async fn what_comes_out_of_gzip_needs_room_too() {
        let packed = packed(&vec![b' '; 1024 * 1024]);
        let room = Room::new(1024 * 1024, MOST_BODY_BYTES, Duration::from_millis(1));
        assert!(matches!(read(Body::from(packed), &room).await, Err(Error::Busy)));
        let plain = Body::from(vec![b' '; 1024 * 1024]);
        assert!(matches!(read(plain, &room).await, Err(Error::Busy)));
        let half = read(Body::from(vec![b' '; 512 * 1024]), &room).await.unwrap();
        assert_eq!(half.len(), 512 * 1024);
    }
}
