//! Preference forms: pages of an app where people subscribe and unsubscribe, named by their callers.

use axum::extract::State;
use model::remote_data::SavedForm;
use remote_data::{Item, ItemKind};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::data_items::{Items, changed};
use super::remote_data::own_key;
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path_vars::PathVars;
use crate::query::plain_text;

const FORMS: Items = Items { kind: ItemKind::Form, id_key: "form_id", one: "preference_form", all: "preference_forms" };

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OnePreferenceForm")]
pub(super) struct One {
    preference_form: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PreferenceForms")]
pub(super) struct All {
    preference_forms: Vec<Map<String, Value>>,
}

/// A form under an id that is there already replaces it.
pub(super) async fn save(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(key): PathVars<String>,
    input: Input,
) -> Result<Answer> {
    own_key(&app, &key)?;
    let form = input.parse(SavedForm::parse).await?.preference_form;
    let item = Item::form(&form)?;
    changed(&edge.engine.remote_data().create(app.id, item, false, input.idempotency_key).await?)
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(key): PathVars<String>,
) -> Result<Answer> {
    own_key(&app, &key)?;
    FORMS.list(&edge, app.id, |preference_forms| All { preference_forms }).await
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((key, id)): PathVars<(String, String)>,
) -> Result<Answer> {
    own_key(&app, &key)?;
    FORMS.look_up(&edge, app.id, form_id(&id)?, |preference_form| One { preference_form }).await
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((key, id)): PathVars<(String, String)>,
) -> Result<Answer> {
    own_key(&app, &key)?;
    FORMS.delete(&edge, app.id, form_id(&id)?).await
}

/// No form has an id with control characters, and the database has no room for them.
fn form_id(text: &str) -> Result<String> {
    plain_text(text).map_err(|_| Error::NotFound("There is no such preference form.".to_owned()))
}
