//! Sending to Windows devices.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue, Method, Request};
use model::ids::DeliveryId;
use model::time::UtcMillis;

use super::outcome::judge;
use super::{WnsAuth, WnsCredentials, WnsPush};
use crate::http as web;
use crate::http::{AddressPolicy, WebUrl, check_url};
use crate::network::Network;
use crate::oauth::Access;
use crate::outcome::{Contact, Outcome};
use crate::recipient::Recipient;
use crate::room::Room;

const STORE_LOGIN: &str = "https://login.live.com";
const APP_SDK_LOGIN: &str = "https://login.microsoftonline.com";
/// All channels are below this. Addresses come from devices, and our token must not go anywhere else.
pub(crate) const CHANNEL_HOSTS: &str = ".notify.windows.com";
const CORRELATION: HeaderName = HeaderName::from_static("ms-cv");
/// Messages under way: at first, and at most. Windows speaks HTTP/1.1, so that each of them has a connection to itself.
const ROOM: (usize, usize) = (50, 200);

/// The way to one app's devices; clones share connections and tokens.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    http: web::Client,
    /// Channels at this place are accepted beside Microsoft's.
    own: Option<WebUrl>,
    access: Access,
    room: Room,
}

impl Client {
    pub fn new(credentials: &WnsCredentials, network: &Network) -> Self {
        let endpoint = credentials.endpoint.as_ref();
        Self(Arc::new(Inner {
            http: network.http_for(endpoint),
            own: endpoint.map(|endpoint| endpoint.url.clone()),
            access: access(credentials),
            room: Room::new(ROOM.0, ROOM.1),
        }))
    }

    pub async fn send(&self, push: &WnsPush, recipient: &Recipient<'_>, now: UtcMillis) -> Outcome {
        let inner = &*self.0;
        let Some(channel) = channel(recipient.address, inner.own.as_ref()) else {
            let reason = format!("The address of the channel is not an https URL below {CHANNEL_HOSTS}.");
            return Outcome::Rejected { reason };
        };
        let authorized = |token| {
            let mut request = Request::new(push.body_for(recipient));
            *request.method_mut() = Method::POST;
            *request.uri_mut() = channel.uri().clone();
            let headers = request.headers_mut();
            *headers = push.headers().clone();
            headers.insert(CORRELATION, correlation(recipient.delivery_id));
            headers.insert(AUTHORIZATION, token);
            request
        };
        let outcome = inner.access.send(&inner.http, now, authorized, |answer: &_| judge(answer, now)).await;
        inner.room.learn(&outcome);
        match outcome {
            // The name of the host comes from the device, which may have made it up.
            Outcome::Retry { after, reason, everybody: false, contact: Contact::NotMade }
                if inner.own.is_none() && !recipient.is_proven =>
            {
                Outcome::Retry { after, reason, everybody: false, contact: Contact::Unclear }
            }
            outcome => outcome,
        }
    }

    pub fn room(&self) -> usize {
        self.0.room.allowed()
    }

    /// Proves the credentials by asking for a token. The error is a sentence for the operator.
    pub async fn check(&self, now: UtcMillis) -> Result<(), String> {
        self.0.access.check(&self.0.http, now).await
    }
}

fn access(credentials: &WnsCredentials) -> Access {
    let root =
        |public| credentials.endpoint.as_ref().map_or_else(|| WebUrl::from_static(public), |own| own.url.clone());
    let (service, scope, client_id, client_secret) = match &credentials.auth {
        WnsAuth::Store { package_sid, client_secret } => {
            (root(STORE_LOGIN).join("accesstoken.srf"), "notify.windows.com", package_sid, client_secret)
        }
        WnsAuth::AppSdk { tenant_id, client_id, client_secret } => {
            let path = format!("{tenant_id}/oauth2/v2.0/token");
            (root(APP_SDK_LOGIN).join(&path), "https://wns.windows.com/.default", client_id, client_secret)
        }
    };
    let form = vec![
        ("grant_type", "client_credentials".to_owned()),
        ("client_id", client_id.clone()),
        ("client_secret", client_secret.reveal().to_owned()),
        ("scope", scope.to_owned()),
    ];
    Access::new(service, form)
}

/// Only URLs that the HTTP client accepts: its refusal would seem to concern the app, and not one device.
fn channel(address: &str, own: Option<&WebUrl>) -> Option<WebUrl> {
    let url = check_url(address, AddressPolicy::ANY).ok()?;
    let uri = url.uri();
    let host = uri.host().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    // Behind other ports nobody answers, which takes time from others.
    let is_usual = uri.scheme_str() == Some("https") && matches!(uri.port_u16(), None | Some(443));
    let is_public = is_usual && host.ends_with(CHANNEL_HOSTS);
    let is_own = own.map(|own| (own.uri().scheme(), own.uri().authority())) == Some((uri.scheme(), uri.authority()));
    (is_public || is_own).then_some(url)
}

/// The same for every attempt at one delivery, so that repeats can be recognized.
fn correlation(delivery: DeliveryId) -> HeaderValue {
    let text = format!("{}.0", STANDARD_NO_PAD.encode(delivery.as_bytes()));
    HeaderValue::try_from(text).expect("base64 digits are valid in a header")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_token_goes_to_microsoft_and_to_our_own_endpoint_only() {
        let own = WebUrl::try_from("http://127.0.0.1:8080/wns".to_owned()).unwrap();
        let table = [
            ("https://db5.notify.windows.com/?token=1", true),
            ("https://DB5.Notify.Windows.COM./?token=1", true),
            ("http://127.0.0.1:8080/wns/1", true),
            ("https://db5.notify.windows.com:443/", true),
            ("https://db5.notify.windows.com:25/", false),
            ("http://db5.notify.windows.com/", false),
            ("https://user@db5.notify.windows.com/", false),
            ("https://notify.windows.com.example/", false),
            ("https://evilnotify.windows.com/", false),
            ("https://127.0.0.1:8080/wns/1", false),
            ("http://127.0.0.1:8081/wns/1", false),
            ("/relative", false),
        ];
        for (address, accepted) in table {
            assert_eq!(channel(address, Some(&own)).is_some(), accepted, "{address}");
        }
        assert_eq!(channel("http://127.0.0.1:8080/wns/1", None), None);
    }

    #[test]
    fn correlation_vectors_have_twenty_two_digits() {
        let delivery: DeliveryId = "f0e1d2c3-b4a5-4697-8879-6a5b4c3d2e1f".parse().unwrap();
        assert_eq!(correlation(delivery), "8OHSw7SlRpeIeWpbTD0uHw.0");
    }
}
