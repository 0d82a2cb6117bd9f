//! Proof of origin on requests to an endpoint: a password, or a keyed hash of the time and the body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use model::time::UtcMillis;
use ring::hmac;

use super::OpenAuth;

const TIMESTAMP: HeaderName = HeaderName::from_static("x-ua-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("x-ua-signature");

/// Adds what `auth` asks for. `body` is the JSON text before any compression; empty for a GET.
pub(super) fn authenticate(headers: &mut HeaderMap, auth: &OpenAuth, body: &[u8], now: UtcMillis) {
    match auth {
        OpenAuth::None => {}
        OpenAuth::Basic { user, password } => {
            let encoded = STANDARD.encode(format!("{user}:{}", password.reveal()));
            let mut value = ascii(&format!("Basic {encoded}"));
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        OpenAuth::Signature { secret } => {
            let seconds = now.seconds();
            headers.insert(TIMESTAMP, HeaderValue::from(seconds));
            headers.insert(SIGNATURE, ascii(&sign(secret.reveal(), seconds, body)));
        }
    }
}

/// Lower-case hexadecimal HMAC-SHA256 of the time in seconds, a colon and the body.
fn sign(secret: &str, seconds: i64, body: &[u8]) -> String {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
    context.update(seconds.to_string().as_bytes());
    context.update(b":");
    context.update(body);
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    context.sign().as_ref().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

fn ascii(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("base64 and hexadecimal digits are valid in a header")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credential::Credential;

    const NOW: UtcMillis = UtcMillis(1_536_947_409_999);

    fn headers(auth: &OpenAuth, body: &[u8]) -> Vec<(String, String)> {
        let mut headers = HeaderMap::new();
        authenticate(&mut headers, auth, body, NOW);
        headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
    }

    #[test]
    fn signatures_match_the_published_vectors() {
        let auth = OpenAuth::Signature { secret: Credential::new("whsecret") };
        let vectors = [
            ("", "1e37c7f91bf625cc665a4aad97f7f71425c5fe390747a587e1427c2383c10a06"),
            (r#"{"values":[]}"#, "88128308d521173d63edc7b6ddd5c4142f6112884a1988c7d140df09154a71ee"),
        ];
        for (body, signature) in vectors {
            let expected = [("x-ua-timestamp", "1536947409"), ("x-ua-signature", signature)];
            assert_eq!(headers(&auth, body.as_bytes()), expected.map(|(n, v)| (n.to_owned(), v.to_owned())));
        }
    }

    #[test]
    fn basic_and_none() {
        let basic = OpenAuth::Basic { user: "Aladdin".to_owned(), password: Credential::new("open sesame") };
        let expected = ("authorization".to_owned(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned());
        assert_eq!(headers(&basic, b"x"), [expected]);
        assert_eq!(headers(&OpenAuth::None, b"x"), []);
    }
}
