//! As much of Protocol Buffers as a push connection needs: fields by their numbers, read and written one after the other.

/// The bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    /// A text, bytes, or a message.
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// The fields of a message in the order of its bytes, ended by the first that cannot be read.
pub(super) struct Fields<'a>(&'a [u8]);

/// A message that is being written.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;
/// Ten bytes of seven bits hold 64.
const MOST_VARINT_BYTES: usize = 10;

impl<'a> Fields<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        Self(message)
    }

    fn read(&mut self) -> Result<(u64, Value<'a>), Malformed> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            VARINT => Value::Varint(self.varint()?),
            FIXED64 => Value::Fixed64(u64::from_le_bytes(self.chunk()?)),
            FIXED32 => Value::Fixed32(u32::from_le_bytes(self.chunk()?)),
            BYTES => {
                let n_bytes = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
                let (bytes, rest) = self.0.split_at_checked(n_bytes).ok_or(Malformed)?;
                self.0 = rest;
                Value::Bytes(bytes)
            }
            _ => return Err(Malformed),
        };
        Ok((tag >> 3, value))
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let (value, n_bytes) = varint(self.0)?.ok_or(Malformed)?;
        self.0 = &self.0[n_bytes..];
        Ok(value)
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (chunk, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*chunk)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> Value<'a> {
    pub(super) fn text(self) -> Result<&'a str, Malformed> {
        match self {
            Value::Bytes(bytes) => str::from_utf8(bytes).map_err(|_| Malformed),
            Value::Varint(_) | Value::Fixed64(_) | Value::Fixed32(_) => Err(Malformed),
        }
    }
}

impl Message {
    pub(super) fn varint(mut self, field: u64, value: u64) -> Self {
        self.tag(field, VARINT);
        put_varint(&mut self.0, value);
        self
    }

    pub(super) fn fixed64(mut self, field: u64, value: u64) -> Self {
        self.tag(field, FIXED64);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        self.tag(field, BYTES);
        put_varint(&mut self.0, value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(super) fn text(self, field: u64, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    pub(super) fn message(self, field: u64, value: &Message) -> Self {
        self.bytes(field, &value.0)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn tag(&mut self, field: u64, kind: u64) {
        put_varint(&mut self.0, field << 3 | kind);
    }
}

/// A number at the beginning of some bytes, and how many of them it takes; `None` while it is incomplete.
pub(super) fn varint(bytes: &[u8]) -> Result<Option<(u64, usize)>, Malformed> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(MOST_VARINT_BYTES) {
        let bits = u64::from(byte & 0x7F);
        let shifted = bits << (7 * index);
        if shifted >> (7 * index) != bits {
            return Err(Malformed);
        }
        value |= shifted;
        if byte & 0x80 == 0 {
            return Ok(Some((value, index + 1)));
        }
    }
    if bytes.len() >= MOST_VARINT_BYTES { Err(Malformed) } else { Ok(None) }
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [bits, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(bits & 0x7F);
        }
        out.push(bits | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u64, Value<'_>)>, Malformed> {
        Fields::of(bytes).collect()
    }

    #[test]
    fn the_examples_of_the_format_are_read() {
        assert_eq!(fields(&[0x08, 0x96, 0x01]), Ok(vec![(1, Value::Varint(150))]));
        assert_eq!(fields(b"\x12\x07testing"), Ok(vec![(2, Value::Bytes(b"testing"))]));
        let inner = Message::default().varint(1, 150);
        let outer = Message::default().message(3, &inner).into_bytes();
        assert_eq!(outer, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().fixed64(7, 1).into_bytes(), [0x39, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(fields(&[0x0d, 1, 0, 0, 0]), Ok(vec![(1, Value::Fixed32(1))]));
        assert_eq!(fields(&[]), Ok(vec![]));
    }

    #[test]
    fn what_ends_too_early_is_no_message() {
        let broken: [&[u8]; 6] = [&[0x08], &[0x08, 0x80], &[0x12, 5, b'a'], &[0x39, 1, 2], &[0x0b], &[0xff; 11]];
        for bytes in broken {
            assert_eq!(fields(bytes), Err(Malformed), "{bytes:?}");
        }
        assert_eq!(varint(&[0xff; 9]), Ok(None));
        assert_eq!(varint(&[0xff; 10]), Err(Malformed));
    }

    proptest! {
        #[test]
        fn numbers_and_texts_survive(number in any::<u64>(), field in 1_u64..1 << 29, text in ".*") {
            let written = Message::default().varint(field, number).text(field, &text).fixed64(field, number).into_bytes();
            let expected = vec![
                (field, Value::Varint(number)), (field, Value::Bytes(text.as_bytes())), (field, Value::Fixed64(number)),
            ];
            prop_assert_eq!(fields(&written), Ok(expected));
        }

        #[test]
        fn any_bytes_come_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let n_read = Fields::of(&bytes).count();
            prop_assert!(n_read <= bytes.len());
        }
    }
}
