//! Calls that are made again while a server has too much to do, or is not reached.

use std::future::Future;
use std::time::Duration;

use anyhow::Result;
use http::StatusCode;

use super::{NoAnswer, Refused};

/// A server that has too much to do is asked so often.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_secs(2);
/// A server that is not reached is asked so often, with pauses that grow from a quarter of a second to 16 seconds.
const TRIES_TO_REACH: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// Why there is no good answer.
enum Trouble {
    Busy { pause: Duration },
    Unreached,
    Lasting,
}

/// Asks again when the server has too much to do, or is not reached for a while: for calls that change nothing more when they are
/// made twice.
pub(crate) async fn patiently<T, Asking: Future<Output = Result<T>>>(mut ask: impl FnMut() -> Asking) -> Result<T> {
    let (mut n_busy, mut n_unreached) = (0, 0);
    loop {
        let error = match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let pause = match Trouble::of(&error) {
            Trouble::Busy { pause } if n_busy + 1 < TRIES => {
                n_busy += 1;
                pause
            }
            Trouble::Unreached if n_unreached + 1 < TRIES_TO_REACH => {
                n_unreached += 1;
                FIRST_PAUSE * 2_u32.pow(n_unreached - 1)
            }
            Trouble::Busy { .. } | Trouble::Unreached | Trouble::Lasting => return Err(error),
        };
        tokio::time::sleep(pause).await;
    }
}

impl Trouble {
    fn of(error: &anyhow::Error) -> Self {
        if let Some(Refused { status, retry_after, .. }) = error.downcast_ref() {
            return match *status {
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                    Trouble::Busy { pause: retry_after.unwrap_or(PAUSE) }
                }
                // What a proxy says while the server behind it is started again.
                StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => Trouble::Unreached,
                _ => Trouble::Lasting,
            };
        }
        match error.downcast_ref() {
            Some(NoAnswer { may_recover: true, .. }) => Trouble::Unreached,
            _ => Trouble::Lasting,
        }
    }
}
