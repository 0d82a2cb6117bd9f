//! Why a connection ends, and what its device is told.

use websocket::frame;

/// Why the service ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client said that it leaves, or is gone.
    Left,
    /// What the client sent is not what the protocol allows: the close code of RFC 6455.
    Fault(u16),
    /// The token has ended, or its secret was replaced.
    Credentials,
    /// The channel is not live, or its app is gone.
    NotLive,
    /// The device reads or answers nothing.
    TooSlow,
    /// The channel has newer connections.
    Replaced,
    /// The channel is uninstalled: the device has to register anew.
    Uninstalled,
    /// There are too many connections, or too many messages of this one.
    TooMany,
    /// The node stops. The device is to come back after so many milliseconds.
    Restart { retry: u32 },
}

/// How long a device that met a limit waits at least, in milliseconds.
const LIMIT_RETRY: u32 = 30_000;

impl End {
    /// The code of the close frame.
    pub const fn code(self) -> u16 {
        match self {
            End::Left => 1000,
            End::Fault(code) => code,
            End::Credentials => 4401,
            End::NotLive => 4403,
            End::TooSlow => 4408,
            End::Replaced => 4409,
            End::Uninstalled => 4410,
            End::TooMany => 4429,
            End::Restart { .. } => 1012,
        }
    }

    pub const fn reason(self) -> &'static str {
        match self {
            End::Left => "",
            End::Fault(_) => "what was sent is not part of aerogram.live.1",
            End::Credentials => "the token has ended; get a new one",
            End::NotLive => "the channel is not live, or its app is gone",
            End::TooSlow => "nothing was read or answered for too long",
            End::Replaced => "the channel has newer connections",
            End::Uninstalled => "the channel is uninstalled; register anew",
            End::TooMany => "too many connections or messages; come back later",
            End::Restart { .. } => "the server restarts; come back",
        }
    }

    /// The last message before the close frame, if there is one.
    pub fn farewell(self) -> Option<String> {
        match self {
            End::Restart { retry } => Some(format!(r#"{{"type":"bye","why":"restart","retry":{retry}}}"#)),
            End::TooMany => Some(format!(r#"{{"type":"bye","why":"limit","retry":{LIMIT_RETRY}}}"#)),
            End::Left
            | End::Fault(_)
            | End::Credentials
            | End::NotLive
            | End::TooSlow
            | End::Replaced
            | End::Uninstalled => None,
        }
    }

    /// Everything that a WebSocket is sent at its end.
    pub(crate) fn frames(self) -> Vec<u8> {
        let mut frames = self.farewell().map(|text| frame::text(&text)).unwrap_or_default();
        frames.extend(frame::close(self.code(), self.reason()));
        frames
    }
}
