//! JSON text that is the same for every device but for a few holes: written once per push, filled once per delivery.

use model::payload::personal::{Piece, pieces};
use serde::Serialize;

use crate::recipient::Recipient;
use crate::wns::xml_escaped;

/// The value of a hole; each is a whole JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hole {
    DeliveryId,
    ChannelId,
    Address,
    Identifiers,
    /// A change of the device's badge, which never goes below zero.
    BadgeMovedBy(i64),
    /// One of the recipient's own texts, which is a part of a value.
    Text {
        number: usize,
        escaping: Escaping,
    },
}

/// How a text is written into the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escaping {
    None,
    Xml,
    /// Into JSON inside of JSON, so many times.
    Json(u32),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    text: String,
    /// Where in the text, in order, and what.
    holes: Vec<(usize, Hole)>,
}

/// Room for most values of a hole: a quoted UUID, or a token.
const USUAL_HOLE_BYTES: usize = 40;
/// The most that becomes of one byte: `\u0000` in JSON, `&quot;` in XML.
const ESCAPED_BYTES: usize = 6;

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

    /// Makes holes of the marks in the text, if the push has any.
    pub(crate) fn with_marks(self, has_marks: bool) -> Self {
        if !has_marks {
            return self;
        }
        let Self { text, holes } = self;
        let mut split = Self::default();
        let mut done = 0;
        for (position, hole) in holes {
            split = split.marked(&text[done..position]).hole(hole);
            done = position;
        }
        split.marked(&text[done..])
    }

    fn marked(self, text: &str) -> Self {
        pieces(text).fold(self, |form, piece| match piece {
            Piece::Text(text) => form.text(text),
            Piece::Mark { number, quotation_mark } => {
                form.hole(Hole::Text { number, escaping: Escaping::told_by(quotation_mark) })
            }
        })
    }

    /// The numbers of the recipient's own texts that are in it.
    pub(crate) fn text_numbers(&self) -> impl Iterator<Item = usize> + '_ {
        self.holes.iter().filter_map(|(_, hole)| match hole {
            Hole::Text { number, .. } => Some(*number),
            Hole::DeliveryId | Hole::ChannelId | Hole::Address | Hole::Identifiers | Hole::BadgeMovedBy(_) => None,
        })
    }

    /// The whole text, if it is the same for all recipients.
    pub(crate) fn without_holes(&self) -> Option<&[u8]> {
        self.holes.is_empty().then_some(self.text.as_bytes())
    }

    /// No fewer bytes than it has when it is filled, without filling it.
    pub(crate) fn most_bytes(&self, recipient: &Recipient<'_>) -> usize {
        let of_hole = |(_, hole): &(usize, Hole)| match hole {
            Hole::DeliveryId | Hole::ChannelId | Hole::BadgeMovedBy(_) => USUAL_HOLE_BYTES,
            Hole::Address => ESCAPED_BYTES * recipient.address.len() + 2,
            Hole::Identifiers => recipient.identifiers.map_or(2, |identifiers| to_json(identifiers).len()),
            Hole::Text { number, escaping } => {
                recipient.texts.get(*number).map_or(0, |text| escaping.most_bytes(text.len()))
            }
        };
        self.text.len() + self.holes.iter().map(of_hole).sum::<usize>()
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
                Hole::Text { number, escaping } => {
                    let text = recipient.texts.get(*number).map_or("", String::as_str);
                    escaping.write(out, text);
                }
            }
        }
        out.extend_from_slice(&self.text.as_bytes()[done..]);
    }
}

impl Escaping {
    /// By what became of a quotation mark.
    fn told_by(quotation_mark: &str) -> Self {
        match quotation_mark.strip_suffix('"') {
            Some("") => Escaping::None,
            // One backslash is doubled by the next level, which adds its own: 1, 3, 7 of them.
            Some(backslashes) => Escaping::Json((backslashes.len() + 1).ilog2()),
            None => Escaping::Xml,
        }
    }

    fn most_bytes(self, n_bytes: usize) -> usize {
        match self {
            Escaping::None => n_bytes,
            Escaping::Xml => ESCAPED_BYTES * n_bytes,
            // Every further level escapes at most each byte of the last one with a backslash.
            Escaping::Json(levels) => (ESCAPED_BYTES * n_bytes).saturating_mul(1 << levels.saturating_sub(1).min(16)),
        }
    }

    fn write(self, out: &mut Vec<u8>, text: &str) {
        match self {
            Escaping::None => out.extend_from_slice(text.as_bytes()),
            Escaping::Xml => out.extend_from_slice(xml_escaped(text).as_bytes()),
            Escaping::Json(1) => write_json_within(out, text),
            Escaping::Json(levels) => {
                let mut escaped = text.as_bytes().to_vec();
                for _ in 0..levels {
                    let inner = String::from_utf8_lossy(&escaped).into_owned();
                    escaped.clear();
                    write_json_within(&mut escaped, &inner);
                }
                out.extend_from_slice(&escaped);
            }
        }
    }
}

/// A text as JSON, without its quotation marks.
fn write_json_within(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    write_json(out, text);
    out.pop();
    out.remove(start);
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
    fn texts_are_escaped_as_what_is_around_them() {
        let mark = "\u{E5A7}0\"\u{E5A7}";
        let inner = serde_json::json!({ "x": mark }).to_string();
        let json = Form::default().json(&serde_json::json!({"a": mark, "b": inner, "c": 1})).with_marks(true);
        let texts = ["say \"hi\" \\ ü\n".to_owned()];
        let mut recipient = Recipient::new(DeliveryId::random(), ChannelId::random(), "a");
        recipient.texts = &texts;
        let filled: serde_json::Value = serde_json::from_slice(&json.fill(&recipient)).unwrap();
        assert_eq!(filled["a"], texts[0]);
        let inner: serde_json::Value = serde_json::from_str(filled["b"].as_str().unwrap()).unwrap();
        assert_eq!(inner["x"], texts[0]);
        let twice = json.text_numbers().collect::<Vec<_>>();
        assert_eq!(twice, [0, 0]);
        let plain = Form::default().text(mark).with_marks(true);
        assert_eq!(plain.fill(&recipient), texts[0].as_bytes());
        let xml = Form::default().text(&mark.replace('"', "&quot;")).with_marks(true);
        assert_eq!(xml.fill(&recipient), "say &quot;hi&quot; \\ ü\n".as_bytes());
        assert_eq!(Form::default().text(mark).with_marks(false).fill(&recipient), mark.as_bytes());
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
