//! Apps, for the operator: create, list, change, rotate secrets, delete.

use axum::extract::State;
use http::StatusCode;
use model::app::{AppKey, Mode, Secret};
use model::ids::OperationId;
use model::json::At;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::{App, AppChange, CreatedApp, NewApp, RotatedSecrets, SecretChoice};

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::PathVars;

const NAME_CHARS: usize = 128;

#[derive(Serialize, JsonSchema)]
pub(super) struct AppRecord {
    #[schemars(with = "String")]
    key: AppKey,
    name: String,
    /// `development` or `production`.
    mode: &'static str,
    /// Whether devices may say whose they are.
    device_associations: bool,
    created: String,
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
}

pub(super) async fn create(State(edge): State<Edge>, links: Links, input: Input) -> Result<Answer> {
    let new = input.parse(parse_new_app).await?;
    let created = edge.engine.tenancy().create_app(new, input.idempotency_key).await?;
    let CreatedApp { operation_id, key, name, mode, created, app_secret, master_secret } = created;
    let location = links.to(&format!("/operator/apps/{key}"));
    let app = AppRecord { key, name, mode: mode.name(), device_associations: true, created: created.to_api() };
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
    let app = edge.engine.tenancy().change_app(&key, input.parse(parse_change).await?).await?;
    Answer::changed(OperationId::random(), One { app: AppRecord::from(&*app) })
}

pub(super) async fn delete(State(edge): State<Edge>, PathVars(key): PathVars<String>) -> Result<Answer> {
    edge.engine.tenancy().delete_app(&key).await?;
    Ok(Answer::nothing())
}

pub(super) async fn rotate(State(edge): State<Edge>, PathVars(key): PathVars<String>, input: Input) -> Result<Answer> {
    let choice = input.parse(parse_choice).await?;
    let RotatedSecrets { operation_id, app_secret, master_secret } =
        edge.engine.tenancy().rotate(&key, choice, input.idempotency_key).await?;
    Answer::changed(operation_id, Rotated { app_secret, master_secret })
}

fn parse_new_app(at: &At<'_>) -> Option<NewApp> {
    let mut fields = at.object()?;
    let name = fields.required("name", parse_name);
    let mode = fields.optional("mode", parse_mode).unwrap_or(Mode::Development);
    let key = fields.nullable("key", AppKey::parse);
    let app_secret = fields.nullable("app_secret", Secret::parse);
    let master_secret = fields.nullable("master_secret", Secret::parse);
    fields.finish();
    Some(NewApp { name: name?, mode, key, app_secret, master_secret })
}

fn parse_choice(at: &At<'_>) -> Option<SecretChoice> {
    let choices = [("app", SecretChoice::App), ("master", SecretChoice::Master), ("both", SecretChoice::Both)];
    let mut fields = at.object()?;
    let choice = fields.required("secret", |at| at.choice(&choices));
    fields.finish();
    choice
}

fn parse_name(at: &At<'_>) -> Option<String> {
    let name = at.text(1..=NAME_CHARS)?;
    if name.contains(char::is_control) {
        return at.invalid("A name must not contain control characters.");
    }
    Some(name)
}

fn parse_mode(at: &At<'_>) -> Option<Mode> {
    at.choice(&Mode::NAMED)
}

fn parse_change(at: &At<'_>) -> Option<AppChange> {
    let mut fields = at.object()?;
    let name = fields.optional("name", parse_name);
    let mode = fields.optional("mode", parse_mode);
    let device_associations = fields.optional("device_associations", At::boolean);
    fields.finish();
    Some(AppChange { name, mode, device_associations })
}

impl From<&App> for AppRecord {
    fn from(app: &App) -> Self {
        Self {
            key: app.key.clone(),
            name: app.name.clone(),
            mode: app.mode.name(),
            device_associations: app.device_associations,
            created: app.created.to_api(),
        }
    }
}
