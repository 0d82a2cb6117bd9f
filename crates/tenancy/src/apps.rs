//! Apps: creating, changing and deleting them.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use jobs::{ClaimedJob, Job, Stop};
use model::app::{AppChange, AppKey, Mode, NewApp, Rotation, Secret, SecretChoice};
use model::ids::{AppId, OperationId};
use model::p256::PublicKey;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::apps::OPERATOR;
use store::apps::{App, SecretHashes};
use store::former_secrets::{self, FormerSecret, SecretKind};

use crate::callers::sealed_app_secret;
use crate::{IdempotencyKey, Tenancy, credentials};

/// Rows of a deleted app that go in one transaction: few enough that other apps do not wait long.
const ROWS_PER_SLICE: u64 = 1000;

/// A new app and its secrets, which cannot be shown again.
#[derive(Clone, Serialize, Deserialize)]
pub struct CreatedApp {
    pub operation_id: OperationId,
    pub key: AppKey,
    pub name: String,
    pub mode: Mode,
    pub created: UtcMillis,
    pub app_secret: String,
    pub master_secret: String,
}

/// The new secrets, which cannot be shown again.
#[derive(Clone, Serialize, Deserialize)]
pub struct RotatedSecrets {
    pub operation_id: OperationId,
    pub app_secret: Option<String>,
    pub master_secret: Option<String>,
    /// Until when the old ones are good, if they are.
    #[serde(default)]
    pub former_ends: Option<UtcMillis>,
}

#[boxed]
impl Tenancy {
    pub async fn app(&self, key: &str) -> Result<Arc<App>> {
        let known = self.known_app(key).await?.ok_or(Error::NotFound("app"))?;
        Ok(known.app.clone())
    }

    pub async fn apps(&self) -> Result<Vec<App>> {
        Ok(self.0.store.read(store::apps::list).await?)
    }

    /// The operator's name for an app. For the log, also when the app or the database is gone.
    pub async fn key_for_log(&self, app: AppId) -> String {
        self.0.store.read(move |tx| Ok::<_, Error>(key_for_log_in(tx, app))).await.unwrap_or_else(|_| number(app))
    }

    pub async fn create_app(&self, new: NewApp, idempotency_key: Option<IdempotencyKey>) -> Result<CreatedApp> {
        let key = match new.key {
            Some(key) => key,
            None => credentials::new_key()?,
        };
        let (app_secret, master_secret) = (or_new(new.app_secret)?, or_new(new.master_secret)?);
        if app_secret == master_secret {
            return Err(Error::invalid("master_secret", "The two secrets of an app must differ."));
        }
        let row = store::apps::NewApp {
            key: key.clone(),
            name: new.name,
            mode: new.mode,
            created: self.0.clock.now(),
            secrets: SecretHashes {
                app: credentials::hash(app_secret.reveal()),
                master: credentials::hash(master_secret.reveal()),
            },
        };
        let created = CreatedApp {
            operation_id: OperationId::at(row.created),
            key,
            name: row.name.clone(),
            mode: row.mode,
            created: row.created,
            app_secret: app_secret.reveal().to_owned(),
            master_secret: master_secret.reveal().to_owned(),
        };
        let (tenancy, web_keys) = (self.clone(), self.new_web_keys()?);
        let written = self.write_once(OPERATOR, idempotency_key, move |tx| {
            if store::apps::by_key(tx, row.key.as_str())?.is_some() {
                return Err(Error::Conflict(format!("There is an app with the key {} already.", row.key)));
            }
            let app = store::apps::insert(tx, &row)?;
            tx.note_detail("name", row.name.as_str());
            tx.note_detail("mode", row.mode.word());
            tenancy.put_app_secret(tx, app.id, &app_secret, row.created)?;
            tenancy.put_web_keys(tx, app.id, &web_keys, row.created)?;
            Ok(created.clone())
        });
        let created = written.await?;
        self.0.apps.clear();
        Ok(created)
    }

    pub async fn change_app(&self, key: &str, change: AppChange) -> Result<Arc<App>> {
        let app = self.app(key).await?;
        self.0
            .store
            .write(app.id, move |tx| {
                let (current, _) = store::apps::by_id(tx, app.id)?.ok_or(Error::NotFound("app"))?;
                let mut changed = App {
                    name: change.name.as_ref().unwrap_or(&current.name).clone(),
                    mode: change.mode.unwrap_or(current.mode),
                    ..current.clone()
                };
                if let Some(change) = &change.named_users {
                    change.apply(&mut changed.user_rules);
                }
                change.approval_above.update(&mut changed.approval_above);
                if let Some(origins) = &change.web_origins {
                    changed.web_origins = origins.clone();
                }
                change.proof_public_key.update(&mut changed.proof_public_key);
                note_change(tx, &current, &changed);
                store::apps::change(tx, &changed)?;
                Ok::<_, Error>(())
            })
            .await?;
        self.0.apps.clear();
        self.app(key).await
    }

