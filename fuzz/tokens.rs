//! Any bearer token is either none of ours or falls into the parts it was made of, which make the same token again; and the other
//! texts that prove something (signatures and times of signed requests, proofs about users, access tokens and assertions of
//! servers, Basic credentials, forms that ask for a token) are read or not, without a panic.
#![no_main]

#[path = "../crates/api/src/auth/basic.rs"]
mod basic;
#[path = "../crates/api/src/form.rs"]
mod form;
#[path = "../crates/tenancy/src/web_tokens.rs"]
#[allow(dead_code, reason = "what claims mean is decided by the readers of the tokens")]
mod web_tokens;

#[path = "../crates/tenancy/src/device_tokens/parts.rs"]
mod parts;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use form::{form_decoded, form_pairs};
use model::lenient_base64;
use model::time::UtcMillis;
use parts::{HEADER, take_apart};
use web_tokens::{
    AccessClaims, AccessHeader, AssertionClaims, AssertionHeader, ProofClaims, ProofHeader, WebToken, millis,
};

/// What only reads and must not panic, of tokens that are signed in other ways.
fn read_web_token(text: &str) {
    let Some(token) = WebToken::new(text) else { return };
    assert!(text.starts_with(token.signed) && token.signed.contains('.'), "a header and claims were signed");
    let bare = token.without_padding();
    assert_eq!(bare.signed, token.signed, "what is signed is not changed");
    if token.signature().is_some() {
        assert_eq!(bare.signature(), token.signature(), "padding is no part of what is read without it");
    }
    if let (Some(ProofHeader { .. }), Some(ProofClaims { aud, sub, .. })) = (bare.header(), bare.claims()) {
        let _ = aud.is_some_and(|audience| audience.has(&sub));
    }
    if let (Some(header), Some(claims)) = (token.header::<AccessHeader>(), token.claims::<AccessClaims>()) {
        let part = |text: serde_json::Result<Vec<u8>>| URL_SAFE_NO_PAD.encode(text.expect("it can be printed"));
        let again = format!("{}.{}.", part(serde_json::to_vec(&header)), part(serde_json::to_vec(&claims)));
        let again = WebToken::new(&again).expect("a token has three parts");
        assert_eq!(again.claims::<AccessClaims>().map(|again| again.client_id), Some(claims.client_id));
    }
    if let (Some(AssertionHeader { .. }), Some(claims)) = (token.header(), token.claims::<AssertionClaims>()) {
        let _ = (millis(claims.iat), millis(claims.exp));
        for words in [claims.sub, claims.scope, claims.ipaddr, claims.aud] {
            assert!(words.into_vec().iter().all(|word| !word.contains(char::is_whitespace)), "words have no spaces");
        }
    }
}

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
    read_web_token(text);
    if let Some((name, secret)) = basic::name_and_secret(text) {
        assert!(!name.contains(':'), "a name ends at the first colon");
        let again = STANDARD.encode(format!("{name}:{secret}"));
        assert_eq!(basic::name_and_secret(&again), Some((name, secret)), "credentials read as the same credentials");
    }
    for (name, value) in form_pairs(text) {
        let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        assert_eq!(form_decoded(&encode(&name)), name, "what is encoded reads as the same text");
        assert_eq!(form_decoded(&encode(&value)), value, "what is encoded reads as the same text");
    }
});
