//! The encoding of forms and queries (`application/x-www-form-urlencoded`). A fuzz target reads this file by itself.

/// What a form or a query has encoded. Bytes that are no text become the sign for that.
pub fn form_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        let (byte, n) = match escaped {
            Some(byte) => (byte, 3),
            None if *first == b'+' => (b' ', 1),
            None => (*first, 1),
        };
        bytes.push(byte);
        rest = &rest[n..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The names and values of a form, in their order. A name without a sign after it has an empty value.
pub(crate) fn form_pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    text.split('&').map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (form_decoded(name), form_decoded(value))
    })
}
