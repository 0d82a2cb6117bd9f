//! The bodies of the operator's requests, whose parsers are beside their handlers and in `providers`.

use model::app::Mode;
use model::event::RecordKind;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

pub(crate) fn new_app(_: &mut SchemaGenerator) -> Schema {
    let secret = || {
        json!({
            "type": ["string", "null"], "pattern": "^[A-Za-z0-9_-]{22}$",
            "description": "22 characters; made at random if there are none.",
        })
    };
    object(
        &["name"],
        &json!({
            "name": name(),
            "mode": mode(),
            "key": secret(), "app_secret": secret(), "master_secret": secret(),
        }),
    )
}

pub(crate) fn app_change(_: &mut SchemaGenerator) -> Schema {
    let associations = "Whether devices may say whose they are; if not, only servers can.";
    object(
        &[],
        &json!({
            "name": name(), "mode": mode(), "device_associations": {"type": "boolean", "description": associations},
        }),
    )
}

pub(crate) fn secret_choice(_: &mut SchemaGenerator) -> Schema {
    let choices =
        json!({"type": "string", "enum": ["app", "master", "both"], "description": "Which secret to replace."});
    object(&["secret"], &json!({"secret": choices}))
}

pub(crate) fn platform_pause(_: &mut SchemaGenerator) -> Schema {
    let reason = "Shown with the platform and in the reports of pushes that wait for it.";
    object(&[], &json!({"reason": {"type": "string", "minLength": 1, "maxLength": 1000, "description": reason}}))
}

/// Credentials by provider, or the endpoint of an open platform.
pub(crate) fn platform(_: &mut SchemaGenerator) -> Schema {
    let mut forms = vec![open_platform().to_value()];
    forms.push(keyed("`webpush` with the key pair that the app has", &["subject"], json!({"subject": subject()})));
    forms.extend(credentials());
    forms.push(several());
    json_schema!({"anyOf": forms})
}

/// As above, but keys of providers only.
pub(crate) fn platform_keys(_: &mut SchemaGenerator) -> Schema {
    let mut forms = credentials();
    forms.push(several());
    json_schema!({"anyOf": forms})
}

pub(crate) fn new_webhook(_: &mut SchemaGenerator) -> Schema {
    let mut keys = webhook_keys();
    keys["start"] = json!({
        "type": "string", "enum": ["now", "earliest"], "default": "now", "description": "With which events to begin."
    });
    object(&["url", "types"], &keys)
}

pub(crate) fn webhook_change(_: &mut SchemaGenerator) -> Schema {
    object(&[], &webhook_keys())
}

pub(crate) fn replay(_: &mut SchemaGenerator) -> Schema {
    let offset = json!({"type": "string", "pattern": "^[0-9]+$", "description": "After which event to begin again."});
    let time = json!({
        "type": "string", "examples": ["2026-01-31T12:00:00"], "description": "At which time in UTC to begin again."
    });
    let forms = [object(&["offset"], &json!({"offset": offset})), object(&["time"], &json!({"time": time}))];
    json_schema!({"oneOf": forms})
}

fn object(required: &[&str], properties: &Value) -> Schema {
    json_schema!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

fn name() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 128, "description": "For people. No control characters."})
}

fn mode() -> Value {
    let words = Mode::NAMED.map(|(word, _)| word);
    let text = "A development app delivers to the sandbox what it has no credentials for. The default is development.";
    json!({"type": "string", "enum": words, "description": text})
}

fn url() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 2048})
}

fn text(about: &str) -> Value {
    json!({"type": "string", "minLength": 1, "description": about})
}

fn subject() -> Value {
    text("`mailto:` or `https:` address that push services may turn to.")
}

