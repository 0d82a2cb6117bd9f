//! Any bearer token is either none of ours or falls into the parts it was made of, which make the same token again; and the other
//! texts of a signed request (signature, time) are read or not, without a panic.
#![no_main]

#[path = "../crates/tenancy/src/device_tokens/parts.rs"]
mod parts;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use model::lenient_base64;
use model::time::UtcMillis;
use parts::{HEADER, take_apart};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Some((signed, signature, claims)) = take_apart(text) {
        let (header, body) = signed.split_once('.').expect("a header and claims were signed");
        assert_eq!(header, HEADER, "a token does not choose how it is checked");
        assert!(!body.contains('.'), "a token has three parts");
        let again = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(&signature));
        assert_eq!(again, text.trim(), "there is one text for a token");
        let claims = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&claims).expect("claims can be printed"));
        assert!(take_apart(&format!("{HEADER}.{claims}.{}", URL_SAFE_NO_PAD.encode(signature))).is_some());
    }
    if let Some(signature) = lenient_base64::decode(text) {
        assert_eq!(STANDARD_NO_PAD.encode(signature), text.trim_end_matches('='), "there is one text for a signature");
    }
    if let Some(time) = UtcMillis::parse_api(text) {
        assert_eq!(UtcMillis::parse_with_offset(text), Some(time), "a time without an offset is in UTC");
    }
    UtcMillis::parse_with_offset(text);
});
