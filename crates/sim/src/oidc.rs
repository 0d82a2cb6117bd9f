//! An OpenID provider on loopback, with everything that can be wrong with one: it plays the person at the login page, too.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use model::time::Clock;
use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::rsa;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::keys::FCM_PRIVATE_KEY;

pub const OIDC_CLIENT_ID: &str = "aerogram";
pub const OIDC_CLIENT_SECRET: &str = "simulated/oidc secret";

/// Somebody who logs in at the provider.
#[derive(Clone, Debug, Default)]
pub struct OidcPerson {
    pub subject: String,
    pub email: Option<String>,
    pub is_verified: bool,
    pub groups: Vec<String>,
}

/// What is wrong with the token that a person brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OidcFault {
    None,
    WrongNonce,
    WrongAudience,
    OtherParty,
    WrongIssuer,
    Expired,
    AlgorithmNone,
    /// Signed with HMAC, whose key is the public key.
    PublicKeyAsSecret,
    /// The signature of another text.
    WrongSignature,
    UnknownKey,
}

/// The kind of key that the provider signs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OidcKey {
    Rsa,
    P256,
    Ed25519,
}

pub struct OidcProvider {
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    issuer: String,
    clock: Clock,
    rsa: rsa::KeyPair,
    p256: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
    state: Mutex<State>,
}

struct State {
    key: OidcKey,
    /// Changes the ids of all keys.
    generation: u32,
    n_codes: u32,
    codes: HashMap<String, Pending>,
}

/// A login whose code was not used yet.
struct Pending {
    person: OidcPerson,
    fault: OidcFault,
    nonce: String,
    challenge: String,
    back: String,
}

/// What the provider sends a browser back with.
#[derive(Clone, Debug)]
pub struct OidcReturn {
    pub code: String,
    pub state: String,
}

#[expect(clippy::disallowed_methods, reason = "the keys of the simulated provider are made with this")]
fn random() -> SystemRandom {
    SystemRandom::new()
}

impl OidcProvider {
    /// Serves until it is dropped.
    pub async fn start(clock: Clock) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let wrong = |why: &dyn std::fmt::Display| io::Error::other(why.to_string());
        let pem = PrivateKeyDer::from_pem_slice(FCM_PRIVATE_KEY.as_bytes()).map_err(io::Error::other)?;
        let p256 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random()).map_err(|e| wrong(&e))?;
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random()).map_err(|e| wrong(&e))?;
        let shared = Arc::new(Shared {
            issuer: format!("http://{}", listener.local_addr()?),
            clock,
            rsa: rsa::KeyPair::from_pkcs8(pem.secret_der()).map_err(|e| wrong(&e))?,
            p256: EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, p256.as_ref(), &random())
                .map_err(|e| wrong(&e))?,
            ed25519: Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).map_err(|e| wrong(&e))?,
            state: Mutex::new(State { key: OidcKey::Rsa, generation: 1, n_codes: 0, codes: HashMap::new() }),
        });
        let serving = shared.clone();
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = serving.clone();
                tokio::spawn(async move {
                    let service = service_fn(|request| answer(&shared, request));
                    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
                });
            }
        });
        Ok(Self { shared, server })
    }

    pub fn issuer(&self) -> &str {
        &self.shared.issuer
    }

    /// From now on tokens are signed with another kind of key.
    pub fn sign_with(&self, key: OidcKey) {
        self.shared.state.lock().key = key;
    }

    /// All keys get other ids, as if they were others.
    pub fn rotate(&self) {
        self.shared.state.lock().generation += 1;
    }

    /// A person logs in at the address that a browser was sent to. `None` if the request is not as it has to be.
    pub fn log_in(&self, url: &str, person: OidcPerson, fault: OidcFault) -> Option<OidcReturn> {
        let (address, query) = url.split_once('?')?;
        let asked = fields(query);
        let field = |name: &str| asked.get(name).cloned();
        let is_right = address == format!("{}/authorize", self.shared.issuer)
            && field("response_type")? == "code"
            && field("client_id")? == OIDC_CLIENT_ID
            && field("code_challenge_method")? == "S256"
            && field("scope")?.split(' ').any(|scope| scope == "openid");
        if !is_right {
            return None;
        }
        let (nonce, challenge, back) = (field("nonce")?, field("code_challenge")?, field("redirect_uri")?);
        let mut state = self.shared.state.lock();
        state.n_codes += 1;
        let code = format!("code-{}", state.n_codes);
        state.codes.insert(code.clone(), Pending { person, fault, nonce, challenge, back });
        Some(OidcReturn { code, state: field("state")? })
    }
}

