//! Frequency constraints, all of an app in one document.

use base::{Error, Result, readable};
use boxed::boxed;
use model::ids::AppId;
use model::problem::{Problem, ProblemKind};
use model::remote_data::FrequencyConstraints;
use serde_json::{Map, Value};
use store::documents::{self as stored_documents, DocumentKind};
use store::{Tx, apps};

use crate::RemoteData;
use crate::documents::{ONLY, Stored, known};

const KIND: DocumentKind = DocumentKind::FrequencyConstraints;
/// The key of the list, in requests and in answers.
const LIST: &str = "frequency_constraints";

#[boxed]
impl RemoteData {
    /// The constraints of an app, as they were given; none, as for devices, if they cannot be read.
    pub async fn frequency_constraints(&self, app: AppId) -> Result<Vec<Value>> {
        self.0.store.read(move |tx| Ok(listed(known(tx, app, KIND, ONLY)?.map(|stored| stored.body)))).await
    }

    /// Replaces all constraints. One that an in-app message names has to stay: devices would not show that message again.
    pub async fn set_frequency_constraints(&self, app: AppId, constraints: FrequencyConstraints) -> Result<()> {
        let now = self.0.clock.now();
        let write = move |tx: &mut Tx<'_>| {
            for document in stored_documents::list(tx, app, DocumentKind::InAppMessage)? {
                // One that cannot be read is shown nowhere, and stops nothing.
                let stored = readable(DocumentKind::InAppMessage, &document.id, Stored::read(&document));
                let used = stored.map_or_else(Vec::new, |stored| named(&stored.body));
                if let Some(id) = used.iter().find(|id| !constraints.has(id)) {
                    let text =
                        format!("The in-app message {} names the constraint '{id}'; change it first.", document.id);
                    return Err(Error::Conflict(text));
                }
            }
            let changed = apps::note_data_change(tx, app, now)?;
            let before = known(tx, app, KIND, ONLY)?;
            let body = match serde_json::to_value(&constraints).map_err(Error::internal)? {
                Value::Object(body) => body,
                _ => return Err(Error::internal("constraints are no object")),
            };
            Stored::next(before.as_ref(), body, changed).put(tx, app, KIND, ONLY, now)
        };
        self.0.store.write(app, write).await?;
        self.0.tenancy.forget_known_apps();
        Ok(())
    }
}

/// A message that names a constraint which devices do not know is never shown.
pub(crate) fn refuse_unknown_constraints(tx: &mut Tx<'_>, app: AppId, ids: &[String]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let there = listed(known(tx, app, KIND, ONLY)?.map(|stored| stored.body));
    let is_there = |id: &String| there.iter().any(|constraint| constraint["id"] == **id);
    let problems = ids.iter().enumerate().filter(|(_, id)| !is_there(id)).map(|(n, id)| Problem {
        path: format!("in_app_message.frequency_constraint_ids[{n}]"),
        message: format!(
            "There is no frequency constraint '{id}'; PUT /api/in-app/<key>/frequency-constraints sets them."
        ),
        kind: ProblemKind::Invalid,
    });
    Error::refuse(problems.collect())
}

/// The list inside the stored document.
pub(crate) fn listed(body: Option<Map<String, Value>>) -> Vec<Value> {
    match body.and_then(|mut body| body.remove(LIST)) {
        Some(Value::Array(constraints)) => constraints,
        _ => Vec::new(),
    }
}

/// The constraints that a message names.
fn named(message: &Map<String, Value>) -> Vec<String> {
    let ids = message.get("frequency_constraint_ids").and_then(Value::as_array);
    ids.into_iter().flatten().filter_map(|id| Some(id.as_str()?.to_owned())).collect()
}
