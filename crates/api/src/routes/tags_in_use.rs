//! The tags and tag groups that channels have, for completing them while an audience is written.

use axum::extract::State;
use model::tag::TagGroup;
use schemars::JsonSchema;
use serde::Serialize;
use targeting::{GroupInUse, GroupsInUse, TagCount, TagsInUse};

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::page_size::PageSize;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TagsInUse")]
pub(super) struct Tags {
    group: String,
    /// Those that most channels have, the most first.
    terms: Vec<TagRecord>,
    /// How many tags of the group were found, with those that are not shown.
    total: usize,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TagInUse")]
pub(super) struct TagRecord {
    tag: String,
    /// How many channels have it, by themselves or by way of their named users.
    channels: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TagGroupsInUse")]
pub(super) struct Groups {
    /// In order of their names.
    groups: Vec<GroupRecord>,
    /// How many groups were found, with those that are not shown.
    total: usize,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TagGroupInUse")]
pub(super) struct GroupRecord {
    group: String,
    /// How many of its tags a channel has.
    tags: usize,
    /// Whether its tags follow from the properties of devices and cannot be set.
    read_only: bool,
}

pub(super) async fn tags(State(edge): State<Edge>, CallingApp(app): CallingApp, mut params: Params) -> Result<Answer> {
    let group = params.parsed("group", TagGroup::new).unwrap_or_else(TagGroup::device);
    let (prefix, limit) = (params.text("prefix").unwrap_or_default(), params.limit(PageSize::TAGS_IN_USE));
    params.finish()?;
    let found = edge.engine.targeting().tags_in_use(app.id, group.clone(), prefix, limit as usize).await?;
    let TagsInUse { tags, n_all } = found;
    let record = |TagCount { tag, n_channels }: TagCount| TagRecord { tag: tag.to_string(), channels: n_channels };
    let terms = tags.into_iter().map(record).collect();
    Ok(Answer::ok(Tags { group: group.to_string(), terms, total: n_all })?.data_attribute("terms"))
}

pub(super) async fn groups(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    mut params: Params,
) -> Result<Answer> {
    let (prefix, limit) = (params.text("prefix").unwrap_or_default(), params.limit(PageSize::TAGS_IN_USE));
    params.finish()?;
    let GroupsInUse { groups, n_all } = edge.engine.targeting().groups_in_use(app.id, prefix, limit as usize).await?;
    let record = |GroupInUse { group, n_tags }: GroupInUse| GroupRecord {
        read_only: group.is_read_only(),
        group: group.to_string(),
        tags: n_tags,
    };
    let groups = groups.into_iter().map(record).collect();
    Ok(Answer::ok(Groups { groups, total: n_all })?.data_attribute("groups"))
}
