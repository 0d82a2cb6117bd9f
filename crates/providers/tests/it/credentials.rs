//! The credentials of every provider: what is read, what is refused and where the blame lies, and what is shown.

use model::json;
use model::json::body::Read;
use model::time::UtcMillis;
use providers::adm::AdmCredentials;
use providers::apns::ApnsCredentials;
use providers::fcm::FcmCredentials;
use providers::open::OpenPlatformChange;
use providers::platform::{Keys, PlatformConfig, Provider};
use providers::webhook::{NewWebhook, WebhookChange};
use providers::webpush::{WebPushContact, WebPushCredentials};
use providers::wns::WnsCredentials;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use crate::schema_check::check;

/// An RSA key takes seconds to make.
const RSA_KEY: &str = include_str!("../../../sim/keys/service-account.pem");
const SECRET: &str = "do-not-show-this-secret";

fn read(provider: Provider, body: &Value) -> Result<PlatformConfig, Vec<String>> {
    let parsed = json::parse(body.to_string().as_bytes(), |at| PlatformConfig::parse(provider, at));
    if parsed.is_ok() {
        let is_described = match provider {
            Provider::Apns => follows_schema::<Keys<ApnsCredentials>>,
            Provider::Fcm => follows_schema::<Keys<FcmCredentials>>,
            Provider::Adm => follows_schema::<Keys<AdmCredentials>>,
            Provider::Wns => follows_schema::<Keys<WnsCredentials>>,
            Provider::WebPush => follows_schema::<Keys<WebPushCredentials>>,
        };
        is_described(body).unwrap();
    }
    parsed.map_err(|problems| {
        for problem in problems.iter() {
            assert!(problem.message.ends_with('.'), "{}", problem.message);
            assert!(!problem.message.contains(SECRET) && !problem.message.contains("MII"), "{}", problem.message);
        }
        problems.iter().map(|problem| problem.path.clone()).collect()
    })
}

/// The schema is never stricter than the parser.
fn follows_schema<T: JsonSchema>(body: &Value) -> Result<(), String> {
    let mut schemas = SchemaGenerator::default();
    let schema = schemas.subschema_for::<T>().to_value();
    check(&json!({"$defs": schemas.take_definitions(true)}), &schema, body).map(drop)
}

fn paths(provider: Provider, body: &Value) -> Vec<String> {
    read(provider, body).expect_err("the body is wrong")
}

fn p8() -> String {
    KeyPair::generate().unwrap().serialize_pem()
}

fn certificate(until_year: i32) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["com.example.app".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(until_year, 1, 1));
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

fn service_account() -> Value {
    json!({
        "type": "service_account",
        "project_id": "my-app-4e15a",
        "private_key_id": "abc123",
        "private_key": RSA_KEY,
        "client_email": "push@my-app-4e15a.iam.gserviceaccount.com",
        "client_id": "1234",
        "auth_uri": "https://accounts.google.com/o/oauth2/auth",
        "token_uri": "https://oauth2.googleapis.com/token",
        "universe_domain": "googleapis.com",
    })
}

/// A body with one key changed, or taken away by `null`.
fn with(body: &Value, key: &str, value: Value) -> Value {
    let mut body = body.clone();
    let object = body.as_object_mut().unwrap();
    match value {
        Value::Null => drop(object.remove(key)),
        value => drop(object.insert(key.to_owned(), value)),
    }
    body
}

/// What is stored comes back, and neither `Debug` nor the view shows a secret.
fn keeps_its_secrets(provider: Provider, body: &Value, secrets: &[&str]) -> PlatformConfig {
    let config = read(provider, body).unwrap();
    let stored = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<PlatformConfig>(&stored).unwrap(), config);
    let shown = format!("{config:?} {:?}", config.keys());
    for secret in secrets {
        assert!(stored.contains(&json!(secret).to_string()), "the secret is stored");
        assert!(!shown.contains(secret), "{shown}");
    }
    for key in config.keys() {
        assert!(key.fingerprint.len() == 16 && key.fingerprint.bytes().all(|b| b.is_ascii_hexdigit()), "{key:?}");
    }
    config
}

