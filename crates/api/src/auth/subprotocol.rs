//! Tokens of devices whose WebSockets cannot have headers: pages in browsers put them among the protocols that they offer.

use http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use http::{HeaderMap, HeaderValue};

/// The protocol of live connections.
pub(crate) const LIVE_PROTOCOL: &str = "aerogram.live.1";
const TOKEN: &str = "token.";

/// Makes the token of an upgrade the credentials of the request, unless it has others. Nothing is left of it where requests are
/// logged or shown.
pub(super) fn adopt_token(headers: &mut HeaderMap) {
    if !headers.contains_key(UPGRADE) {
        return;
    }
    let Some(offered) = headers.get(SEC_WEBSOCKET_PROTOCOL).and_then(|value| value.to_str().ok()) else { return };
    let (tokens, others): (Vec<&str>, Vec<&str>) =
        offered.split(',').map(str::trim).partition(|protocol| protocol.starts_with(TOKEN));
    let token = tokens.first().and_then(|token| token.strip_prefix(TOKEN));
    let token = token.and_then(|token| HeaderValue::from_str(&format!("Bearer {token}")).ok());
    let others = HeaderValue::from_str(&others.join(", ")).ok();
    if let (Some(token), false) = (token, headers.contains_key(AUTHORIZATION)) {
        headers.insert(AUTHORIZATION, token);
    }
    if let Some(others) = others {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_moves_to_where_credentials_are() {
        let adopted = |headers: &[(http::HeaderName, &'static str)]| {
            let pairs = headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
            let mut headers: HeaderMap = pairs.collect();
            adopt_token(&mut headers);
            let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap().to_owned());
            (text(AUTHORIZATION), text(SEC_WEBSOCKET_PROTOCOL))
        };
        let offered = (SEC_WEBSOCKET_PROTOCOL, "aerogram.live.1, token.a.b.c");
        let upgrade = (UPGRADE, "websocket");
        let protocol = Some(LIVE_PROTOCOL.to_owned());
        assert_eq!(adopted(&[offered.clone(), upgrade.clone()]), (Some("Bearer a.b.c".to_owned()), protocol.clone()));
        assert_eq!(adopted(std::slice::from_ref(&offered)).0, None, "no upgrade");
        let basic = (AUTHORIZATION, "Basic eDp5");
        assert_eq!(adopted(&[basic, offered, upgrade]), (Some("Basic eDp5".to_owned()), protocol));
    }
}
