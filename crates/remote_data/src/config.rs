//! Remote configuration: values of an app for its devices, for all and for each platform.

use base::{Error, Result, readable};
use boxed::boxed;
use model::ids::{AppId, OperationId};
use model::problem::{Problem, ProblemKind};
use model::remote_data::{ConfigChange, ConfigScope, ConfigUpdate};
use model::time::UtcMillis;
use serde_json::{Map, Value};
use store::documents::{self, Document, DocumentKind};
use store::{Tx, apps};

use crate::RemoteData;
use crate::documents::{Stored, only};

const KIND: DocumentKind = DocumentKind::RemoteConfig;

/// The values for some devices.
#[derive(Clone, Debug, Default)]
pub struct ConfigView {
    /// `None` if there are none.
    pub updated: Option<UtcMillis>,
    pub values: Map<String, Value>,
}

#[boxed]
impl RemoteData {
    pub async fn config(&self, app: AppId, scope: ConfigScope) -> Result<ConfigView> {
        let found = self.0.store.read(move |tx| only(tx, app, KIND, scope.word())).await?;
        Ok(found.map_or_else(ConfigView::default, |stored| ConfigView {
            updated: Some(stored.updated),
            values: stored.body,
        }))
    }

    /// Changes some of the values, and keeps the others.
    pub async fn change_config(&self, app: AppId, scope: ConfigScope, update: ConfigUpdate) -> Result<()> {
        let (this, now) = (self.clone(), self.0.clock.now());
        let write = move |tx: &mut Tx<'_>| {
            let changed = apps::note_data_change(tx, app, now)?;
            let found = documents::get(tx, app, KIND, scope.word())?;
            let before = found.map(|found| changeable(&found, scope)).transpose()?;
            let mut values = before.as_ref().map(|stored| stored.body.clone()).unwrap_or_default();
            let mut problems = Vec::new();
            for (n, change) in update.set_values.iter().flatten().enumerate() {
                if let Err(key) = set(&mut values, change) {
                    problems.push(Problem {
                        path: format!("set_values[{n}].scope"),
                        message: format!(
                            "'{key}' is no object, so nothing can be set below it; set it to an object first."
                        ),
                        kind: ProblemKind::Invalid,
                    });
                }
            }
            Error::refuse(problems)?;
            for deletion in update.deletes.iter().flatten() {
                delete(&mut values, &deletion.scope);
            }
            Stored::next(before.as_ref(), values, changed).put(tx, app, KIND, scope.word(), now)?;
            if update.notify {
                this.notify_devices(tx, app, OperationId::at(now), now)?;
            }
            Ok::<_, Error>(())
        };
        self.0.store.write(app, write).await?;
        self.0.tenancy.forget_known_apps();
        Ok(())
    }

    /// Deletes all values for some devices, also those that cannot be read.
    pub async fn delete_config(&self, app: AppId, scope: ConfigScope) -> Result<()> {
        let now = self.0.clock.now();
        let write = move |tx: &mut Tx<'_>| {
            apps::note_data_change(tx, app, now)?;
            let is_deleted = documents::delete(tx, app, KIND, scope.word())?;
            if is_deleted { Ok(()) } else { Err(Error::NotFound("configuration")) }
        };
        self.0.store.write(app, write).await?;
        self.0.tenancy.forget_known_apps();
        Ok(())
    }
}

/// Values that cannot be read would be lost by a change of some of them.
fn changeable(document: &Document, scope: ConfigScope) -> Result<Stored> {
    readable(KIND, &document.id, Stored::read(document)).ok_or_else(|| {
        let scope = scope.word();
        Error::Conflict(format!(
            "The configuration for '{scope}' cannot be read, perhaps because another version of the service wrote it, and \
             a change of some values would lose the others; DELETE /api/remote-config/app/<key>/{scope} deletes all, so \
             that they can be set anew."
        ))
    })
}

/// Creates objects on the way; a key that leads to another value is the error.
fn set<'c>(values: &mut Map<String, Value>, change: &'c ConfigChange) -> std::result::Result<(), &'c str> {
    let Some((last, way)) = change.scope.split_last() else { return Ok(()) };
    let mut inside = values;
    for key in way {
        let next = inside.entry(key.as_str()).or_insert_with(|| Value::Object(Map::new()));
        inside = next.as_object_mut().ok_or(key.as_str())?;
    }
    inside.insert(last.clone(), change.value.clone());
    Ok(())
}

fn delete(values: &mut Map<String, Value>, scope: &[String]) {
    let Some((last, way)) = scope.split_last() else { return };
    let found = way.iter().try_fold(values, |inside, key| inside.get_mut(key)?.as_object_mut());
    if let Some(inside) = found {
        inside.remove(last);
    }
}