#[test]
fn apns_with_a_signing_key() {
    let key = p8();
    let body = json!({"topic": "com.example.app", "team_id": "TEAM000001", "key_id": "KEY0000001", "key": key});
    let config = keeps_its_secrets(Provider::Apns, &body, &[&key]);
    assert_eq!(config.expires(), None);
    let details = config.keys().remove(0).details;
    assert!(details.contains(&("environment", "production".to_owned())), "{details:?}");
    assert!(details.contains(&("key_id", "KEY0000001".to_owned())), "{details:?}");

    let sandbox = with(&body, "environment", json!("sandbox"));
    let details = read(Provider::Apns, &sandbox).unwrap().keys().remove(0).details;
    assert!(details.contains(&("environment", "sandbox".to_owned())), "{details:?}");

    for (key, value) in [
        ("topic", json!("com example")),
        ("topic", json!("")),
        ("topic", Value::Null),
        ("environment", json!("staging")),
        ("team_id", json!("short")),
        ("team_id", Value::Null),
        ("key_id", json!("lowercase1")),
        ("key", json!(SECRET)),
        ("key", json!(RSA_KEY)),
        ("key", json!("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n")),
        ("key", json!("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n")),
        ("key", json!(7)),
        ("client_secret", json!(SECRET)),
    ] {
        assert_eq!(paths(Provider::Apns, &with(&body, key, value)), [key]);
    }
    assert_eq!(paths(Provider::Apns, &json!({})), ["topic", "team_id", "key_id", "key"]);
}

#[test]
fn apns_with_a_certificate() {
    let (certificate_pem, key) = certificate(2030);
    let body = json!({"topic": "com.example.app", "certificate": certificate_pem, "key": key});
    let config = keeps_its_secrets(Provider::Apns, &body, &[&key]);
    assert_eq!(config.expires(), UtcMillis::parse_api("2030-01-01T00:00:00"));
    assert_eq!(config.keys()[0].expires, config.expires());
    // As `openssl pkcs12` writes them: both in one text, with remarks between.
    let bag = format!("Bag Attributes\n    friendlyName: x\n{certificate_pem}Bag Attributes\n{key}");
    let both = with(&with(&body, "certificate", json!(bag)), "key", json!(bag));
    assert_eq!(read(Provider::Apns, &both).unwrap().keys()[0].fingerprint, config.keys()[0].fingerprint);
    // The certificate that runs out first counts.
    let (older, _) = certificate(2027);
    let chain = with(&body, "certificate", json!(format!("{certificate_pem}{older}")));
    let expires = read(Provider::Apns, &chain).unwrap().expires();
    assert_eq!(expires, UtcMillis::parse_api("2027-01-01T00:00:00"));

    let of_another = p8();
    for (field, value) in [
        ("key", json!(of_another)),
        ("key", json!(certificate_pem)),
        ("key", Value::Null),
        ("certificate", json!(key)),
        ("certificate", json!("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")),
        ("key_id", json!("KEY0000001")),
    ] {
        assert_eq!(paths(Provider::Apns, &with(&body, field, value)), [field]);
    }
}

#[test]
fn fcm_takes_the_file_as_it_was_downloaded() {
    let body = json!({"service_account": service_account()});
    let config = keeps_its_secrets(Provider::Fcm, &body, &[RSA_KEY]);
    let key = config.keys().remove(0);
    assert_eq!(key.details[0], ("project_id", "my-app-4e15a".to_owned()));
    assert_eq!(key.token_uri.unwrap().to_string(), "https://oauth2.googleapis.com/token");

    for (field, value) in [
        ("type", json!("authorized_user")),
        ("type", Value::Null),
        ("project_id", json!("a/b")),
        ("project_id", Value::Null),
        ("client_email", json!("")),
        ("private_key", json!(SECRET)),
        ("private_key", json!(p8())),
        ("private_key", Value::Null),
        ("token_uri", json!("ftp://example.com")),
        ("token_uri", json!("/token")),
    ] {
        let body = json!({"service_account": with(&service_account(), field, value)});
        assert_eq!(paths(Provider::Fcm, &body), [format!("service_account.{field}")]);
    }
    assert_eq!(paths(Provider::Fcm, &service_account())[0], "service_account");
}

