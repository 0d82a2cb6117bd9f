//! Tag lists and attribute lists: files of channels or named users, whose tags or attributes change by them.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use devices::{ChangeListView, ChangeUpload};
use http::StatusCode;
use model::change_list::{ChangeCsv, ChangeFault, ChangeKind, ChangeRow, NewAttributeList, NewTagList, TagChanges};
use model::channel::TagSets;
use model::csv_cell::CsvFile;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::App;

use super::lists::{PIECE, csv, list_name};
use super::tags::refuse_read_only;
use crate::answer::{Answer, Done};
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::PathVars;
use crate::upload::Upload;

#[derive(Serialize, JsonSchema)]
pub(super) struct TagLists {
    lists: Vec<TagListRecord>,
}

/// Strict client libraries know these keys and no others.
#[derive(Serialize, JsonSchema)]
pub(super) struct TagListRecord {
    #[serde(flatten)]
    list: ChangeListRecord,
    #[serde(flatten)]
    tags: TagRecord,
    /// Named users that the last upload has changed.
    named_user_count: u64,
    /// Rows of the last upload that were applied.
    mutation_success_count: u64,
    /// Rows of the last upload that were not.
    mutation_error_count: u64,
}

/// The tags that are added, removed and set, by group.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TagListTags")]
pub(super) struct TagRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, BTreeSet<String>>>")]
    add: Option<TagSets>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, BTreeSet<String>>>")]
    remove: Option<TagSets>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, BTreeSet<String>>>")]
    set: Option<TagSets>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct AttributeLists {
    lists: Vec<ChangeListRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ChangeListRecord {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<BTreeMap<String, String>>,
    created: String,
    last_updated: String,
    /// Channels that the last upload has changed.
    channel_count: u64,
    /// Where to read about the rows of the last upload that were not applied; empty if there are none.
    error_path: String,
    /// `ready`, `processing` or `failure`.
    status: &'static str,
}

pub(super) async fn create_tag_list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let list = input.parse(NewTagList::parse).await?;
    list.tags.operations().iter().try_for_each(refuse_read_only)?;
    let location = location(&links, ChangeKind::Tags, list.name.as_str());
    let operation_id = edge.engine.devices().create_tag_list(app.id, list, input.idempotency_key).await?;
    Ok(Answer::changed(operation_id, Done {})?.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn create_attribute_list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let list = input.parse(NewAttributeList::parse).await?;
    let location = location(&links, ChangeKind::Attributes, list.name.as_str());
    let operation_id = edge.engine.devices().create_attribute_list(app.id, list, input.idempotency_key).await?;
    Ok(Answer::changed(operation_id, Done {})?.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn tag_lists(State(edge): State<Edge>, CallingApp(app): CallingApp, links: Links) -> Result<Answer> {
    let views = edge.engine.devices().change_lists(app.id, ChangeKind::Tags).await?;
    let record = |view: ChangeListView| TagListRecord {
        tags: view.tags.clone().into(),
        named_user_count: view.counts.named_users,
        mutation_success_count: view.counts.channels + view.counts.named_users,
        mutation_error_count: view.counts.errors,
        list: ChangeListRecord::of(&links, ChangeKind::Tags, view),
    };
    Ok(Answer::ok(TagLists { lists: views.into_iter().map(record).collect() })?.data_attribute("lists"))
}

pub(super) async fn attribute_lists(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
) -> Result<Answer> {
    let views = edge.engine.devices().change_lists(app.id, ChangeKind::Attributes).await?;
    let lists = views.into_iter().map(|view| ChangeListRecord::of(&links, ChangeKind::Attributes, view)).collect();
    Ok(Answer::ok(AttributeLists { lists })?.data_attribute("lists"))
}

pub(super) async fn upload_tags(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
    body: Upload,
) -> Result<Answer> {
    upload(&edge, &app, ChangeKind::Tags, &name, body).await
}

pub(super) async fn upload_attributes(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
    body: Upload,
) -> Result<Answer> {
    upload(&edge, &app, ChangeKind::Attributes, &name, body).await
}

pub(super) async fn tag_errors(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
) -> Result<Response> {
    errors(&edge, &app, ChangeKind::Tags, &name).await
}

pub(super) async fn attribute_errors(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
) -> Result<Response> {
    errors(&edge, &app, ChangeKind::Attributes, &name).await
}

pub(super) async fn delete_tag_list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
) -> Result<Answer> {
    edge.engine.devices().delete_change_list(app.id, ChangeKind::Tags, list_name(&name)?).await?;
    Ok(Answer::nothing())
}

async fn upload(edge: &Edge, app: &App, kind: ChangeKind, name: &str, mut body: Upload) -> Result<Answer> {
    let _permit = edge.admit_transfer(app.id)?;
    let begun = match list_name(name) {
        Ok(name) => edge.engine.devices().begin_change_upload(app.id, kind, name).await.map_err(Error::from),
        Err(error) => Err(error),
    };
    let mut upload = match begun {
        Ok(upload) => upload,
        Err(error) => {
            body.discard().await;
            return Err(error);
        }
    };
    match receive(&mut upload, kind, &mut body).await {
        Ok(columns) => upload.finish(columns).await?,
        Err(error) => {
            body.discard().await;
            // The caller can do something about the refusal only. An upload that is not given up now is when it has taken too long.
            if let Err(error) = upload.give_up().await {
                tracing::debug!(error = &error as &dyn std::error::Error, "an upload could not be given up");
            }
            return Err(error);
        }
    }
    Ok(Answer::done()?.status(StatusCode::ACCEPTED))
}

/// Stores all rows and returns the names of the attributes.
async fn receive(upload: &mut ChangeUpload, kind: ChangeKind, body: &mut Upload) -> Result<Vec<String>> {
    let mut csv = ChangeCsv::new(kind);
    while let Some(chunk) = body.chunk().await? {
        for piece in chunk.chunks(PIECE) {
            for row in csv.feed(piece).map_err(Error::UnusableFile)? {
                take(upload, row).await?;
            }
        }
    }
    let (last, columns) = csv.finish().map_err(Error::UnusableFile)?;
    for row in last {
        take(upload, row).await?;
    }
    Ok(columns)
}

async fn take(upload: &mut ChangeUpload, row: Result<ChangeRow, ChangeFault>) -> Result<()> {
    match row {
        Ok(row) => upload.add(row).await?,
        Err(fault) => upload.leave_out(fault),
    }
    Ok(())
}

async fn errors(edge: &Edge, app: &App, kind: ChangeKind, name: &str) -> Result<Response> {
    let rows = edge.engine.devices().change_list_errors(app.id, kind, list_name(name)?).await?;
    let quoted = |text: &str| CsvFile::ForPeople.quoted(text);
    let lines = rows.iter().map(|row| {
        let problem = format!("Line {}: {}", row.line, row.problem);
        format!("{},ERROR,{}\r\n", quoted(&row.identifier), quoted(&problem))
    });
    Ok(csv(Body::from(lines.collect::<String>())))
}

fn location(links: &Links, kind: ChangeKind, name: &str) -> String {
    links.to(&format!("/api/{}/{name}", kind.path()))
}

impl ChangeListRecord {
    fn of(links: &Links, kind: ChangeKind, view: ChangeListView) -> Self {
        let errors = format!("{}/errors", location(links, kind, &view.name));
        Self {
            error_path: if view.counts.errors > 0 { errors } else { String::new() },
            name: view.name,
            description: view.details.description,
            extra: view.details.extra,
            created: view.created.to_api(),
            last_updated: view.updated.to_api(),
            channel_count: view.counts.channels,
            status: view.status.name(),
        }
    }
}

impl From<TagChanges> for TagRecord {
    fn from(TagChanges { add, remove, set }: TagChanges) -> Self {
        Self { add, remove, set }
    }
}
