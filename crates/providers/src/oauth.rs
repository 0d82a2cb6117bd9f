//! Access tokens: credentials go to a provider's token service as a form, and a token comes back for a while.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use model::time::UtcMillis;
use serde::Deserialize;
use serde_json::Value;

use crate::http::Client;
use crate::outcome::{Contact, Outcome, Verdict, cut, retry_after};
use crate::request::percent_encoded;
use crate::token::{Token, TokenCache};

/// The lifetime of tokens when the service does not give one.
const USUAL_LIFETIME: Duration = Duration::from_secs(3600);
/// No more of what a token service says is kept as a reason.
const MOST_REASON_CHARS: usize = 300;

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    /// Seconds; some services write them as text.
    expires_in: Option<Value>,
}

#[derive(Default, Deserialize)]
struct Refused {
    error: Option<String>,
    error_description: Option<String>,
}

/// Access to a provider that hands out tokens for credentials that stay the same.
pub(crate) struct Access {
    service: Uri,
    /// The credentials that we show.
    form: Vec<(&'static str, String)>,
    tokens: TokenCache,
}

impl Access {
    pub(crate) fn new(service: Uri, form: Vec<(&'static str, String)>) -> Self {
        Self { service, form, tokens: TokenCache::default() }
    }

    /// Sends the request that `authorized` makes of a token, and judges the answer. A token that is refused is replaced once.
    pub(crate) async fn send(
        &self,
        http: &Client,
        now: UtcMillis,
        authorized: impl Fn(HeaderValue) -> Request<Bytes>,
        judge: impl Fn(&Response<Bytes>) -> (Verdict, Outcome),
    ) -> Outcome {
        let mut is_first = true;
        loop {
            let token = match self.tokens.get(now, async || self.fetch(http, now).await).await {
                Ok(token) => token,
                Err(outcome) => return outcome,
            };
            let (verdict, outcome) = match http.send(authorized(token.clone())).await {
                Ok(answer) => judge(&answer),
                Err(error) => return Outcome::of_error(&error),
            };
            if verdict == Verdict::Renew {
                self.tokens.discard(&token);
                if is_first {
                    is_first = false;
                    continue;
                }
            }
            return outcome;
        }
    }

    /// Proves the credentials by asking for a token. The error is a sentence.
    pub(crate) async fn check(&self, http: &Client, now: UtcMillis) -> Result<(), String> {
        match self.fetch(http, now).await {
            Ok(_) => Ok(()),
            Err(
                Outcome::Retry { reason, .. }
                | Outcome::Refused { reason, .. }
                | Outcome::ActivityEnded { reason }
                | Outcome::Rejected { reason }
                | Outcome::Unauthorized { reason },
            ) => Err(reason),
            Err(Outcome::Delivered | Outcome::Moved { .. } | Outcome::Gone { .. }) => {
                Err("There is no token.".to_owned())
            }
        }
    }

    async fn fetch(&self, http: &Client, now: UtcMillis) -> Result<Token, Outcome> {
        let form: Vec<(&str, &str)> = self.form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        fetch(http, self.service.clone(), &form, now).await
    }
}

/// Asks `service` for a token. An error concerns every message.
pub(crate) async fn fetch(
    http: &Client,
    service: Uri,
    form: &[(&str, &str)],
    now: UtcMillis,
) -> Result<Token, Outcome> {
    let fields: Vec<String> =
        form.iter().map(|(name, value)| format!("{}={}", percent_encoded(name), percent_encoded(value))).collect();
    let mut request = Request::new(Bytes::from(fields.join("&")));
    *request.method_mut() = Method::POST;
    let host = service.host().unwrap_or_default().to_owned();
    *request.uri_mut() = service;
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded;charset=UTF-8"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    match http.send(request).await {
        Ok(answer) => read(&answer, &host, now),
        Err(error) => Err(match Outcome::of_error(&error) {
            Outcome::Retry { after, reason, everybody: _, contact } => {
                let reason = format!("No access token could be fetched from {host}: {reason}");
                Outcome::Retry { after, reason, everybody: true, contact }
            }
            other => other,
        }),
    }
}

pub(crate) fn read(answer: &Response<Bytes>, host: &str, now: UtcMillis) -> Result<Token, Outcome> {
    let status = answer.status();
    if status == StatusCode::OK {
        let Ok(granted) = serde_json::from_slice::<Granted>(answer.body()) else {
            let reason = format!("{host} answered a request for an access token without one.");
            return Err(Outcome::Retry { after: None, reason, everybody: true, contact: Contact::Made });
        };
        return Token::bearer(&granted.access_token, lifetime(granted.expires_in.as_ref()), now);
    }
    let refused: Refused = serde_json::from_slice(answer.body()).unwrap_or_default();
    let mut reason = format!("{host} answered {status} to a request for an access token");
    for part in [refused.error, refused.error_description].into_iter().flatten() {
        reason.push_str(": ");
        reason.extend(part.chars().take(MOST_REASON_CHARS));
    }
    let reason = cut(reason);
    let is_temporary = status.is_server_error()
        || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS);
    Err(match is_temporary {
        true => {
            let after = retry_after(answer.headers(), now);
            Outcome::Retry { after, reason, everybody: true, contact: Contact::Made }
        }
        false => Outcome::Unauthorized { reason },
    })
}

fn lifetime(expires_in: Option<&Value>) -> Duration {
    let seconds = expires_in.and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
    seconds.map_or(USUAL_LIFETIME, Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UtcMillis = UtcMillis(0);

    fn of(status: u16, body: &'static str) -> Result<Token, Outcome> {
        let answer = Response::builder().status(status).header("retry-after", "7").body(Bytes::from(body)).unwrap();
        read(&answer, "auth.example", NOW)
    }

    #[test]
    fn tokens_and_how_long_they_live() {
        let table = [
            (r#"{"access_token":"a","expires_in":60,"token_type":"bearer"}"#, 60),
            (r#"{"access_token":"a","expires_in":"86400"}"#, 86_400),
            (r#"{"access_token":"a"}"#, 3600),
        ];
        for (body, seconds) in table {
            let token = of(200, body).unwrap();
            assert_eq!((token.header.to_str().unwrap(), token.expires_at.0), ("Bearer a", seconds * 1000), "{body}");
        }
    }

    #[test]
    fn refusals_pause_and_failures_wait() {
        for status in [400, 401, 403, 404] {
            let body = r#"{"error":"invalid_client","error_description":"Who are you?"}"#;
            let Err(Outcome::Unauthorized { reason }) = of(status, body) else { panic!("{status}") };
            assert!(
                reason.ends_with("invalid_client: Who are you?") && reason.contains(&status.to_string()),
                "{reason}"
            );
        }
        for status in [408, 425, 429, 500, 503] {
            let Err(Outcome::Retry { after, everybody, .. }) = of(status, "") else { panic!("{status}") };
            assert_eq!((after, everybody), (Some(Duration::from_secs(7)), true), "{status}");
        }
        assert!(matches!(of(200, "<html>"), Err(Outcome::Retry { everybody: true, .. })));
    }
}