#[test]
fn adm_and_wns_have_client_secrets() {
    let adm = json!({"client_id": "amzn1.client", "client_secret": SECRET});
    keeps_its_secrets(Provider::Adm, &adm, &[SECRET]);
    assert_eq!(paths(Provider::Adm, &json!({"client_id": "", "x": 1})), ["client_id", "client_secret", "x"]);

    let store = json!({"package_sid": "ms-app://s-1-15-2-1", "client_secret": SECRET});
    let sdk = json!({"tenant_id": "contoso.onmicrosoft.com", "client_id": "c", "client_secret": SECRET});
    let store_config = keeps_its_secrets(Provider::Wns, &store, &[SECRET]);
    let sdk_config = keeps_its_secrets(Provider::Wns, &sdk, &[SECRET]);
    assert_ne!(store_config.keys()[0].fingerprint, sdk_config.keys()[0].fingerprint);
    assert_eq!(paths(Provider::Wns, &json!({})), ["package_sid", "client_secret"]);
    assert_eq!(paths(Provider::Wns, &with(&store, "package_sid", json!("s-1-15"))), ["package_sid"]);
    assert_eq!(paths(Provider::Wns, &with(&sdk, "tenant_id", json!("../evil"))), ["tenant_id"]);
    assert_eq!(paths(Provider::Wns, &with(&sdk, "package_sid", json!("ms-app://s"))), ["package_sid"]);
}

#[test]
fn web_push_key_pairs_are_proven_in_every_form() {
    let subject = "mailto:push@example.com";
    let own = WebPushCredentials::generate(subject.to_owned()).unwrap();
    let body = json!({"private_key": own.private_key.reveal(), "public_key": own.public_key, "subject": subject});
    let config = keeps_its_secrets(Provider::WebPush, &body, &[own.private_key.reveal()]);
    assert_eq!(config.keys()[0].fingerprint, own.view().fingerprint);
    // The public key follows from PKCS#8, so it need not be given.
    let pem = p8();
    let from_pem = read(Provider::WebPush, &json!({"private_key": pem, "subject": "https://example.com"})).unwrap();
    let public_key = from_pem.keys()[0].details[0].1.clone();
    assert_eq!(public_key.len(), 87);

    // The vectors of RFC 8291, appendix A: keys as 32 and 65 bytes.
    let raw = json!({
        "private_key": "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
        "public_key": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "subject": subject,
    });
    keeps_its_secrets(Provider::WebPush, &raw, &["q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"]);

    assert_eq!(paths(Provider::WebPush, &with(&raw, "public_key", Value::Null)), ["private_key"]);
    assert_eq!(paths(Provider::WebPush, &with(&raw, "public_key", json!(public_key))), ["private_key"]);
    assert_eq!(paths(Provider::WebPush, &with(&raw, "public_key", json!("BCVx"))), ["public_key"]);
    assert_eq!(paths(Provider::WebPush, &with(&raw, "private_key", json!(SECRET))), ["private_key"]);
    for wrong in ["push@example.com", "mailto:", "mailto:nobody", "http://example.com", "https://", "https://a b"] {
        assert_eq!(paths(Provider::WebPush, &with(&raw, "subject", json!(wrong))), ["subject"], "{wrong}");
    }
}

#[test]
fn web_push_has_one_key_pair() {
    let pair = || json!({"private_key": p8(), "subject": "mailto:push@example.com"});
    let (one, other) = (pair(), pair());
    assert_eq!(paths(Provider::WebPush, &json!({"keys": [one, other]})), ["keys[1]"]);
    let config = |body: &Value| read(Provider::WebPush, body).unwrap();
    assert_eq!(config(&json!({"keys": [one]})), config(&one));
    assert_eq!(config(&one).with(config(&other)), None);
    let renamed = config(&with(&one, "subject", json!("https://example.com")));
    assert_eq!(config(&one).with(renamed.clone()), Some(renamed));
}

#[test]
fn endpoints_are_checked_with_the_authority_to_trust() {
    let (ca, _) = certificate(2030);
    let adm = json!({"client_id": "c", "client_secret": SECRET});
    let at = |endpoint: Value| with(&adm, "endpoint", endpoint);
    let config = read(Provider::Adm, &at(json!({"url": "https://localhost:8443", "ca": ca}))).unwrap();
    assert_eq!(config.keys()[0].endpoint.as_ref().unwrap().to_string(), "https://localhost:8443/");
    for (endpoint, path) in [
        (json!("https://localhost"), "endpoint"),
        (json!({}), "endpoint.url"),
        (json!({"url": "localhost"}), "endpoint.url"),
        (json!({"url": "ws://localhost"}), "endpoint.url"),
        (json!({"url": "https://localhost", "ca": "none"}), "endpoint.ca"),
        (json!({"url": "https://localhost", "port": 1}), "endpoint.port"),
    ] {
        assert_eq!(paths(Provider::Adm, &at(endpoint)), [path]);
    }
}

