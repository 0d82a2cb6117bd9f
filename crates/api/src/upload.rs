//! Request bodies too large to hold: read as they come, and unpacked on the way when they are gzip, even if their headers do not
//! say so.

use std::convert::Infallible;
use std::io::Write;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::{Bytes, BytesMut};
use flate2::write::MultiGzDecoder;

use crate::body::{GZIP_MAGIC, Pace};
use crate::edge::Edge;
use crate::error::{Error, Result};

/// Bytes unpacked at a time. Gzip packs at most about a thousandfold, so a bomb fills some megabytes and no more.
const PACKED_PIECE: usize = 4 * 1024;
/// No file that is of use is longer, unpacked.
const MOST_BYTES: u64 = 8 * 1024 * 1024 * 1024;
/// Bytes read and thrown away after a refusal, so that the sender gets to read it.
const MOST_DISCARDED_BYTES: usize = 64 * 1024 * 1024;

pub(crate) struct Upload {
    body: Body,
    pace: Pace,
    /// Received bytes that are not unpacked yet.
    waiting: BytesMut,
    form: Form,
    n_bytes: u64,
}

enum Form {
    /// Fewer than two bytes have arrived.
    Unknown,
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

impl Upload {
    /// The next bytes, unpacked; `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>> {
        loop {
            if let Some(chunk) = self.unpack()? {
                self.n_bytes += chunk.len() as u64;
                if self.n_bytes > MOST_BYTES {
                    return Err(Error::BodyTooLarge { limit_bytes: MOST_BYTES });
                }
                return Ok(Some(chunk));
            }
            let Some(data) = self.receive().await? else { return self.end() };
            self.waiting.extend_from_slice(&data);
        }
    }

    /// Reads on without looking, for a while.
    pub(crate) async fn discard(mut self) {
        let mut n_bytes = 0;
        while n_bytes < MOST_DISCARDED_BYTES {
            let Ok(Some(data)) = self.receive().await else { break };
            n_bytes += data.len();
        }
    }

    /// The next bytes as they were sent; empty for a frame that is no data.
    async fn receive(&mut self) -> Result<Option<Bytes>> {
        let frame = self.pace.frame(&mut self.body).await?;
        Ok(frame.map(|frame| frame.into_data().unwrap_or_default()))
    }

    /// Some of the received bytes; `None` when more have to arrive first.
    fn unpack(&mut self) -> Result<Option<Bytes>> {
        if let (Form::Unknown, true) = (&self.form, self.waiting.len() >= GZIP_MAGIC.len()) {
            self.form = if self.waiting.starts_with(&GZIP_MAGIC) {
                Form::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))
            } else {
                Form::Plain
            };
        }
        match &mut self.form {
            Form::Unknown => Ok(None),
            Form::Plain if self.waiting.is_empty() => Ok(None),
            Form::Plain => Ok(Some(self.waiting.split().freeze())),
            Form::Gzip(unpacker) => {
                while !self.waiting.is_empty() {
                    let piece = self.waiting.split_to(PACKED_PIECE.min(self.waiting.len()));
                    unpacker.write_all(&piece).map_err(|error| not_gzip(&error))?;
                    if !unpacker.get_ref().is_empty() {
                        return Ok(Some(std::mem::take(unpacker.get_mut()).into()));
                    }
                }
                Ok(None)
            }
        }
    }

    fn end(&mut self) -> Result<Option<Bytes>> {
        let rest = match std::mem::replace(&mut self.form, Form::Plain) {
            Form::Unknown => self.waiting.split().freeze(),
            Form::Plain => return Ok(None),
            Form::Gzip(unpacker) => unpacker.finish().map_err(|error| not_gzip(&error))?.into(),
        };
        Ok(Some(rest).filter(|rest| !rest.is_empty()))
    }
}

fn not_gzip(error: &std::io::Error) -> Error {
    Error::invalid("", format!("The body begins like gzip but cannot be unpacked: {error}."))
}

impl FromRequest<Edge> for Upload {
    type Rejection = Infallible;

    async fn from_request(request: Request, edge: &Edge) -> Result<Self, Infallible> {
        let pace = Pace::of_stream(edge.body_patience);
        Ok(Self { body: request.into_body(), pace, waiting: BytesMut::new(), form: Form::Unknown, n_bytes: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use futures_util::stream;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// A body that is sent in pieces, as it arrives, and the length of its longest chunk.
    async fn receive(sent: &[u8], piece: usize) -> Result<(Vec<u8>, usize)> {
        let pieces: Vec<_> =
            sent.chunks(piece).map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece))).collect();
        let body = Body::from_stream(stream::iter(pieces));
        let pace = Pace::of_stream(crate::body::BodyPatience::DEFAULT);
        let mut upload = Upload { body, pace, waiting: BytesMut::new(), form: Form::Unknown, n_bytes: 0 };
        let (mut received, mut longest) = (Vec::new(), 0);
        while let Some(chunk) = upload.chunk().await? {
            longest = longest.max(chunk.len());
            received.extend_from_slice(&chunk);
        }
        Ok((received, longest))
    }

    #[tokio::test]
    async fn bodies_arrive_whole_however_they_are_cut_and_packed() {
        let text: Vec<u8> = (0..20_000).flat_map(|n: u32| format!("named_user,{n}\n").into_bytes()).collect();
        let two_members = [packed(&text[..1000]), packed(&text[1000..])].concat();
        for sent in [&text, &packed(&text), &two_members] {
            for piece in [1, 2, 3, 1000, usize::MAX] {
                assert_eq!(receive(sent, piece).await.unwrap().0, text, "in pieces of {piece}");
            }
        }
        for short in ["", "a", "ab"] {
            assert_eq!(receive(short.as_bytes(), 1).await.unwrap().0, short.as_bytes());
            assert_eq!(receive(&packed(short.as_bytes()), 1).await.unwrap().0, short.as_bytes());
        }
    }

    #[tokio::test]
    async fn damaged_gzip_is_refused() {
        let whole = packed(b"named_user,kim\n");
        for damaged in [&whole[..whole.len() - 1], &whole[..12], &[0x1f, 0x8b], b"\x1f\x8bnonsense"] {
            assert!(matches!(receive(damaged, 5).await, Err(Error::Invalid(_))), "{damaged:?}");
        }
    }

    #[tokio::test]
    async fn a_bomb_comes_in_small_pieces() {
        let bomb = packed(&vec![0; 50_000_000]);
        assert!(bomb.len() < 100_000);
        let (received, longest) = receive(&bomb, usize::MAX).await.unwrap();
        assert_eq!(received.len(), 50_000_000);
        assert!(longest < 5_000_000, "{longest}");
    }
}
