//! The address of a provider that is not its public one: a simulator, a proxy, a private cloud.

use model::json::At;
use model::json::body::Body;
use serde::{Deserialize, Serialize};

use crate::http::{AddressPolicy, WebUrl, check_url};
use crate::keys;

pub(crate) const URL_CHARS: usize = 2048;
const PEM_CHARS: usize = 64 * 1024;

/// Replaces the public address of a provider, for example by that of a proxy.
// Whether the address may be used is up to the caller, who knows the policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Body)]
#[body(not_printed, name = "ProviderEndpoint")]
pub struct Endpoint {
    /// Where it is reached. Paths of the provider are appended.
    #[body(read = web_url, like = String, length = 1..=URL_CHARS)]
    pub url: WebUrl,
    /// PEM of certificate authorities to trust for it, besides the public ones.
    #[body(read = authorities, length = 1..=PEM_CHARS)]
    pub ca: Option<String>,
}

pub(crate) fn web_url(at: &At<'_>) -> Option<WebUrl> {
    let text = at.text(1..=URL_CHARS)?;
    check_url(&text, AddressPolicy::ANY).or_else(|refusal| at.invalid(refusal.to_string()).ok_or(())).ok()
}

fn authorities(at: &At<'_>) -> Option<String> {
    let text = at.text(1..=PEM_CHARS)?;
    match keys::certificates(&text) {
        Ok(_) => Some(text),
        Err(message) => at.invalid(message),
    }
}
