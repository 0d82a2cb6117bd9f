//! Remote configuration: values of an app for its devices, for all and for each platform.

use base::{Error, Result, readable};
use boxed::boxed;
use model::ids::{AppId, OperationId};
use model::problem::{Problem, ProblemKind};
use model::remote_data::{ConfigChange, ConfigScope, ConfigUpdate};
use model::time::UtcMillis;
use serde_json::{Map, Value};
use store::documents::{self, DocumentKind};
use store::{Tx, apps};

use crate::RemoteData;
use crate::documents::Stored;

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
        let found = self.0.store.read(move |tx| current(tx, app, scope)).await?;
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
            let before = current(tx, app, scope)?;
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

/// Values that cannot be read would be lost by a change of some of them, and are not shown as if there were none.
fn current(tx: &mut Tx<'_>, app: AppId, scope: ConfigScope) -> Result<Option<Stored>> {
    let Some(found) = documents::get(tx, app, KIND, scope.word())? else { return Ok(None) };
    let read = readable(KIND, &found.id, Stored::read(&found)).ok_or_else(|| {
        let scope = scope.word();
        Error::Conflict(format!(
            "The configuration for '{scope}' can neither be read nor changed, perhaps because another version of the service \
             wrote it; DELETE /api/remote-config/app/<key>/{scope} deletes all of its values, so that they can be set anew."
        ))
    })?;
    Ok(Some(read))
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
