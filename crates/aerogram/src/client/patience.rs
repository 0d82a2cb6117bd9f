//! Calls that are made again while a server has too much to do, or is not reached.

use std::future::Future;
use std::time::{Duration, Instant};

use anyhow::Result;
use http::StatusCode;

use super::{NoAnswer, Refused};

/// A server that has too much to do is asked so often.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_secs(2);
/// A server that is not reached is asked so often, with pauses that grow from a quarter of a second to 16 seconds.
const TRIES_TO_REACH: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Somebody who waits does so for no longer, whenever the server wants to be asked again.
const LONGEST_ATTENDED_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_ATTENDED: Duration = Duration::from_secs(5 * 60);
const ASKED_AGAIN: &str = "The server cannot answer now, and is asked again.";

/// Whose calls these are.
#[derive(Clone, Copy)]
enum Caller {
    /// A command that may take a night: the server says when to ask again.
    Unattended,
    /// A command that somebody waits for.
    Attended,
}

/// Tries of one call so far.
struct Tries {
    caller: Caller,
    n_busy: u32,
    n_unreached: u32,
}

/// Why there is no good answer.
enum Trouble {
    Busy { pause: Duration },
    Unreached,
    Lasting,
}

/// Calls of a command that somebody waits for: not as long as a server may ask for, and not in silence.
pub(crate) struct AttendedCalls<Note> {
    note: Note,
    is_noted: bool,
}

/// Asks again when the server has too much to do, or is not reached for a while: for calls that change nothing more when they are
/// made twice.
pub(crate) async fn patiently<T, Asking: Future<Output = Result<T>>>(ask: impl FnMut() -> Asking) -> Result<T> {
    repeated(Caller::Unattended, ask, || {}).await
}

impl<Note: Fn(&str)> AttendedCalls<Note> {
    /// `note` shows a sentence when the server is asked again for the first time.
    pub(crate) fn new(note: Note) -> Self {
        Self { note, is_noted: false }
    }

    /// As [`patiently`].
    pub(crate) async fn ask<T, Asking: Future<Output = Result<T>>>(
        &mut self,
        ask: impl FnMut() -> Asking,
    ) -> Result<T> {
        let note = || {
            if !std::mem::replace(&mut self.is_noted, true) {
                (self.note)(ASKED_AGAIN);
            }
        };
        repeated(Caller::Attended, ask, note).await
    }
}

async fn repeated<T, Asking: Future<Output = Result<T>>>(
    caller: Caller,
    mut ask: impl FnMut() -> Asking,
    mut before_pause: impl FnMut(),
) -> Result<T> {
    let (mut tries, began) = (Tries { caller, n_busy: 0, n_unreached: 0 }, Instant::now());
    loop {
        let error = match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let Some(pause) = tries.pause(&error, began.elapsed()) else { return Err(error) };
        before_pause();
        tokio::time::sleep(pause).await;
    }
}

impl Tries {
    /// How long to wait before the next try, if there is one.
    fn pause(&mut self, error: &anyhow::Error, waited: Duration) -> Option<Duration> {
        let pause = match Trouble::of(error) {
            Trouble::Busy { pause } if self.n_busy + 1 < TRIES => {
                self.n_busy += 1;
                pause
            }
            Trouble::Unreached if self.n_unreached + 1 < TRIES_TO_REACH => {
                self.n_unreached += 1;
                FIRST_PAUSE * 2_u32.pow(self.n_unreached - 1)
            }
            Trouble::Busy { .. } | Trouble::Unreached | Trouble::Lasting => return None,
        };
        match self.caller {
            Caller::Unattended => Some(pause),
            Caller::Attended => {
                let pause = pause.min(LONGEST_ATTENDED_PAUSE);
                (waited + pause <= LONGEST_ATTENDED).then_some(pause)
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);

    fn refused(status: StatusCode, retry_after: Option<Duration>) -> anyhow::Error {
        Refused { status, code: None, text: String::new(), retry_after }.into()
    }

    /// The pauses of calls that are always refused so, each of which takes no time itself.
    fn pauses(caller: Caller, error: &anyhow::Error) -> Vec<Duration> {
        let (mut tries, mut waited) = (Tries { caller, n_busy: 0, n_unreached: 0 }, Duration::ZERO);
        std::iter::from_fn(|| {
            let pause = tries.pause(error, waited)?;
            waited += pause;
            Some(pause)
        })
        .collect()
    }

    #[test]
    fn somebody_who_waits_does_so_for_minutes_and_not_for_hours() {
        for status in [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE] {
            let in_an_hour = refused(status, Some(HOUR));
            assert_eq!(pauses(Caller::Attended, &in_an_hour), [LONGEST_ATTENDED_PAUSE; 10]);
            assert_eq!(pauses(Caller::Unattended, &in_an_hour), [HOUR; 19]);
            for caller in [Caller::Attended, Caller::Unattended] {
                assert_eq!(pauses(caller, &refused(status, None)), [PAUSE; 19]);
            }
        }
        let away = refused(StatusCode::BAD_GATEWAY, None);
        assert_eq!(pauses(Caller::Attended, &away), pauses(Caller::Unattended, &away));
        assert_eq!(pauses(Caller::Attended, &away).len(), 7);
        assert!(pauses(Caller::Unattended, &refused(StatusCode::BAD_REQUEST, None)).is_empty());
        // After requests that all ran into their timeout.
        let mut tries = Tries { caller: Caller::Attended, n_busy: 0, n_unreached: 0 };
        assert_eq!(tries.pause(&away, LONGEST_ATTENDED), None);
    }
}
