//! Configuration objects: one table for all kinds, each body the JSON of a type that the caller owns.

use model::app::AppKey;
use model::ids::AppId;
use model::time::UtcMillis;

use crate::apps::read_key;
use crate::{Part, Result, Row, Tx, Value};

/// The kind of a document. The names are stored: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// The address of one open platform, with its secrets, encrypted.
    Platform,
    /// The credentials for one provider, encrypted.
    Provider,
    /// The key pair that an app has for web push from the beginning, encrypted.
    WebKeys,
    /// The app secret, encrypted: signatures of devices can only be checked with it.
    AppSecret,
    /// The key pair that access tokens of OAuth clients are signed with, encrypted: of the installation.
    OauthKey,
    /// What the contact ids of an app's named users follow from.
    ContactKey,
    /// Why a platform is not sent to: refused by its provider, without an answer, or held by the operator.
    PlatformHealth,
    /// That a platform took its credentials, or a message with them, since they were set.
    PlatformProof,
    /// An audience with a name.
    Segment,
    /// An uploaded list, apart from its rows.
    List,
    /// The remains of a deleted list: its name cannot be used again.
    DeletedList,
    /// The rows of a list's last upload that could not be used.
    ListErrors,
    /// A tag list, apart from the rows of its uploads.
    TagList,
    /// The rows of a tag list's last upload that could not be applied.
    TagListErrors,
    /// An attribute list, apart from the rows of its uploads.
    AttributeList,
    /// The rows of an attribute list's last upload that could not be applied.
    AttributeListErrors,
    /// The highest number that an upload of a deleted tag list or attribute list had: numbers are not used again.
    ChangeListNumbers,
    /// A file for bulk sending, apart from its rows.
    BulkUpload,
    /// A request to let many channels enter or leave journeys, which waits for its turn.
    JourneyRequest,
    /// The channels that such a request is about, by block, without those of blocks that are done.
    JourneyAudience,
    /// A push to be sent later, and its progress.
    Schedule,
    /// A message that is being written.
    Draft,
    /// Who gets tests.
    TestGroup,
    /// A push with variables.
    Template,
    /// Texts for one kind of channel.
    ContentTemplate,
    /// That a template was used: it was last changed at the last use.
    TemplateUse,
    /// A message that devices show when something happens in the app.
    InAppMessage,
    /// A page of the app where people subscribe and unsubscribe.
    PreferenceForm,
    /// A part of the app that is on for some devices.
    FeatureFlag,
    /// Devices that are shown no in-app messages.
    HoldoutGroup,
    /// How many in-app messages a device shows in a time: all constraints of an app.
    FrequencyConstraints,
    /// Values for the devices of an app, for all or for a platform.
    RemoteConfig,
    /// Variants of a push, and the progress of each.
    Experiment,
    /// That an experiment waits for its start; sorts by when it comes.
    ExperimentStart,
    /// A push that is sent when something happens, and its progress.
    Pipeline,
    /// The remains of a deleted pipeline.
    DeletedPipeline,
    /// Settings of all pipelines of an app together.
    Automation,
    /// The answers that the sandbox of an app gives next.
    SandboxFaults,
    /// A node, and that it is there: of the installation.
    Node,
    /// A known text, sealed: of the installation, not of any app. The key that opens it is the
    /// installation's.
    InstallationKey,
    /// Something that is written to see whether it can be, and deleted: of the installation.
    WritingTrial,
    /// That the clock of a node is in doubt, and by how much it has jumped: of the installation.
    ClockDoubt,
}

