//! Apps, for the operator: create, list, change, rotate secrets, delete.

use axum::extract::State;
use http::StatusCode;
use model::app::{AppChange, AppKey, Mode, NewApp, Rotation, UserAspect, UserRules, WebOrigin};
use model::ids::OperationId;
use model::p256::PublicKey;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::{App, CreatedApp, RotatedSecrets, SecretKind};

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::PathVars;

#[derive(Serialize, JsonSchema)]
pub(super) struct AppRecord {
    key: AppKey,
    name: String,
    /// `development` or `production`.
    mode: &'static str,
    /// Who may say what about named users.
    named_users: NamedUserRules,
    /// Above how many devices somebody who uses the console needs the approval of a second person; `null` if nobody does.
    approval_above: Option<u32>,
    /// The origins whose web pages may register browsers; an app in development allows those of the same machine as well.
    #[schemars(with = "Vec<String>")]
    web_origins: Vec<WebOrigin>,
    /// The public key of those who sign with ES256 who the user of a device is, as PEM; `null` if nobody does.
    proof_public_key: Option<String>,
    created: String,
}

/// Each is `devices`, `signed` or `servers`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NamedUserRulesInForce")]
pub(super) struct NamedUserRules {
    associate: &'static str,
    tags: &'static str,
    attributes: &'static str,
    subscriptions: &'static str,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct One {
    app: AppRecord,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct All {
    apps: Vec<AppRecord>,
}

/// The only time the secrets are shown.
#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    app: AppRecord,
    app_secret: String,
    master_secret: String,
}

/// As above, for replaced secrets.
#[derive(Serialize, JsonSchema)]
pub(super) struct Rotated {
    #[serde(skip_serializing_if = "Option::is_none")]
    app_secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    master_secret: Option<String>,
    /// Until when the old ones are good; not there if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    former_ends: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct FormerSecrets {
    former_secrets: Vec<FormerSecret>,
}

/// Where the demonstration of an app in development is.
#[derive(Serialize, JsonSchema)]
pub(super) struct Demo {
    /// With the code that lets the page send to itself.
    link: String,
}

/// A secret that was replaced and is good yet.
#[derive(Serialize, JsonSchema)]
struct FormerSecret {
    /// `app` or `master`.
    secret: &'static str,
    ends: String,
}

pub(super) async fn create(State(edge): State<Edge>, links: Links, input: Input) -> Result<Answer> {
    let new = input.parse(NewApp::parse).await?;
    let created = edge.engine.tenancy().create_app(new, input.idempotency_key).await?;
    let CreatedApp { operation_id, key, name, mode, created, app_secret, master_secret } = created;
    let location = links.to(&format!("/operator/apps/{key}"));
    let named_users = NamedUserRules::of(&UserRules::default(), mode);
    let app = AppRecord {
        key,
        name,
        mode: mode.word(),
        named_users,
        approval_above: None,
        web_origins: Vec::new(),
        proof_public_key: None,
        created: created.to_api(),
    };
    let answer = Answer::changed(operation_id, Created { app, app_secret, master_secret })?;
    Ok(answer.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn list(State(edge): State<Edge>) -> Result<Answer> {
    let apps = edge.engine.tenancy().apps().await?;
    Answer::ok(All { apps: apps.iter().map(AppRecord::from).collect() })
}

pub(super) async fn look_up(State(edge): State<Edge>, PathVars(key): PathVars<String>) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    Answer::ok(One { app: AppRecord::from(&*app) })
}

pub(super) async fn change(State(edge): State<Edge>, PathVars(key): PathVars<String>, input: Input) -> Result<Answer> {
    let app = edge.engine.tenancy().change_app(&key, input.parse(AppChange::parse).await?).await?;
    Answer::changed(OperationId::random(), One { app: AppRecord::from(&*app) })
}

pub(super) async fn delete(State(edge): State<Edge>, PathVars(key): PathVars<String>) -> Result<Answer> {
    edge.engine.tenancy().delete_app(&key).await?;
    Ok(Answer::nothing())
}

pub(super) async fn rotate(State(edge): State<Edge>, PathVars(key): PathVars<String>, input: Input) -> Result<Answer> {
    let rotation = input.parse(Rotation::parse).await?;
    let RotatedSecrets { operation_id, app_secret, master_secret, former_ends } =
        edge.engine.tenancy().rotate(&key, rotation, input.idempotency_key).await?;
    let former_ends = former_ends.map(|ends| ends.to_api());
    Answer::changed(operation_id, Rotated { app_secret, master_secret, former_ends })
}

pub(super) async fn former_secrets(State(edge): State<Edge>, PathVars(key): PathVars<String>) -> Result<Answer> {
    let found = edge.engine.tenancy().former_secrets(&key).await?;
    let shown = found.into_iter().map(|(kind, ends)| FormerSecret { secret: kind.word(), ends: ends.to_api() });
    Answer::ok(FormerSecrets { former_secrets: shown.collect() })
}

pub(super) async fn end_former_secret(
    State(edge): State<Edge>,
    PathVars((key, secret)): PathVars<(String, String)>,
) -> Result<Answer> {
    let kind = [SecretKind::App, SecretKind::Master].into_iter().find(|kind| kind.word() == secret);
    let kind = kind.ok_or_else(|| Error::NotFound("There is no such secret; it is app or master.".to_owned()))?;
    edge.engine.tenancy().end_former_secret(&key, kind).await?;
    Ok(Answer::nothing())
}

pub(super) async fn demo(State(edge): State<Edge>, PathVars(key): PathVars<String>, links: Links) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    if app.mode != Mode::Development {
        return Err(Error::Conflict("The demo is for apps in development.".to_owned()));
    }
    let code = edge.engine.tenancy().demo_code(&key).await?;
    Answer::ok(Demo { link: links.to(&format!("/demo#{key}.{code}")) })
}

impl From<&App> for AppRecord {
    fn from(app: &App) -> Self {
        Self {
            key: app.key.clone(),
            name: app.name.clone(),
            mode: app.mode.word(),
            named_users: NamedUserRules::of(&app.user_rules, app.mode),
            approval_above: app.approval_above,
            web_origins: app.web_origins.clone(),
            proof_public_key: app.proof_public_key.as_ref().map(PublicKey::pem),
            created: app.created.to_api(),
        }
    }
}

impl NamedUserRules {
    /// Those that hold, whether they were set or follow from the mode.
    fn of(rules: &UserRules, mode: Mode) -> Self {
        let rule = |aspect| rules.rule(aspect, mode).word();
        Self {
            associate: rule(UserAspect::Associate),
            tags: rule(UserAspect::Tags),
            attributes: rule(UserAspect::Attributes),
            subscriptions: rule(UserAspect::Subscriptions),
        }
    }
}