#[test]
fn several_keys_keep_their_order_and_are_told_apart() {
    let key = |n: u32| json!({"client_id": format!("c{n}"), "client_secret": SECRET});
    let fingerprints =
        |config: &PlatformConfig| config.keys().into_iter().map(|key| key.fingerprint).collect::<Vec<_>>();
    let one = read(Provider::Adm, &key(1)).unwrap();
    let two = read(Provider::Adm, &json!({"keys": [key(2), key(1)]})).unwrap();
    let both = one.clone().with(two.clone()).unwrap();
    let [second, first] = <[String; 2]>::try_from(fingerprints(&two)).unwrap();
    assert_eq!(fingerprints(&both), [first.clone(), second.clone()]);
    assert_eq!(fingerprints(&both.clone().without(&first).unwrap()), [second]);
    assert_eq!(one.clone().without(&first), None);

    assert_eq!(paths(Provider::Adm, &json!({"keys": []})), ["keys"]);
    assert_eq!(paths(Provider::Adm, &json!({"keys": [key(1), {}]})), ["keys[1].client_id", "keys[1].client_secret"]);
    assert_eq!(paths(Provider::Adm, &json!({"keys": [key(1)], "client_id": "c"})), ["client_id"]);
    let eleven: Vec<Value> = (0..11).map(key).collect();
    assert_eq!(paths(Provider::Adm, &json!({"keys": eleven})), ["keys"]);
    let ten = read(Provider::Adm, &json!({"keys": eleven[..10]})).unwrap();
    assert_eq!(ten.with(read(Provider::Adm, &key(11)).unwrap()), None);
    let apns = json!({"topic": "a", "team_id": "TEAM000001", "key_id": "KEY0000001", "key": p8()});
    assert_eq!(one.with(read(Provider::Apns, &apns).unwrap()), None);
    assert!(serde_json::from_str::<PlatformConfig>(r#"{"adm":[]}"#).is_err());
}

/// Bodies beside the keys of providers, some of them with every key.
#[test]
fn schemas_accept_what_is_accepted_and_refuse_other_keys() {
    fn both<T: JsonSchema + Read>(body: &Value) {
        assert!(json::parse(body.to_string().as_bytes(), T::read).is_ok(), "{body}");
        follows_schema::<T>(body).unwrap();
        let more = with(body, "surprise", json!(1));
        assert!(json::parse(more.to_string().as_bytes(), T::read).is_err(), "{more}");
        assert!(follows_schema::<T>(&more).is_err(), "{more}");
    }
    let url = "https://example.com/";
    both::<OpenPlatformChange>(&json!({"url": url}));
    let basic = json!({"type": "basic", "user": "u", "password": "p"});
    both::<OpenPlatformChange>(&json!({"url": url, "auth": basic, "enabled": false, "gzip": true, "validate": false}));
    both::<WebPushContact>(&json!({"subject": "mailto:a@b.example", "endpoint": {"url": url}}));
    both::<NewWebhook>(&json!({"url": url, "types": ["OPEN"]}));
    let settings = json!({"url": url, "types": ["OPEN", "SEND"], "name": "n", "authorization": null, "headers": {"x": "1"},
                          "timeout_seconds": 60, "give_up_hours": 168, "enabled": true});
    both::<NewWebhook>(&with(&settings, "start", json!("earliest")));
    both::<WebhookChange>(&settings);
    both::<WebhookChange>(&json!({}));
    assert!(follows_schema::<NewWebhook>(&json!({"url": url})).is_err(), "types are required");
}

#[test]
fn schemas_tell_secrets_and_defaults() {
    let mut schemas = SchemaGenerator::default();
    schemas.subschema_for::<(ApnsCredentials, OpenPlatformChange)>();
    let all = json!(schemas.take_definitions(true));
    let topic = &all["ApnsCredentials"]["properties"]["topic"];
    assert_eq!(
        *topic,
        json!({"type": "string", "minLength": 1, "maxLength": 255, "description": "The bundle id of the app."})
    );
    assert_eq!(all["ApnsCredentials"]["properties"]["environment"]["default"], "production");
    assert_eq!(all["ApnsCredentials"]["required"], json!(["topic"]));
    let [certificate, token] = &all["ApnsCredentials"]["allOf"][0]["oneOf"].as_array().unwrap()[..] else {
        panic!("{all}")
    };
    assert_eq!(certificate["required"], json!(["certificate", "key"]));
    assert_eq!(token["required"], json!(["team_id", "key_id", "key"]));
    assert_eq!(
        (&token["properties"]["key"]["writeOnly"], &token["properties"]["key_id"]["writeOnly"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(all["OpenPlatformChange"]["properties"]["validate"]["default"], true);
}
