//! The slowest that a sender may send a body: a trickle of bytes would hold a permit and memory for as long as it likes.

use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Frame;

use crate::error::{Error, Result};

/// Less than the slowest mobile networks carry.
const LEAST_BYTES_A_SECOND: u64 = 4 * 1024;

/// How long bodies are waited for.
#[derive(Clone, Copy, Debug)]
pub struct BodyPatience {
    /// Before the least rate is asked for.
    pub grace: Duration,
    /// Between two pieces.
    pub silence: Duration,
    /// For all of a body that is held in memory.
    pub whole: Duration,
}

impl BodyPatience {
    pub const DEFAULT: Self =
        Self { grace: Duration::from_secs(10), silence: Duration::from_secs(20), whole: Duration::from_secs(60) };
}

/// What one sender has sent, and how long it has kept us waiting. Time in which nobody waits for it does not count.
pub(crate) struct Pace {
    patience: BodyPatience,
    /// At most this long in all.
    most: Duration,
    waited: Duration,
    n_bytes: u64,
}

impl Pace {
    /// For a body that is held in memory until it is complete.
    pub(crate) fn of_whole(patience: BodyPatience) -> Self {
        Self { patience, most: patience.whole, waited: Duration::ZERO, n_bytes: 0 }
    }

    /// For a body that is worked on as it comes.
    pub(crate) fn of_stream(patience: BodyPatience) -> Self {
        Self { patience, most: Duration::MAX, waited: Duration::ZERO, n_bytes: 0 }
    }

    /// The next frame; fails when the sender is too slow, or the connection broke.
    pub(crate) async fn frame(&mut self, body: &mut Body) -> Result<Option<Frame<Bytes>>> {
        let earned = self.patience.grace + Duration::from_secs(self.n_bytes / LEAST_BYTES_A_SECOND);
        let left = earned.min(self.most).saturating_sub(self.waited).min(self.patience.silence);
        let began = Instant::now();
        let frame = tokio::time::timeout(left, body.frame()).await.map_err(|_| Error::BodyTooSlow)?;
        self.waited += began.elapsed();
        let frame = frame.transpose().map_err(|error| {
            // Nobody is likely to read this answer: the connection broke or spoke no HTTP.
            Error::invalid("", format!("The request body could not be read: {error}."))
        })?;
        self.n_bytes += frame.as_ref().and_then(Frame::data_ref).map_or(0, |data| data.len() as u64);
        Ok(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use std::convert::Infallible;

    /// A body of some pieces that never ends.
    fn endless(pieces: &[usize]) -> Body {
        let pieces: Vec<_> = pieces.iter().map(|n| Ok::<_, Infallible>(Bytes::from(vec![b' '; *n]))).collect();
        Body::from_stream(stream::StreamExt::chain(stream::iter(pieces), stream::pending()))
    }

    #[tokio::test]
    async fn a_sender_that_has_sent_much_may_pause_longer_than_one_that_trickles() {
        let grace = Duration::from_millis(20);
        let patience = BodyPatience { grace, silence: Duration::from_secs(3600), whole: Duration::from_secs(3600) };
        let mut pace = Pace::of_stream(patience);
        let mut trickle = endless(&[1]);
        assert!(pace.frame(&mut trickle).await.is_ok());
        assert!(matches!(pace.frame(&mut trickle).await, Err(Error::BodyTooSlow)));
        // Bytes earn time, which a silence and the limit of the whole body still bound.
        let patience = BodyPatience { silence: grace, ..patience };
        let mut pace = Pace::of_stream(patience);
        let mut much = endless(&[1 << 20]);
        assert!(pace.frame(&mut much).await.is_ok());
        assert!(matches!(pace.frame(&mut much).await, Err(Error::BodyTooSlow)));
        let mut pace = Pace::of_whole(BodyPatience { whole: grace, silence: Duration::from_secs(3600), ..patience });
        let mut much = endless(&[1 << 20]);
        assert!(pace.frame(&mut much).await.is_ok());
        assert!(matches!(pace.frame(&mut much).await, Err(Error::BodyTooSlow)));
    }
}