impl DocumentKind {
    pub const fn name(self) -> &'static str {
        match self {
            DocumentKind::Platform => "platform",
            DocumentKind::Provider => "provider",
            DocumentKind::WebKeys => "web_keys",
            DocumentKind::AppSecret => "app_secret",
            DocumentKind::OauthKey => "oauth_key",
            DocumentKind::ContactKey => "contact_key",
            DocumentKind::PlatformHealth => "platform_health",
            DocumentKind::PlatformProof => "platform_proof",
            DocumentKind::Segment => "segment",
            DocumentKind::List => "list",
            DocumentKind::DeletedList => "deleted_list",
            DocumentKind::ListErrors => "list_errors",
            DocumentKind::TagList => "tag_list",
            DocumentKind::TagListErrors => "tag_list_errors",
            DocumentKind::AttributeList => "attribute_list",
            DocumentKind::AttributeListErrors => "attribute_list_errors",
            DocumentKind::ChangeListNumbers => "change_list_numbers",
            DocumentKind::BulkUpload => "bulk_upload",
            DocumentKind::JourneyRequest => "journey_request",
            DocumentKind::JourneyAudience => "journey_audience",
            DocumentKind::Schedule => "schedule",
            DocumentKind::Draft => "draft",
            DocumentKind::TestGroup => "test_group",
            DocumentKind::Template => "template",
            DocumentKind::ContentTemplate => "content_template",
            DocumentKind::TemplateUse => "template_use",
            DocumentKind::InAppMessage => "in_app_message",
            DocumentKind::PreferenceForm => "preference_form",
            DocumentKind::FeatureFlag => "feature_flag",
            DocumentKind::HoldoutGroup => "holdout_group",
            DocumentKind::FrequencyConstraints => "frequency_constraints",
            DocumentKind::RemoteConfig => "remote_config",
            DocumentKind::Experiment => "experiment",
            DocumentKind::ExperimentStart => "experiment_start",
            DocumentKind::Pipeline => "pipeline",
            DocumentKind::DeletedPipeline => "deleted_pipeline",
            DocumentKind::Automation => "automation",
            DocumentKind::SandboxFaults => "sandbox_faults",
            DocumentKind::Node => "node",
            DocumentKind::InstallationKey => "installation_key",
            DocumentKind::WritingTrial => "writing_trial",
            DocumentKind::ClockDoubt => "clock_doubt",
        }
    }

    /// The name of its id in the audit log, as in the paths of the API, if callers choose documents of this kind by it.
    const fn audited_as(self) -> Option<&'static str> {
        match self {
            DocumentKind::Segment => Some("segment_id"),
            DocumentKind::List | DocumentKind::TagList | DocumentKind::AttributeList => Some("list"),
            DocumentKind::BulkUpload => Some("bulk_id"),
            DocumentKind::Schedule => Some("schedule_id"),
            DocumentKind::Draft => Some("draft_id"),
            DocumentKind::Template | DocumentKind::ContentTemplate => Some("template_id"),
            DocumentKind::InAppMessage => Some("automation_id"),
            DocumentKind::PreferenceForm => Some("form_id"),
            DocumentKind::FeatureFlag => Some("flag_id"),
            DocumentKind::HoldoutGroup => Some("holdout_id"),
            DocumentKind::Experiment => Some("experiment_id"),
            DocumentKind::Pipeline => Some("pipeline_id"),
            DocumentKind::Platform
            | DocumentKind::Provider
            | DocumentKind::WebKeys
            | DocumentKind::AppSecret
            | DocumentKind::OauthKey
            | DocumentKind::ContactKey
            | DocumentKind::PlatformHealth
            | DocumentKind::PlatformProof
            | DocumentKind::DeletedList
            | DocumentKind::ListErrors
            | DocumentKind::TagListErrors
            | DocumentKind::AttributeListErrors
            | DocumentKind::ChangeListNumbers
            | DocumentKind::JourneyRequest
            | DocumentKind::JourneyAudience
            | DocumentKind::TestGroup
            | DocumentKind::TemplateUse
            | DocumentKind::FrequencyConstraints
            | DocumentKind::RemoteConfig
            | DocumentKind::ExperimentStart
            | DocumentKind::DeletedPipeline
            | DocumentKind::Automation
            | DocumentKind::SandboxFaults
            | DocumentKind::Node
            | DocumentKind::InstallationKey
            | DocumentKind::WritingTrial
            | DocumentKind::ClockDoubt => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub id: String,
    pub created: UtcMillis,
    pub modified: UtcMillis,
    pub body: String,
}

pub fn put(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str, body: &str, now: UtcMillis) -> Result<()> {
    tx.write(
        "insert into document (app, kind, id, created, modified, body) values ($1, $2, $3, $4, $4, $5)
         on conflict (app, kind, id) do update set modified = excluded.modified, body = excluded.body",
        &[app.into(), kind.name().into(), id.into(), now.into(), body.into()],
    )?;
    if let Some(name) = kind.audited_as() {
        tx.note_object(name, id);
    }
    Ok(())
}

/// As [`put`], but one that is there already stays as it is, also when another node is writing it at this
/// moment.
pub fn put_first(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str, body: &str, now: UtcMillis) -> Result<()> {
    tx.write(
        "insert into document (app, kind, id, created, modified, body) values ($1, $2, $3, $4, $4, $5)
         on conflict (app, kind, id) do nothing",
        &[app.into(), kind.name().into(), id.into(), now.into(), body.into()],
    )?;
    Ok(())
}

pub fn get(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str) -> Result<Option<Document>> {
    tx.query_opt(
        "select id, created, modified, body from document where app = $1 and kind = $2 and id = $3",
        &[app.into(), kind.name().into(), id.into()],
        read_document,
    )
}

pub fn exists(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str) -> Result<bool> {
    let sql = "select count(*) from document where app = $1 and kind = $2 and id = $3";
    let n_found: i64 = tx.query_one(sql, &[app.into(), kind.name().into(), id.into()], |row| row.get(0))?;
    Ok(n_found > 0)
}

const CREATED: &str = "select created from document where app = $1 and kind = $2 and id = $3";

/// Announces a call of [`created`].
pub fn foresee_created(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str) {
    tx.foresee(CREATED, [[app.into(), kind.name().into(), id.into()]]);
}

/// When a document was created, if it exists.
pub fn created(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str) -> Result<Option<UtcMillis>> {
    tx.query_opt(CREATED, &[app.into(), kind.name().into(), id.into()], |row| row.get(0))
}

