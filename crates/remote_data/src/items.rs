//! The things that an app has many of: in-app messages, preference forms, feature flags and holdout groups. Each change is one
//! transaction, which also makes the time of the change the app's, so that every node reads the data again.

use base::{Error, Result, readable};
use boxed::boxed;
use model::ids::{AppId, Id, OperationId};
use model::limits;
use model::problem::Problem;
use model::remote_data::{FeatureFlag, FlagVariables, HoldoutGroup, InAppMessage, PreferenceForm, depth};
use model::selector::Selector;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::documents::{self, Document, DocumentKind};
use store::{Tx, apps, counters};
use targeting::{audience_problems, unknown_pushes};
use tenancy::IdempotencyKey;

use crate::RemoteData;
use crate::constraints::refuse_unknown_constraints;
use crate::documents::Stored;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    Message,
    Form,
    Flag,
    Holdout,
}

/// A thing as it is to be kept.
pub struct Item {
    kind: ItemKind,
    /// Of a thing that callers name by themselves.
    own_id: Option<String>,
    body: Map<String, Value>,
    /// The audiences that the service evaluates, with their paths.
    audiences: Vec<(String, Selector)>,
    constraint_ids: Vec<String>,
}

/// A thing as it is kept.
#[derive(Clone, Debug)]
pub struct ItemView {
    pub id: String,
    pub version: u32,
    pub created: UtcMillis,
    pub updated: UtcMillis,
    pub body: Map<String, Value>,
}

/// The answer to a change of a thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedItem {
    pub operation_id: OperationId,
    pub id: String,
    pub version: u32,
}

/// A thing that callers do not name by themselves.
enum Unnamed {}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Any,
    /// Only what is there.
    Existing,
}

#[boxed]
impl RemoteData {
    /// Keeps a new thing, or the next version of one that callers name by themselves.
    pub async fn create(
        &self,
        app: AppId,
        item: Item,
        notify: bool,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedItem> {
        let id = item.own_id.clone().unwrap_or_else(|| Id::<Unnamed>::at(self.0.clock.now()).to_string());
        self.write(app, id, item, Writing::Any, notify, idempotency_key).await
    }

    pub async fn replace(&self, app: AppId, id: String, item: Item, notify: bool) -> Result<CreatedItem> {
        self.write(app, id, item, Writing::Existing, notify, None).await
    }

    /// Finds everything [`RemoteData::create`] would object to, and keeps nothing.
    pub async fn validate(&self, app: AppId, item: Item) -> Result<()> {
        self.refuse_audiences(&item).await?;
        self.0.store.read(move |tx| item.refuse_unfit(tx, app)).await
    }

    pub async fn delete(&self, app: AppId, kind: ItemKind, id: String) -> Result<()> {
        let now = self.0.clock.now();
        let write = move |tx: &mut Tx<'_>| {
            apps::note_data_change(tx, app, now)?;
            let is_deleted = documents::delete(tx, app, kind.document(), &id)?;
            if let (ItemKind::Message, Ok(id)) = (kind, id.parse()) {
                counters::forget(tx, app, id)?;
            }
            if is_deleted { Ok(()) } else { Err(kind.not_found()) }
        };
        self.0.store.write(app, write).await?;
        self.0.tenancy.forget_known_apps();
        Ok(())
    }

    pub async fn item(&self, app: AppId, kind: ItemKind, id: String) -> Result<ItemView> {
        let read = move |tx: &mut Tx<'_>| {
            let found = documents::get(tx, app, kind.document(), &id)?.ok_or(kind.not_found())?;
            view(&found)
        };
        self.0.store.read(read).await
    }

    /// All of a kind, in the order of their creation: an app has few.
    pub async fn items(&self, app: AppId, kind: ItemKind) -> Result<Vec<ItemView>> {
        let found = self.0.store.read(move |tx| Ok::<_, Error>(documents::list(tx, app, kind.document())?)).await?;
        let views = found.iter().filter_map(|document| readable(kind.document(), &document.id, view(document)));
        let mut views: Vec<ItemView> = views.collect();
        views.sort_by_key(|view| view.created);
        Ok(views)
    }

    async fn write(
        &self,
        app: AppId,
        id: String,
        item: Item,
        writing: Writing,
        notify: bool,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedItem> {
        self.refuse_audiences(&item).await?;
        let (this, now, kind) = (self.clone(), self.0.clock.now(), item.kind);
        let operation_id = OperationId::at(now);
        let change = move |tx: &mut Tx<'_>| {
            item.refuse_unfit(tx, app)?;
            let changed = apps::note_data_change(tx, app, now)?;
            let found = documents::get(tx, app, kind.document(), &id)?;
            if found.is_none() {
                if writing == Writing::Existing {
                    return Err(kind.not_found());
                }
                refuse_too_many(tx, app, kind)?;
            }
            // An unreadable one can be replaced as well.
            let before = found.and_then(|found| readable(kind.document(), &found.id, Stored::read(&found)));
            let stored = Stored::next(before.as_ref(), item.body.clone(), changed);
            stored.put(tx, app, kind.document(), &id, now)?;
            if notify {
                this.notify_devices(tx, app, operation_id, now)?;
            }
            Ok(CreatedItem { operation_id, id: id.clone(), version: stored.version })
        };
        let written = self.0.tenancy.write_once(app, idempotency_key, change).await?;
        self.0.tenancy.forget_known_apps();
        Ok(written)
    }

    /// Audiences that could not be evaluated are refused as they are in a push.
    async fn refuse_audiences(&self, item: &Item) -> Result<()> {
        let mut problems: Vec<Problem> = Vec::new();
        for (path, selector) in &item.audiences {
            self.0.targeting.ready_atlas_for(selector).await?;
            problems.extend(audience_problems(selector, path));
        }
        Error::refuse(problems)
    }
}

