//! The address of a provider that is not its public one: a simulator, a proxy, a private cloud.

use model::json::At;
use serde::{Deserialize, Serialize};

use crate::http::{AddressPolicy, WebUrl, check_url};
use crate::keys;

const URL_CHARS: usize = 2048;
const PEM_CHARS: usize = 64 * 1024;

/// Replaces the public address of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    pub url: WebUrl,
    /// PEM of the certificate authorities to trust for it, besides the public ones.
    pub ca: Option<String>,
}

impl Endpoint {
    /// `{"url", "ca"?}`. Whether the address may be used is up to the caller, who knows the policy.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let url = fields.required("url", web_url);
        let has_ca = fields.has("ca");
        let ca = fields.optional("ca", authorities);
        fields.finish();
        let ca = if has_ca { Some(ca?) } else { None };
        Some(Self { url: url?, ca })
    }
}

/// The optional `endpoint` of credentials; `None` only when it is given and wrong.
pub(crate) fn optional(fields: &mut model::json::Fields<'_>) -> Option<Option<Endpoint>> {
    match fields.has("endpoint") {
        true => fields.optional("endpoint", Endpoint::parse).map(Some),
        false => Some(None),
    }
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