fn open_platform() -> Schema {
    let auth = json!({"oneOf": [
        object(&["type"], &json!({"type": {"const": "none"}})),
        object(&["type", "user", "password"], &json!({
            "type": {"const": "basic"}, "user": text("The user of HTTP Basic authentication."), "password": text("The password.")
        })),
        object(&["type", "secret"], &json!({
            "type": {"const": "signature"}, "secret": text("The key of the HMAC-SHA256 in `X-UA-SIGNATURE`.")
        })),
    ], "description": "How the endpoint knows that requests are ours. The default is none."});
    let mut schema = object(
        &["url"],
        &json!({
            "url": url(),
            "auth": auth,
            "enabled": {"type": "boolean", "default": true},
            "gzip": {"type": "boolean", "default": false, "description": "Whether to pack requests."},
            "validate": {"type": "boolean", "default": true, "description": "Whether the endpoint has to answer a handshake."},
        }),
    );
    schema.insert("description".to_owned(), "The endpoint of an open platform.".into());
    schema
}

/// One form of credentials, all of which can lead elsewhere.
fn keyed(platform: &str, required: &[&str], mut keys: Value) -> Value {
    keys["endpoint"] =
        object(&["url"], &json!({"url": url(), "ca": text("PEM of an authority to trust besides the public ones.")}))
            .to_value();
    let mut schema = object(required, &keys).to_value();
    schema["description"] = format!("For {platform}.").into();
    schema
}

fn credentials() -> Vec<Value> {
    let environment = || json!({"type": "string", "enum": ["production", "sandbox"], "default": "production"});
    let topic = || text("The bundle id of the app.");
    vec![
        keyed(
            "`apns` with a signing key",
            &["topic", "team_id", "key_id", "key"],
            json!({
                "topic": topic(), "environment": environment(), "team_id": text("Ten characters."),
                "key_id": text("Ten characters."), "key": text("The text of the .p8 file."),
            }),
        ),
        keyed(
            "`apns` with a certificate",
            &["topic", "certificate", "key"],
            json!({
                "topic": topic(), "environment": environment(), "certificate": text("PEM."), "key": text("PEM."),
            }),
        ),
        keyed(
            "`fcm`",
            &["service_account"],
            json!({"service_account": {"type": "object", "description": "The JSON file of a service account, as it was downloaded."}}),
        ),
        keyed(
            "`adm`",
            &["client_id", "client_secret"],
            json!({"client_id": text("Of the security profile."), "client_secret": text("Its secret.")}),
        ),
        keyed(
            "`wns`, of an app of the store",
            &["package_sid", "client_secret"],
            json!({"package_sid": text("Of the app in the store."), "client_secret": text("Its secret.")}),
        ),
        keyed(
            "`wns`, of an app of the Windows App SDK",
            &["tenant_id", "client_id", "client_secret"],
            json!({
                "tenant_id": text("Of an app of the Windows App SDK."), "client_id": text("Its id."),
                "client_secret": text("Its secret."),
            }),
        ),
        keyed(
            "`webpush` with a key pair of your own",
            &["subject", "private_key"],
            json!({
                "subject": subject(), "private_key": text("base64url of 32 bytes or PKCS#8, or PEM."),
                "public_key": text("base64url; needed beside a private key of 32 bytes."),
            }),
        ),
    ]
}

fn several() -> Value {
    let mut schema = object(
        &["keys"],
        &json!({"keys": {"type": "array", "minItems": 1, "maxItems": 10, "items": {"anyOf": credentials()}}}),
    )
    .to_value();
    schema["description"] = "Several keys of one provider, in the order in which they are tried.".into();
    schema
}

fn webhook_keys() -> Value {
    let types: Vec<_> = RecordKind::NUMBERED.into_iter().filter_map(|(_, kind)| kind.public_name()).collect();
    let value = |about: &str| json!({"type": "string", "minLength": 1, "maxLength": 4096, "description": about});
    let mut authorization = value("The whole value of the `Authorization` header; null takes it away.");
    authorization["type"] = json!(["string", "null"]);
    json!({
        "name": name(),
        "url": url(),
        "types": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": types}},
        "authorization": authorization,
        "headers": {"type": "object", "maxProperties": 32, "additionalProperties": value("The value of a header.")},
        "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 60, "default": 10},
        "give_up_hours": {"type": "integer", "minimum": 1, "maximum": 168, "default": 24},
        "enabled": {"type": "boolean", "default": true},
    })
}