impl ItemKind {
    pub(crate) const fn document(self) -> DocumentKind {
        match self {
            ItemKind::Message => DocumentKind::InAppMessage,
            ItemKind::Form => DocumentKind::PreferenceForm,
            ItemKind::Flag => DocumentKind::FeatureFlag,
            ItemKind::Holdout => DocumentKind::HoldoutGroup,
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            ItemKind::Message => "in-app message",
            ItemKind::Form => "preference form",
            ItemKind::Flag => "feature flag",
            ItemKind::Holdout => "holdout group",
        }
    }

    pub(crate) const fn not_found(self) -> Error {
        Error::NotFound(self.noun())
    }

    const fn most(self) -> usize {
        match self {
            ItemKind::Message => limits::IN_APP_MESSAGES_PER_APP,
            ItemKind::Form | ItemKind::Flag | ItemKind::Holdout => limits::REMOTE_DATA_PER_APP,
        }
    }
}

impl Item {
    /// A thing whose body stands at a path of the request. Deeper than this it would be kept, and could never be read.
    fn new(kind: ItemKind, path: &str, body: &impl Serialize) -> Result<Self> {
        let body = serde_json::to_value(body).map_err(Error::internal)?;
        let (depth, most) = (depth(&body), limits::REMOTE_DATA_DEPTH);
        if depth > most {
            let text = format!("Objects and arrays may be nested {most} deep at most; here they are {depth} deep.");
            return Err(Error::invalid(path, text));
        }
        let Value::Object(body) = body else {
            return Err(Error::internal("data for apps is no object"));
        };
        Ok(Self { kind, own_id: None, body, audiences: Vec::new(), constraint_ids: Vec::new() })
    }

    pub fn message(message: InAppMessage) -> Result<Self> {
        let item = Self::new(ItemKind::Message, "in_app_message", &message)?;
        let audience = message.server_audience.map(|selector| ("in_app_message.server_audience".to_owned(), selector));
        let constraint_ids = message.frequency_constraint_ids.unwrap_or_default();
        Ok(Self { audiences: audience.into_iter().collect(), constraint_ids, ..item })
    }

    pub fn form(form: &PreferenceForm) -> Result<Self> {
        Ok(Self { own_id: Some(form.form.id.clone()), ..Self::new(ItemKind::Form, "preference_form", form)? })
    }

    pub fn flag(flag: FeatureFlag) -> Result<Self> {
        let item = Self::new(ItemKind::Flag, "", &flag)?;
        let own = flag.server_audience.map(|selector| ("server_audience".to_owned(), selector));
        let variants = match flag.variables {
            Some(FlagVariables::Variant { variants }) => variants,
            Some(FlagVariables::Fixed { .. }) | None => Vec::new(),
        };
        let of_variants = variants.into_iter().enumerate().filter_map(|(n, variant)| {
            Some((format!("variables.variants[{n}].server_audience"), variant.server_audience?))
        });
        Ok(Self { audiences: own.into_iter().chain(of_variants).collect(), ..item })
    }

    pub fn holdout(group: &HoldoutGroup) -> Result<Self> {
        Self::new(ItemKind::Holdout, "", group)
    }

    fn refuse_unfit(&self, tx: &mut Tx<'_>, app: AppId) -> Result<()> {
        let mut problems = Vec::new();
        for (path, selector) in &self.audiences {
            problems.extend(unknown_pushes(tx, app, selector, path)?);
        }
        Error::refuse(problems)?;
        refuse_unknown_constraints(tx, app, &self.constraint_ids)
    }
}

fn refuse_too_many(tx: &mut Tx<'_>, app: AppId, kind: ItemKind) -> Result<()> {
    let (most, n_there) = (kind.most(), documents::count(tx, app, kind.document())?);
    if usize::try_from(n_there).is_ok_and(|n_there| n_there < most) {
        return Ok(());
    }
    Err(Error::Conflict(format!("An app has at most {most} of these; delete one first.")))
}

fn view(document: &Document) -> Result<ItemView> {
    let Stored { version, created, updated, body } = Stored::read(document)?;
    Ok(ItemView { id: document.id.clone(), version, created, updated, body })
}
