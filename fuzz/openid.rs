//! Any answer of an OpenID provider is one or is not: how it describes itself, its keys, what it gives for a code, and its tokens.
//! A token that is read falls into the parts it was made of, and its key is of the kind for its algorithm.
#![no_main]

#[path = "../crates/accounts/src/oidc/answers.rs"]
#[allow(dead_code, reason = "what claims mean is decided by the reader of the tokens")]
mod answers;

use answers::{Algorithm, Configuration, IdToken, Keys, Tokens};

fn read_token(text: &str, keys: Option<&Keys>) {
    let Some(token) = IdToken::new(text) else { return };
    assert!(text.trim().starts_with(token.signed) && token.signed.contains('.'), "a header and claims were signed");
    token.signature();
    if let Some(claims) = token.claims() {
        claims.groups.map(|groups| groups.into_vec());
        claims.aud.into_vec();
    }
    if let (Some(keys), Some(algorithm)) = (keys, Algorithm::of(&token.header.alg)) {
        let key = keys.find(algorithm, token.header.kid.as_deref());
        assert!(key.is_none_or(|key| key.is_for(algorithm)), "a key is of the kind for its algorithm");
    }
}

// Keys and a token may come together, with an empty line between them.
libfuzzer_sys::fuzz_target!(|text: &str| {
    let (first, rest) = text.split_once("\n\n").unwrap_or((text, text));
    if let Ok(configuration) = serde_json::from_str::<Configuration>(first) {
        configuration.has_scope("groups");
    }
    let keys: Option<Keys> = serde_json::from_str(first).ok();
    read_token(rest, keys.as_ref());
    if let Ok(Tokens { id_token }) = serde_json::from_str(first) {
        read_token(&id_token, None);
    }
});
