//! The old tag endpoints: flat tags of devices as things of their own.

use axum::extract::State;
use http::StatusCode;
use model::legacy_tag::{BatchRefusal, LegacyTagging, TagBatch};
use model::tag::Tag;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path_vars::PathVars;

#[derive(Serialize, JsonSchema)]
pub(super) struct All {
    #[schemars(with = "Vec<String>")]
    tags: Vec<Tag>,
}

pub(super) async fn list(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    Answer::bare(All { tags: edge.engine.devices().legacy_tags(app.id).await? })
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathVars(tag): PathVars<String>,
) -> Result<Answer> {
    let is_new = rights.devices(&edge).create_legacy_tag(app.id, usable(&tag)?).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::done()?.status(status))
}

pub(super) async fn change(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(tag): PathVars<String>,
    input: Input,
) -> Result<Answer> {
    let tag = usable(&tag)?;
    let tagging = input.parse(LegacyTagging::parse).await?;
    Answer::done_except(edge.engine.devices().tag_devices(app.id, tag, tagging).await?)
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(tag): PathVars<String>,
) -> Result<Answer> {
    let tag = Tag::new(&tag).map_err(|_| Error::NotFound("There is no such tag.".to_owned()))?;
    edge.engine.devices().delete_legacy_tag(app.id, tag).await?;
    Ok(Answer::nothing())
}

/// All rows or none, but for devices that have no room.
pub(super) async fn batch(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let batch = input.read(TagBatch::parse).await?.map_err(|refusal| match refusal {
        BatchRefusal::Body(problems) => Error::Invalid(problems),
        BatchRefusal::Rows(rows) => Error::BatchRows(rows),
    })?;
    Answer::done_except(edge.engine.devices().set_device_tags(app.id, batch).await?)
}

fn usable(tag: &str) -> Result<Tag> {
    Tag::new(tag).map_err(|message| Error::invalid("tag", message))
}
