//! The proof of a server that it speaks the protocol of WebSockets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

/// Fixed by RFC 6455.
const ID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const KEY_BYTES: usize = 16;

/// The answer to the `Sec-WebSocket-Key` of a client; `None` if that is not sixteen bytes in base64.
pub fn accept_key(key: &str) -> Option<String> {
    let is_key = STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == KEY_BYTES);
    is_key.then(|| STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{ID}").as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard_is_answered() {
        let answer = accept_key("dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(answer.as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        assert_eq!((accept_key("short"), accept_key("c2hvcnQ=")), (None, None));
    }
}
