//! Who may call a route, in the words of OpenAPI.

use serde_json::{Value, json};

use crate::auth::Access;

/// The order of the reference, since objects have none.
const ORDER: [&str; 8] =
    ["master_secret", "server_token", "app_secret", "operator_token", "inbox", "device_token", "signature", "app_key"];

/// The credentials there are.
pub(super) fn schemes() -> Value {
    let basic = |text: &str| json!({"type": "http", "scheme": "basic", "description": text});
    let bearer = |text: &str| json!({"type": "http", "scheme": "bearer", "description": text});
    let mut schemes = json!({
        "master_secret": basic("App key and master secret of an app: for servers."),
        "server_token": bearer(
            "A token for a server (from `POST /operator/apps/{key}/tokens`), or the access token of an OAuth client (from `POST /token`): \
             what its role and its scopes allow."
        ),
        "app_secret": basic("App key and app secret: for devices, for one channel or named user at a time."),
        "signature": bearer(
            "A signature made with the app secret over the nonce and the timestamp in `X-UA-Nonce` and `X-UA-Timestamp`, \
             by the app in `X-UA-Appkey`; with `X-UA-Channel-ID` it speaks for that channel. Device libraries make it."
        ),
        "device_token": bearer(
            "A token of a channel (from `GET /api/auth/device`) or of a contact (from `POST /api/contacts/identify/v2`), \
             good for that channel or contact alone."
        ),
        "app_key": {
            "type": "apiKey", "in": "header", "name": "X-UA-Appkey",
            "description": "Only the key of the app, which anybody can know: enough to report events."
        },
        "inbox": basic("The user and the password of an inbox, for that inbox."),
        "operator_token": bearer("The token of the operator, `AEROGRAM_OPERATOR_TOKEN`."),
    });
    for (n, name) in ORDER.into_iter().enumerate() {
        schemes[name]["x-order"] = json!(n);
    }
    schemes
}

/// Any one of these is enough; none is needed if there are none.
pub(super) fn of(access: Access) -> Value {
    let names: &[&str] = match access {
        Access::Probe | Access::Public | Access::Open => &[],
        Access::Master => &["master_secret", "server_token"],
        Access::Device | Access::Signed => &["app_secret", "master_secret", "server_token", "signature"],
        Access::Channel | Access::OwnChannel | Access::Contact => {
            &["app_secret", "master_secret", "server_token", "signature", "device_token"]
        }
        Access::Page | Access::Events => {
            &["app_key", "app_secret", "master_secret", "server_token", "signature", "device_token"]
        }
        Access::Inbox => &["inbox"],
        Access::Operator | Access::Scrape => &["operator_token"],
    };
    names.iter().map(|name| json!({*name: []})).collect()
}

pub(super) const fn is_checked(access: Access) -> bool {
    !matches!(access, Access::Probe | Access::Public | Access::Open)
}

/// Whether there are credentials that are right, but not for what a request is about.
pub(super) const fn may_be_forbidden(access: Access) -> bool {
    match access {
        Access::Device
        | Access::Channel
        | Access::OwnChannel
        | Access::Page
        | Access::Signed
        | Access::Contact
        | Access::Events
        | Access::Master => true,
        Access::Probe | Access::Public | Access::Open | Access::Inbox | Access::Operator | Access::Scrape => false,
    }
}
