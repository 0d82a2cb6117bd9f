//! The handshake with an endpoint: before anything is sent to it, it must show that it expects us.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, Response, StatusCode};
use model::time::UtcMillis;
use serde::Deserialize;
use uuid::Uuid;

use super::OpenPlatformConfig;
use super::signature::authenticate;
use crate::http::{Client, SendError};

/// Why an endpoint is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    #[error("The endpoint at {url} could not be asked for its confirmation code. {source}")]
    NoAnswer { url: String, source: SendError },
    #[error("The endpoint at {url} answered {status} to the validation request; 200 is needed.")]
    Status { url: String, status: StatusCode },
    #[error("The endpoint at {url} answered the validation request without the content type application/json.")]
    ContentType { url: String },
    #[error("The endpoint at {url} did not answer with JSON of the form {{\"confirmation_code\": \"<uuid>\"}}.")]
    NotConfirmation { url: String },
    #[error("The endpoint at {url} answered with another confirmation code than the platform's validation code.")]
    WrongCode { url: String },
}

#[derive(Deserialize)]
struct Confirmation {
    confirmation_code: Uuid,
}

/// `GET {root}/validate` must answer 200 with the platform's validation code as JSON.
pub async fn validate(client: &Client, config: &OpenPlatformConfig, now: UtcMillis) -> Result<(), HandshakeError> {
    let url = config.url.join("validate");
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = url.clone();
    authenticate(request.headers_mut(), &config.auth, b"", now);

    let url = url.to_string();
    let answer = match client.send(request).await {
        Ok(answer) => answer,
        Err(source) => return Err(HandshakeError::NoAnswer { url, source }),
    };
    judge(&answer, config.validation_code, url)
}

/// Whether an endpoint has confirmed that it expects us.
pub(crate) fn judge(answer: &Response<Bytes>, code: Uuid, url: String) -> Result<(), HandshakeError> {
    if answer.status() != StatusCode::OK {
        return Err(HandshakeError::Status { url, status: answer.status() });
    }
    if !is_json(answer.headers()) {
        return Err(HandshakeError::ContentType { url });
    }
    match serde_json::from_slice::<Confirmation>(answer.body()) {
        Err(_) => Err(HandshakeError::NotConfirmation { url }),
        Ok(answer) if answer.confirmation_code != code => Err(HandshakeError::WrongCode { url }),
        Ok(_) => Ok(()),
    }
}

/// Whether the content type is JSON, with any parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}
