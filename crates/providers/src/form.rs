//! JSON text that is the same for every device but for a few holes: written once per push, filled once per delivery.

use std::collections::BTreeMap;

use model::template::PersonalText;
use serde::Serialize;

use crate::recipient::Recipient;

/// The value of a hole; each is a whole JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hole {
    DeliveryId,
    ChannelId,
    Address,
    Identifiers,
    /// A change of the device's badge, which never goes below zero.
    BadgeMovedBy(i64),
    /// With the values that the recipient has.
    Text(PersonalText),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    text: String,
    /// Where in the text, in order, and what.
    holes: Vec<(usize, Hole)>,
}

const NO_VALUES: BTreeMap<String, String> = BTreeMap::new();

/// Room for most values of a hole: a quoted UUID, or a token.
const USUAL_HOLE_BYTES: usize = 40;

impl Form {
    pub(crate) fn text(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }

    pub(crate) fn hole(mut self, hole: Hole) -> Self {
        self.holes.push((self.text.len(), hole));
        self
    }

    pub(crate) fn json(self, value: &impl Serialize) -> Self {
        let json = serde_json::to_string(value).expect("maps with text keys and plain values always serialize");
        self.text(&json)
    }

    /// The members of an object, without its braces.
    pub(crate) fn members(self, object: &impl Serialize) -> Self {
        let json = to_json(object);
        self.text(&json[1..json.len() - 1])
    }

    /// As `members`, with a comma before them unless there are none.
    pub(crate) fn members_after(self, object: &impl Serialize) -> Self {
        let json = to_json(object);
        match &json[1..json.len() - 1] {
            "" => self,
            members => self.text(",").text(members),
        }
    }

    /// The whole text, if it is the same for all recipients.
    pub(crate) fn without_holes(&self) -> Option<&[u8]> {
        self.holes.is_empty().then_some(self.text.as_bytes())
    }

    pub(crate) fn fill(&self, recipient: &Recipient<'_>) -> Vec<u8> {
        let n_bytes = self.text.len() + recipient.address.len() + self.holes.len() * USUAL_HOLE_BYTES;
        let mut filled = Vec::with_capacity(n_bytes);
        self.fill_into(&mut filled, recipient);
        filled
    }

    pub(crate) fn fill_into(&self, out: &mut Vec<u8>, recipient: &Recipient<'_>) {
        let mut done = 0;
        for (position, hole) in &self.holes {
            out.extend_from_slice(&self.text.as_bytes()[done..*position]);
            done = *position;
            match hole {
                Hole::DeliveryId => write_json(out, &recipient.delivery_id),
                Hole::ChannelId => write_json(out, &recipient.channel_id),
                Hole::Address => write_json(out, recipient.address),
                Hole::Identifiers => match recipient.identifiers {
                    Some(identifiers) => write_json(out, identifiers),
                    None => out.extend_from_slice(b"{}"),
                },
                Hole::BadgeMovedBy(change) => write_json(out, &recipient.badge.saturating_add(*change).max(0)),
                Hole::Text(text) => write_json(out, &text.filled(recipient.values.unwrap_or(&NO_VALUES))),
            }
        }
        out.extend_from_slice(&self.text.as_bytes()[done..]);
    }
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("maps with text keys and plain values always serialize")
}

fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("writing plain values to memory cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ids::{ChannelId, DeliveryId};
    use uuid::Uuid;

    #[test]
    fn holes_are_filled_in_place() {
        let form = Form::default()
            .text("{\"id\":")
            .hole(Hole::DeliveryId)
            .text(",\"to\":[")
            .hole(Hole::Address)
            .text(",")
            .hole(Hole::ChannelId)
            .text(",")
            .hole(Hole::Identifiers)
            .text(",")
            .hole(Hole::BadgeMovedBy(-3))
            .text(",")
            .hole(Hole::BadgeMovedBy(2))
            .text("]}");
        let (delivery, channel) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut recipient =
            Recipient::new(DeliveryId::from_uuid(delivery), ChannelId::from_uuid(channel), "a\"b\\\n\u{1F600}");
        recipient.badge = 1;
        let filled: serde_json::Value = serde_json::from_slice(&form.fill(&recipient)).unwrap();
        let expected = serde_json::json!({
            "id": "00000000-0000-0000-0000-000000000001",
            "to": ["a\"b\\\n\u{1F600}", "00000000-0000-0000-0000-000000000002", {}, 0, 3],
        });
        assert_eq!(filled, expected);
    }

    #[test]
    fn usual_tokens_need_one_buffer() {
        let form = Form::default().text("[").hole(Hole::DeliveryId).text(",").hole(Hole::Address).text("]");
        let address = "a".repeat(160);
        let filled = form.fill(&Recipient::new(DeliveryId::random(), ChannelId::random(), &address));
        let reserved = 3 + 160 + 2 * USUAL_HOLE_BYTES;
        assert_eq!((filled.len() <= reserved, filled.capacity()), (true, reserved), "the buffer did not grow");
    }
}
