//! Tokens for the servers of apps.

use model::server_token::{NewOauthClient, NewServerToken};
use serde_json::json;

use crate::openapi::{Area, body};
use crate::routes::{oauth, server_tokens};

pub(super) fn area() -> Area {
    let mut area = Area::new(
        "Tokens",
        "Credentials of servers that can do less than the master secret. A token is sent as `Authorization: Bearer <token>`, with or \
         without `X-UA-Appkey`, wherever the master secret is taken.",
    );
    area.post(
        "/operator/apps/{key}/tokens",
        "Make a token for a server",
        "It may do what a person with its role may, within its scopes, from its addresses, until it ends or is revoked.",
    )
    .body(
        body::of::<NewServerToken>,
        json!({"name": "Shop", "role": "sender", "scopes": ["psh", "nu"], "addresses": ["10.0.0.0/8"], "expires_in": 7_776_000}),
    )
    .changed::<server_tokens::Created>("The token, which is shown only now.")
    .status(201)
    .location()
    .refuses(409, "The app has as many tokens as it can have (40900).");
    area.get(
        "/operator/apps/{key}/tokens",
        "List the tokens of an app",
        "The oldest first, without the tokens themselves.",
    )
    .ok::<server_tokens::All>("The tokens.");
    area.delete("/operator/apps/{key}/tokens/{token_id}", "Revoke a token", "It is refused at once, on all nodes.")
        .nothing("Revoked.");
    area.post(
        "/operator/apps/{key}/oauth-clients",
        "Make an OAuth client for a server",
        "It is limited as a token is, and gets access tokens for an hour by `POST /token`.",
    )
    .body(body::of::<NewOauthClient>, json!({"name": "CRM", "role": "sender", "scopes": ["chn", "nu"]}))
    .changed::<oauth::Created>("The client with its secret and its private key, which are shown only now.")
    .status(201)
    .location()
    .refuses(409, "The app has as many tokens and clients as it can have (40900).");
    area.get(
        "/operator/apps/{key}/oauth-clients",
        "List the OAuth clients of an app",
        "The oldest first, without secrets.",
    )
    .ok::<oauth::All>("The clients.");
    area.delete(
        "/operator/apps/{key}/oauth-clients/{client_id}",
        "Revoke an OAuth client",
        "Its access tokens are refused at once, too, on all nodes.",
    )
    .nothing("Revoked.");
    area.post(
        "/token",
        "Get an access token",
        "For OAuth clients (client credentials): with the client and its secret by HTTP Basic authentication, or with an assertion \
         that the client signs (ES384). `error` is a word of OAuth, and `error_description` a sentence.",
    )
    .text_body(
        "application/x-www-form-urlencoded",
        "grant_type=client_credentials&sub=app%3AAbCdEfGhIjKlMnOpQrStUv&scope=chn+nu&ipaddr=10.0.0.0%2F8",
    )
    .bare::<oauth::Granted>("The access token.")
    .refuses(401, "The client or its secret is wrong: `invalid_client` (40100).")
    .refuses(406, "The Accept header does not take JSON (40600).")
    .refuses(429, "Too many wrong credentials come from this address (42901).");
    area.get(
        "/verify/public_key/{kid}",
        "Fetch the key of access tokens",
        "The public key, on the curve P-384, that the `kid` of an access token names.",
    )
    .variable("kid", json!({"type": "string"}), "The id of the key.")
    .text("application/x-pem-file", "The key.")
    .refuses(404, "There is no such key (40401).");
    area
}
