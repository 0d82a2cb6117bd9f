//! Request bodies: bounded in size and time, and unpacked when they are gzip, whatever their headers say.

use std::io::Read;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use flate2::read::MultiGzDecoder;
use http_body_util::BodyExt;

use crate::error::{Error, Result};

/// What a body may be, packed or unpacked.
pub(crate) const MOST_BODY_BYTES: usize = 5 * 1024 * 1024;
/// What is read and thrown away of a body that is too large, so that its sender gets to read the refusal.
const MOST_DISCARDED_BYTES: usize = 4 * MOST_BODY_BYTES;
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const TOO_LARGE: Error = Error::BodyTooLarge { limit_bytes: MOST_BODY_BYTES as u64 };

/// The whole body, unpacked.
pub(crate) async fn read(body: Body) -> Result<Bytes> {
    let whole = tokio::time::timeout(PATIENCE, collect(body)).await;
    unpack(whole.map_err(|_| Error::BodyTooSlow)??)
}

async fn collect(mut body: Body) -> Result<Bytes> {
    if body.size_hint().lower() > MOST_BODY_BYTES as u64 {
        return discard(body, 0).await;
    }
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            // Nobody is likely to read this: the connection broke or spoke no HTTP.
            Error::invalid("", format!("The request body could not be read: {error}."))
        })?;
        let Some(data) = frame.data_ref() else { continue };
        if whole.len() + data.len() > MOST_BODY_BYTES {
            return discard(body, whole.len() + data.len()).await;
        }
        whole.extend_from_slice(data);
    }
    Ok(whole.freeze())
}

async fn discard(mut body: Body, already: usize) -> Result<Bytes> {
    let mut n_bytes = already;
    while n_bytes < MOST_DISCARDED_BYTES {
        let Some(Ok(frame)) = body.frame().await else { break };
        n_bytes += frame.data_ref().map_or(0, Bytes::len);
    }
    Err(TOO_LARGE)
}

/// Some clients say gzip for plain bodies, so only the bytes are asked.
fn unpack(body: Bytes) -> Result<Bytes> {
    if !body.starts_with(&GZIP_MAGIC) {
        return Ok(body);
    }
    let mut unpacked = Vec::new();
    // One byte more than allowed shows that there is more, however much more it would be.
    let mut bounded = MultiGzDecoder::new(&body[..]).take(MOST_BODY_BYTES as u64 + 1);
    bounded
        .read_to_end(&mut unpacked)
        .map_err(|error| Error::invalid("", format!("The body begins like gzip but cannot be unpacked: {error}.")))?;
    if unpacked.len() > MOST_BODY_BYTES { Err(TOO_LARGE) } else { Ok(unpacked.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(bytes: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    #[test]
    fn gzip_is_recognized_by_its_bytes() {
        assert_eq!(unpack(Bytes::from_static(b"{}")).unwrap(), "{}");
        assert_eq!(unpack(packed(b"{}")).unwrap(), "{}");
        let two_members = [packed(b"{\"a\""), packed(b":1}")].concat();
        assert_eq!(unpack(two_members.into()).unwrap(), "{\"a\":1}");
        assert!(matches!(unpack(Bytes::from_static(b"\x1f\x8bnonsense")), Err(Error::Invalid(_))));
        let cut_off = packed(b"{}").slice(..12);
        assert!(matches!(unpack(cut_off), Err(Error::Invalid(_))));
    }

    #[test]
    fn a_bomb_does_not_go_off() {
        let largest = vec![b' '; MOST_BODY_BYTES];
        assert_eq!(unpack(packed(&largest)).unwrap().len(), MOST_BODY_BYTES);
        let bomb = packed(&vec![0; MOST_BODY_BYTES + 1]);
        assert!(bomb.len() < 10_000);
        assert!(matches!(unpack(bomb), Err(Error::BodyTooLarge { .. })));
    }
}
