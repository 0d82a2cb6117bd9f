//! What HTTP Basic authentication has encoded. A fuzz target reads this file by itself.

use model::lenient_base64;

/// The name and the secret, with the first colon between them.
pub(crate) fn name_and_secret(encoded: &str) -> Option<(String, String)> {
    let text = String::from_utf8(lenient_base64::decode(encoded)?).ok()?;
    let (name, secret) = text.split_once(':')?;
    Some((name.to_owned(), secret.to_owned()))
}