impl Drop for OidcProvider {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(shared: &Shared, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let authorization = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (status, answer) = match (&head.method, head.uri.path()) {
        (&Method::GET, "/.well-known/openid-configuration") => (StatusCode::OK, shared.configuration()),
        (&Method::GET, "/keys") => (StatusCode::OK, shared.keys()),
        (&Method::POST, "/token") => match shared.token(authorization, &String::from_utf8_lossy(&body)) {
            Ok(token) => (StatusCode::OK, json!({"access_token": "x", "token_type": "Bearer", "id_token": token})),
            Err(error) => (StatusCode::BAD_REQUEST, json!({"error": error})),
        },
        _ => (StatusCode::NOT_FOUND, json!({"error": "not found"})),
    };
    let mut response = Response::new(Full::new(Bytes::from(answer.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    Ok(response)
}

impl Shared {
    fn configuration(&self) -> Value {
        let issuer = &self.issuer;
        json!({
            "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys"),
            "scopes_supported": ["openid", "email", "profile", "groups"],
        })
    }

    fn keys(&self) -> Value {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let rsa: rsa::PublicKeyComponents<Vec<u8>> = self.rsa.public().into();
        let (point, okp) = (self.p256.public_key().as_ref(), self.ed25519.public_key().as_ref());
        let generation = self.state.lock().generation;
        json!({"keys": [
            {"kty": "RSA", "kid": id(OidcKey::Rsa, generation), "use": "sig", "n": encode(&rsa.n), "e": encode(&rsa.e)},
            {"kty": "EC", "kid": id(OidcKey::P256, generation), "crv": "P-256",
             "x": encode(&point[1..33]), "y": encode(&point[33..])},
            {"kty": "OKP", "kid": id(OidcKey::Ed25519, generation), "crv": "Ed25519", "x": encode(okp)},
            {"kty": "RSA", "kid": "for encryption", "use": "enc", "n": encode(&rsa.n), "e": encode(&rsa.e)},
        ]})
    }

    /// The token for a code, which counts once, for the client that has the secret and the verifier.
    fn token(&self, authorization: &str, form: &str) -> Result<String, &'static str> {
        let basic = authorization.strip_prefix("Basic ").and_then(|basic| STANDARD.decode(basic).ok());
        let basic = basic.map(|basic| String::from_utf8_lossy(&basic).into_owned()).unwrap_or_default();
        let (client, secret) = basic.split_once(':').ok_or("invalid_client")?;
        if (decoded(client).as_str(), decoded(secret).as_str()) != (OIDC_CLIENT_ID, OIDC_CLIENT_SECRET) {
            return Err("invalid_client");
        }
        let asked = fields(form);
        let field = |name: &str| asked.get(name).map(String::as_str).ok_or("invalid_request");
        let mut state = self.state.lock();
        let pending = state.codes.remove(field("code")?).ok_or("invalid_grant")?;
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, field("code_verifier")?.as_bytes()));
        if field("grant_type")? != "authorization_code"
            || field("redirect_uri")? != pending.back
            || challenge != pending.challenge
        {
            return Err("invalid_grant");
        }
        let (key, generation) = (state.key, state.generation);
        drop(state);
        self.id_token(&pending, key, generation)
    }

    fn id_token(&self, pending: &Pending, key: OidcKey, generation: u32) -> Result<String, &'static str> {
        let Pending { person, fault, nonce, .. } = pending;
        let now = self.clock.now().seconds();
        let or = |is_wrong: OidcFault, wrong: Value, right: Value| if *fault == is_wrong { wrong } else { right };
        let claims = json!({
            "iss": or(OidcFault::WrongIssuer, json!("https://elsewhere.example"), json!(self.issuer)),
            "sub": person.subject,
            "aud": match fault {
                OidcFault::WrongAudience => json!("somebody else"),
                OidcFault::OtherParty => json!([OIDC_CLIENT_ID, "somebody else"]),
                _ => json!([OIDC_CLIENT_ID]),
            },
            "azp": or(OidcFault::OtherParty, json!("somebody else"), json!(OIDC_CLIENT_ID)),
            "iat": now, "exp": or(OidcFault::Expired, json!(now), json!(now + 300)),
            "nonce": or(OidcFault::WrongNonce, json!("another"), json!(nonce)),
            "email": person.email, "email_verified": person.is_verified, "name": "Kim Lee", "groups": person.groups,
        });
        let algorithm = match (fault, key) {
            (OidcFault::AlgorithmNone, _) => "none",
            (OidcFault::PublicKeyAsSecret, _) => "HS256",
            (_, OidcKey::Rsa) => "RS256",
            (_, OidcKey::P256) => "ES256",
            (_, OidcKey::Ed25519) => "EdDSA",
        };
        let kid = if *fault == OidcFault::UnknownKey { "unknown".to_owned() } else { id(key, generation) };
        let header = json!({"alg": algorithm, "kid": kid});
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", encode(&header), encode(&claims));
        let signed = if *fault == OidcFault::WrongSignature { "another text" } else { &text };
        let signature = match fault {
            OidcFault::AlgorithmNone => Vec::new(),
            OidcFault::PublicKeyAsSecret => {
                let public: rsa::PublicKeyComponents<Vec<u8>> = self.rsa.public().into();
                hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public.n), signed.as_bytes()).as_ref().to_vec()
            }
            _ => self.sign(key, signed.as_bytes())?,
        };
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn sign(&self, key: OidcKey, text: &[u8]) -> Result<Vec<u8>, &'static str> {
        let failed = |_| "server_error";
        match key {
            OidcKey::Rsa => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                self.rsa.sign(&RSA_PKCS1_SHA256, &random(), text, &mut signature).map_err(failed)?;
                Ok(signature)
            }
            OidcKey::P256 => Ok(self.p256.sign(&random(), text).map_err(failed)?.as_ref().to_vec()),
            OidcKey::Ed25519 => Ok(self.ed25519.sign(text).as_ref().to_vec()),
        }
    }
}

fn id(key: OidcKey, generation: u32) -> String {
    format!("{key:?}-{generation}")
}

/// The fields of a form or a query, of which each name occurs once.
fn fields(text: &str) -> HashMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match (first, after) {
            (b'%', [_, _, ..]) => {
                std::str::from_utf8(&after[..2]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = &rest[if escaped.is_some() { 3 } else { 1 }..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
