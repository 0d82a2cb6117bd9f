//! Ids of Message Center messages.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::ids::PushId;
use uuid::Uuid;

/// The id of the message that comes with a push: the push id in 22 characters of URL-safe base64.
pub fn message_id(push: PushId) -> String {
    URL_SAFE_NO_PAD.encode(push.as_bytes())
}

/// The push a message came with; `None` for text that is no message id.
pub fn push_of_message(message_id: &str) -> Option<PushId> {
    let bytes = URL_SAFE_NO_PAD.decode(message_id).ok()?;
    Uuid::from_slice(&bytes).ok().map(PushId::from_uuid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_two_characters_and_back() {
        let push: PushId = "f0e1d2c3-b4a5-4697-8879-6a5b4c3d2e1f".parse().unwrap();
        assert_eq!(message_id(push), "8OHSw7SlRpeIeWpbTD0uHw");
        assert_eq!(push_of_message("8OHSw7SlRpeIeWpbTD0uHw"), Some(push));
        for text in ["", "8OHSw7SlRpeIeWpbTD0u", "8OHSw7SlRpeIeWpbTD0uHw==", "f0e1d2c3-b4a5-4697-8879-6a5b4c3d2e1f"] {
            assert_eq!(push_of_message(text), None, "{text}");
        }
    }
}
