//! What is asked for to set a platform up.

use maud::{Markup, html};

use super::shown::Shown;
use crate::error::Error;
use crate::form::Fields;
use crate::parts::area::Area;
use crate::parts::fields::{Field, choice};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Line,
    /// Hidden while it is typed, and never shown again.
    Secret,
    /// The contents of a file, with secrets in it.
    File,
    Choice(&'static [(&'static str, &'static str)]),
}

struct Ask {
    name: &'static str,
    label: &'static str,
    kind: Kind,
    hint: &'static str,
    is_required: bool,
}

const fn ask(name: &'static str, label: &'static str, kind: Kind, hint: &'static str, is_required: bool) -> Ask {
    Ask { name, label, kind, hint, is_required }
}

const ENVIRONMENTS: Kind = Kind::Choice(&[
    ("production", "Production: App Store and TestFlight"),
    ("sandbox", "Sandbox: apps run from Xcode"),
]);
const AUTH: Kind = Kind::Choice(&[
    ("none", "Nothing"),
    ("basic", "User name and password"),
    ("signature", "A signature made with a shared secret"),
]);
const PKCS12: &str =
    "Only instead of a .p8 key, as PEM. A .p12 file is converted first: openssl pkcs12 -in certificate.p12 -nodes";

const APNS: &[Ask] = &[
    ask("topic", "Bundle id", Kind::Line, "Such as com.example.app.", true),
    ask("environment", "Environment", ENVIRONMENTS, "", true),
    ask("key", "Contents of the .p8 file", Kind::File, "Or of the private key that belongs to a certificate.", true),
    ask("key_id", "Key id", Kind::Line, "Ten characters; they are in the name of the .p8 file.", false),
    ask("team_id", "Team id", Kind::Line, "Ten characters, from the membership page of the developer account.", false),
    ask("certificate", "Certificate", Kind::File, PKCS12, false),
];
const FCM: &[Ask] = &[ask(
    "service_account",
    "Contents of the service account file",
    Kind::File,
    "In the settings of the Firebase project, under service accounts, generate a new private key, and paste the JSON file as it is.",
    true,
)];
const ADM: &[Ask] = &[
    ask("client_id", "Client id", Kind::Line, "Of the security profile, with Device Messaging enabled.", true),
    ask("client_secret", "Client secret", Kind::Secret, "", true),
];
const WNS: &[Ask] = &[
    ask("package_sid", "Package SID", Kind::Line, "Of an app in the Microsoft Store. It begins with ms-app://.", false),
    ask("tenant_id", "Tenant id", Kind::Line, "Of an app of the Windows App SDK, instead of a package SID.", false),
    ask("client_id", "Client id", Kind::Line, "Goes with the tenant.", false),
    ask("client_secret", "Client secret", Kind::Secret, "", true),
];
const WEBPUSH: &[Ask] = &[
    ask("subject", "Contact", Kind::Line, "Whom push services may turn to: mailto:push@example.com or https://…", true),
    ask(
        "private_key",
        "Private key",
        Kind::File,
        "Every app has a key pair of its own. Bring the one that visitors subscribed with only if you move from another service.",
        false,
    ),
    ask("public_key", "Public key", Kind::Line, "Goes with a private key of 32 bytes.", false),
];
const OPEN: &[Ask] = &[
    ask("url", "URL", Kind::Line, "Messages are posted to push below it.", true),
    ask("auth", "How the endpoint recognizes the service", AUTH, "", true),
    ask("user", "User name", Kind::Line, "Goes with a password.", false),
    ask("secret", "Password or shared secret", Kind::Secret, "", false),
];

fn asks(platform: &str) -> Option<&'static [Ask]> {
    Some(match platform {
        "apns" => APNS,
        "fcm" => FCM,
        "adm" => ADM,
        "wns" => WNS,
        "webpush" => WEBPUSH,
        open if open.strip_prefix("open::").is_some_and(|name| !name.is_empty()) => OPEN,
        _ => return None,
    })
}

/// The names of the fields, which are those of the API.
pub(super) fn names(platform: &str) -> Option<Vec<&'static str>> {
    asks(platform).map(|asks| asks.iter().map(|ask| ask.name).collect())
}

/// The fields, filled with what was typed before or is stored. Secrets are left empty.
pub(super) fn fields(shown: &Shown, typed: &Fields, error: Option<&Error>) -> Markup {
    let value = |name: &str| typed.text(name).or_else(|| stored(shown, name)).unwrap_or_default().to_owned();
    html! {
        @for ask in asks(&shown.platform).unwrap_or_default() {
            @let hint = (!ask.hint.is_empty()).then_some(ask.hint);
            @let field = Field { hint, is_required: ask.is_required, ..Field::text(ask.name, ask.label) };
            @match ask.kind {
                Kind::Line => (field.value(&value(ask.name)).show(error)),
                Kind::Secret => (Field { kind: "password", autocomplete: "new-password", ..field }.show(error)),
                Kind::File => (Area { name: ask.name, label: ask.label, hint, value: "", is_required: ask.is_required }.show(error)),
                Kind::Choice(options) => (choice(ask.name, ask.label, options, &value(ask.name))),
            }
        }
        @if shown.is_open() {
            label.check { input type="checkbox" name="enabled" checked[shown.enabled != Some(false)]; "Send to it" }
            label.check { input type="checkbox" name="validate" checked; "Ask the URL for its confirmation code before saving" }
        } @else {
            details { summary { "A simulator or a proxy instead of the provider" }
                (Field::text("endpoint", "URL").optional().value(&value("endpoint")).show(error))
                (Area { name: "ca", label: "Certificate authority to trust for it, as PEM", hint: None, value: "", is_required: false }.show(error))
            }
        }
    }
}

fn stored<'s>(shown: &'s Shown, name: &str) -> Option<&'s str> {
    match name {
        "url" => shown.url.as_deref(),
        "auth" => shown.auth.as_ref().map(|auth| auth.r#type.as_str()),
        _ => shown.keys.first().and_then(|key| key.details.get(name)).map(String::as_str),
    }
}