/// The documents that exist, in the order of the ids.
pub fn get_many(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, ids: &[&str]) -> Result<Vec<Document>> {
    let sql = "select id, created, modified, body from document where app = $1 and kind = $2 and id = $3";
    let wanted = ids.iter().map(|id| [app.into(), kind.name().into(), Value::from(*id)]);
    tx.query_many(sql, wanted, read_document)
}

/// A document without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub id: String,
    pub modified: UtcMillis,
}

/// The heads of all documents, in order of their ids.
pub fn heads(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind) -> Result<Vec<Head>> {
    let sql = "select id, modified from document where app = $1 and kind = $2 order by id";
    tx.query(sql, &[app.into(), kind.name().into()], |row| Ok(Head { id: row.next()?, modified: row.next()? }))
}

pub fn list(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind) -> Result<Vec<Document>> {
    tx.query(
        "select id, created, modified, body from document where app = $1 and kind = $2 order by id",
        &[app.into(), kind.name().into()],
        read_document,
    )
}

/// Visits all documents in order of their ids, one at a time.
pub fn visit(
    tx: &mut Tx<'_>,
    app: AppId,
    kind: DocumentKind,
    order: Order,
    mut visit: impl FnMut(Document) -> Result<()>,
) -> Result<()> {
    let direction = direction(order);
    let sql = format!(
        "select id, created, modified, body from document where app = $1 and kind = $2 order by id {direction}"
    );
    tx.for_each(&sql, &[app.into(), kind.name().into()], |row| visit(read_document(row)?))
}

/// The documents of one kind of every app that still exists.
pub fn of_all_apps(tx: &mut Tx<'_>, part: &Part, kind: DocumentKind) -> Result<Vec<(AppId, AppKey, Document)>> {
    if let Some(keys) = part.keys(tx)? {
        let mut found = Vec::new();
        for (app, key) in keys {
            found.extend(list(tx, app, kind)?.into_iter().map(|document| (app, key.clone(), document)));
        }
        return Ok(found);
    }
    // By way of the apps, so that the key of the table serves for each of them.
    let sql = "select app.id, app.key, document.id, document.created, document.modified, document.body
               from app join document on document.app = app.id and document.kind = $1 order by app.id, document.id";
    tx.query(sql, &[kind.name().into()], |row| Ok((row.next()?, read_key(row.next()?)?, read_document(row)?)))
}

/// In which order a listing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Ascending,
    Descending,
}

/// Up to `at_most` documents in order of their ids, beginning with `start`.
pub fn page(
    tx: &mut Tx<'_>,
    app: AppId,
    kind: DocumentKind,
    start: Option<&str>,
    order: Order,
    at_most: u32,
) -> Result<Vec<Document>> {
    let (begins, direction) = match (start, order) {
        (None, Order::Ascending) => ("", "asc"),
        (None, Order::Descending) => ("", "desc"),
        (Some(_), Order::Ascending) => ("and id >= $4", "asc"),
        (Some(_), Order::Descending) => ("and id <= $4", "desc"),
    };
    let sql = format!(
        "select id, created, modified, body from document
         where app = $1 and kind = $2 {begins} order by id {direction} limit $3"
    );
    let mut params = vec![app.into(), kind.name().into(), at_most.into()];
    params.extend(start.map(Value::from));
    tx.query(&sql, &params, read_document)
}

/// Up to `at_most` documents in order of their ids, after the first `offset` of them.
pub fn slice(
    tx: &mut Tx<'_>,
    app: AppId,
    kind: DocumentKind,
    order: Order,
    offset: u32,
    at_most: u32,
) -> Result<Vec<Document>> {
    let direction = direction(order);
    let sql = format!(
        "select id, created, modified, body from document
         where app = $1 and kind = $2 order by id {direction} limit $3 offset $4"
    );
    tx.query(&sql, &[app.into(), kind.name().into(), at_most.into(), offset.into()], read_document)
}

pub fn count(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind) -> Result<i64> {
    let sql = "select count(*) from document where app = $1 and kind = $2";
    tx.query_one(sql, &[app.into(), kind.name().into()], |row| row.get(0))
}

/// How many characters all bodies of a kind have together.
pub fn n_chars(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind) -> Result<i64> {
    let sql = "select cast(coalesce(sum(length(body)), 0) as bigint) from document where app = $1 and kind = $2";
    tx.query_one(sql, &[app.into(), kind.name().into()], |row| row.get(0))
}

pub fn delete(tx: &mut Tx<'_>, app: AppId, kind: DocumentKind, id: &str) -> Result<bool> {
    let sql = "delete from document where app = $1 and kind = $2 and id = $3";
    Ok(tx.execute(sql, &[app.into(), kind.name().into(), id.into()])? > 0)
}

const fn direction(order: Order) -> &'static str {
    match order {
        Order::Ascending => "asc",
        Order::Descending => "desc",
    }
}

fn read_document(row: &Row<'_>) -> Result<Document> {
    Ok(Document { id: row.next()?, created: row.next()?, modified: row.next()?, body: row.next()? })
}