    /// Replaces secrets. The old ones stop working when this returns, or after `overlap`; those before them stop in any case.
    pub async fn rotate(
        &self,
        key: &str,
        Rotation { secret: choice, overlap }: Rotation,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<RotatedSecrets> {
        let app = self.app(key).await?;
        let (new_app, new_master) = match choice {
            SecretChoice::App => (Some(credentials::new_secret()?), None),
            SecretChoice::Master => (None, Some(credentials::new_secret()?)),
            SecretChoice::Both => (Some(credentials::new_secret()?), Some(credentials::new_secret()?)),
        };
        let (tenancy, now) = (self.clone(), self.0.clock.now());
        let operation_id = OperationId::at(now);
        let former_ends = (overlap > 0).then(|| now.plus(Duration::from_secs(u64::from(overlap))));
        let written = self.write_once(app.id, idempotency_key, move |tx| {
            let (_, mut hashes) = store::apps::by_id(tx, app.id)?.ok_or(Error::NotFound("app"))?;
            if let Some(secret) = &new_app {
                let sealed = sealed_app_secret(tx, app.id)?;
                replace(tx, app.id, (SecretKind::App, hashes.app, sealed), former_ends)?;
                hashes.app = credentials::hash(secret.reveal());
                tenancy.put_app_secret(tx, app.id, secret, now)?;
            }
            if let Some(secret) = &new_master {
                replace(tx, app.id, (SecretKind::Master, hashes.master, None), former_ends)?;
                hashes.master = credentials::hash(secret.reveal());
            }
            store::apps::set_secrets(tx, app.id, &hashes)?;
            tx.note_detail("app_secret", new_app.is_some());
            tx.note_detail("master_secret", new_master.is_some());
            tx.note_detail("overlap", overlap);
            let reveal = |secret: &Option<Secret>| secret.as_ref().map(|secret| secret.reveal().to_owned());
            let (app_secret, master_secret) = (reveal(&new_app), reveal(&new_master));
            Ok(RotatedSecrets { operation_id, app_secret, master_secret, former_ends })
        });
        let rotated = written.await?;
        self.0.apps.clear();
        Ok(rotated)
    }

    /// Takes the credentials away at once and erases the app's data in the background.
    pub async fn delete_app(&self, key: &str) -> Result<()> {
        let app = self.app(key).await?;
        let now = self.0.clock.now();
        self.0
            .store
            .write(app.id, move |tx| {
                if !store::apps::delete(tx, app.id)? {
                    return Err(Error::NotFound("app"));
                }
                jobs::enqueue(tx, OPERATOR, now, &EraseApp { app: app.id })
            })
            .await?;
        self.0.apps.clear();
        Ok(())
    }
}

/// Keeps a secret that is replaced until it ends, instead of any that was replaced before.
fn replace(
    tx: &mut Tx<'_>,
    app: AppId,
    (kind, hash, sealed): (SecretKind, [u8; 32], Option<String>),
    ends: Option<UtcMillis>,
) -> Result<()> {
    match ends {
        Some(ends) => former_secrets::put(tx, app, &FormerSecret { kind, hash, sealed, ends })?,
        None => former_secrets::delete(tx, app, kind).map(drop)?,
    }
    Ok(())
}

/// Deletes everything that a deleted app left behind.
#[derive(Serialize, Deserialize)]
pub(crate) struct EraseApp {
    app: AppId,
}

impl Job for EraseApp {
    type Room = Tenancy;
    const NAME: &'static str = "erase_app";

    /// Deletes in slices until nothing is left; running it again deletes nothing more. Nothing is added meanwhile, because the
    /// store refuses writes for a deleted app.
    async fn run(self, tenancy: &Tenancy, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        let (store, app) = (&tenancy.0.store, self.app);
        let part = store.part_of(app);
        while store.write_part(&part, move |tx| store::apps::erase_some(tx, app, ROWS_PER_SLICE)).await? {
            if stop.is_requested() {
                let (claimed, now) = (claimed.clone(), tenancy.0.clock.now());
                store.write(claimed.app, move |tx| jobs::postpone(tx, &claimed, now)).await?;
                return Ok(());
            }
        }
        jobs::settle_alone(store, claimed).await
    }
}

/// Tells the audit log what an app is called, which mode it has, what needs approval, which pages it allows and who
/// signs for its users, before and after.
fn note_change(tx: &mut Tx<'_>, before: &App, after: &App) {
    let shown = |app: &App| {
        let App { name, mode, approval_above, web_origins, proof_public_key, .. } = app;
        serde_json::json!({
            "name": name, "mode": mode.word(), "approval_above": approval_above, "web_origins": web_origins,
            "proof_public_key": proof_public_key.as_ref().map(PublicKey::pem)
        })
    };
    tx.note_detail("before", shown(before));
    tx.note_detail("after", shown(after));
}

/// As [`Tenancy::key_for_log`], within a transaction.
pub fn key_for_log_in(tx: &mut Tx<'_>, app: AppId) -> String {
    let found = store::apps::by_id(tx, app).ok().flatten();
    found.map_or_else(|| number(app), |(app, _)| app.key.as_str().to_owned())
}

fn number(app: AppId) -> String {
    format!("number {}", app.0)
}

fn or_new(secret: Option<Secret>) -> Result<Secret> {
    secret.map_or_else(credentials::new_secret, Ok)
}
