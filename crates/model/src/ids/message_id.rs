//! Ids of Message Center messages.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::display::Base64Display;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use super::PushId;

/// The message that comes with a push, named by the push id in 22 characters of URL-safe base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageId(PushId);

/// The text is not a message id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A message id has 22 characters of URL-safe base64.")]
pub struct NoMessageId;

impl MessageId {
    pub const fn push(self) -> PushId {
        self.0
    }
}

impl From<PushId> for MessageId {
    fn from(push: PushId) -> Self {
        Self(push)
    }
}

impl FromStr for MessageId {
    type Err = NoMessageId;

    fn from_str(text: &str) -> Result<Self, NoMessageId> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| NoMessageId)?;
        let id = Uuid::from_slice(&bytes).map_err(|_| NoMessageId)?;
        Ok(Self(PushId::from_uuid(id)))
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Base64Display::new(self.0.as_bytes(), &URL_SAFE_NO_PAD).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_two_characters_and_back() {
        let push: PushId = "f0e1d2c3-b4a5-4697-8879-6a5b4c3d2e1f".parse().unwrap();
        assert_eq!(MessageId::from(push).to_string(), "8OHSw7SlRpeIeWpbTD0uHw");
        assert_eq!("8OHSw7SlRpeIeWpbTD0uHw".parse().map(MessageId::push), Ok(push));
        for text in ["", "8OHSw7SlRpeIeWpbTD0u", "8OHSw7SlRpeIeWpbTD0uHw==", "f0e1d2c3-b4a5-4697-8879-6a5b4c3d2e1f"] {
            assert_eq!(text.parse::<MessageId>(), Err(NoMessageId), "{text}");
        }
    }
}
