//! Web pages that register their browser with nothing but the key of an app. The origin, which browsers tell and pages cannot
//! change, keeps the pages of others out. It does not keep out programs, so what a page gets is a new channel and no more.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::{AUTHORIZATION, ORIGIN};
use model::app::WebOrigin;
use tenancy::Caller;

use super::{WRONG_APP, caller, named_key};
use crate::edge::Edge;
use crate::error::{Error, Result};

/// The caller of a route for pages: by the key of an app and an origin that it allows, or by any other credentials.
pub(super) async fn page(edge: &Edge, headers: &HeaderMap, address: Option<IpAddr>) -> Result<Caller> {
    let Some(key) = named_key(headers).filter(|_| !headers.contains_key(AUTHORIZATION)) else {
        return caller(edge, headers).await;
    };
    let caller = edge.engine.tenancy().caller_by_key(key.trim()).await?.ok_or(WRONG_APP)?;
    let app = caller.app();
    let mut told = headers.get_all(ORIGIN).iter();
    let origin = told.next().filter(|_| told.next().is_none()).and_then(|origin| origin.to_str().ok());
    let origin: Option<WebOrigin> = origin.and_then(|origin| origin.parse().ok());
    if !origin.as_ref().is_some_and(|origin| origin.is_allowed(&app.web_origins, app.mode)) {
        return Err(Error::Forbidden(refusal(origin.as_ref(), app.key.as_str())));
    }
    edge.browser_rate.admit(app.id, address, edge.engine.clock().now())?;
    Ok(caller)
}

fn refusal(origin: Option<&WebOrigin>, key: &str) -> String {
    match origin {
        Some(origin) => format!(
            "Pages of {origin} may not register browsers in this app. The operator allows it with 'aerogram app web-origins {key} \
             --add {origin}'."
        ),
        None => "With the key of the app alone only browsers register, from web pages that come over https, which the header \
                 'Origin' shows. Other callers need the app secret."
            .to_owned(),
    }
}
