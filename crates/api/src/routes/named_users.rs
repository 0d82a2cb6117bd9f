//! Named users: associating channels, lookup and listing, and uninstalling all channels of a user.

use axum::extract::State;
use model::app::UserAspect;
use model::ids::NamedUserId;
use model::named_user::{Association, Disassociation, NamedUserUninstall, NamedUserUpdate};
use providers::percent_encoded;
use schemars::JsonSchema;
use serde::Serialize;

use super::named_user_record::NamedUserRecord;
use super::tags::refuse_read_only;
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights, UserRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathVars;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OneNamedUser")]
pub(super) struct One {
    named_user: NamedUserRecord,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NamedUserPage")]
pub(super) struct Page {
    named_users: Vec<NamedUserRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NamedUserCount")]
pub(super) struct Count {
    count: u64,
}

pub(super) async fn count(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    Answer::ok(Count { count: edge.engine.devices().named_user_count(app.id).await? })
}

pub(super) async fn associate(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    input: Input,
) -> Result<Answer> {
    let association = input.parse(Association::parse).await?;
    of_users.need_association(association.channel.id, &association.named_user_id)?;
    Answer::done_except(rights.devices(&edge).associate(app.id, association).await?)
}

pub(super) async fn disassociate(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    of_users: UserRights,
    input: Input,
) -> Result<Answer> {
    let disassociation = input.parse(Disassociation::parse).await?;
    of_users.need_leave(disassociation.channel.id, disassociation.named_user_id.as_ref())?;
    Answer::done_except(edge.engine.devices().disassociate(app.id, disassociation).await?)
}

pub(super) async fn update(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    PathVars(id): PathVars<String>,
    input: Input,
) -> Result<Answer> {
    let update = input.parse(NamedUserUpdate::parse).await?;
    let user = NamedUserId::new(id_meant(&id, &update)).map_err(|message| Error::invalid("named_user_id", message))?;
    update.tags.iter().try_for_each(refuse_read_only)?;
    // A device speaks for itself.
    if update.associate.len() + update.disassociate.len() > 1 {
        rights.need_master()?;
    }
    update.associate.iter().try_for_each(|channel| of_users.need_association(channel.id, &user))?;
    update.disassociate.iter().try_for_each(|channel| of_users.need_leave(channel.id, Some(&user)))?;
    if update.tags.is_some() {
        of_users.need(UserAspect::Tags, &user)?;
    }
    if !update.attributes.is_empty() {
        of_users.need(UserAspect::Attributes, &user)?;
    }
    Answer::done_except(rights.devices(&edge).update_named_user(app.id, user, update).await?)
}

pub(super) async fn uninstall(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let NamedUserUninstall(users) = input.parse(NamedUserUninstall::parse).await?;
    edge.engine.devices().uninstall_named_users(app.id, users).await?;
    Answer::done()
}

/// One user with `?id=`, else a page of users.
pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let id = params.parsed_as_given("id", NamedUserId::new);
    let start = params.parsed("start", NamedUserId::new);
    let limit = params.limit(PageSize::NAMED_USERS);
    params.finish()?;
    if let Some(id) = id {
        let named_user = edge.engine.devices().named_user(app.id, id).await?.into();
        return Ok(Answer::ok(One { named_user })?.data_attribute("named_user"));
    }
    let (page, next) = edge.engine.devices().named_users(app.id, start, limit).await?;
    let next = next.map(|next| percent_encoded(next.as_str()));
    let next_page = next.map(|next| links.to(&format!("/api/named_users?start={next}&limit={limit}")));
    let write = move || {
        let named_users = page.into_iter().map(NamedUserRecord::from).collect();
        let answer = Answer::ok(Page { named_users, next_page: next_page.clone() })?.data_attribute("named_users");
        Ok(answer.next_page(next_page.as_deref()))
    };
    edge.apart(write).await?
}

/// Words of the API after `/api/named_users/`, which cannot be the id of a user there.
pub(super) async fn reserved() -> Error {
    Error::NoSuchPath
}

/// Released versions of the Python client write the attributes behind the id, in the notation of that language, besides sending
/// them in the body.
fn id_meant<'p>(segment: &'p str, update: &NamedUserUpdate) -> &'p str {
    match segment.split_once("[{'") {
        Some((id, _)) if update.is_about_attributes_alone() => id,
        Some(_) | None => segment,
    }
}
