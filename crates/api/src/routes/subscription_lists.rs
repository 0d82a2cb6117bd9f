//! Subscription lists: subscribing channels and named users, subscriptions of each, and all lists.

use std::collections::BTreeSet;

use axum::extract::State;
use devices::SubscriptionListView;
use http::StatusCode;
use model::app::UserAspect;
use model::ids::{ChannelKind, NamedUserId};
use model::subscription::{Scope, ScopedSubscriptions, ScopedUpdate, SubscriptionListId, SubscriptionUpdate};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights, UserRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path_vars::{PathId, PathVars};

#[derive(Serialize, JsonSchema)]
pub(super) struct Lists {
    subscription_lists: Vec<ListRecord>,
}

/// Strict client libraries know these keys and no others. Lists are not declared, so most of the values are the same for every
/// list.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SubscriptionListRecord")]
pub(super) struct ListRecord {
    list_id: String,
    name: String,
    description: &'static str,
    #[schemars(with = "BTreeSet<String>")]
    scopes: BTreeSet<Scope>,
    default_opted_in: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OfChannel {
    #[schemars(with = "BTreeSet<String>")]
    list_ids: BTreeSet<SubscriptionListId>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OfPerson {
    pub(super) subscription_lists: Vec<ScopeRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ScopeRecord {
    #[schemars(with = "BTreeSet<String>")]
    list_ids: BTreeSet<SubscriptionListId>,
    #[schemars(with = "String")]
    scope: Scope,
}

pub(super) fn scope_records(subscriptions: ScopedSubscriptions) -> Vec<ScopeRecord> {
    subscriptions.into_iter().map(|(scope, list_ids)| ScopeRecord { list_ids, scope }).collect()
}

pub(super) async fn list(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    let lists = edge.engine.devices().subscription_lists(app.id).await?;
    let write = move || {
        let subscription_lists = lists.into_iter().map(ListRecord::from).collect();
        Ok(Answer::ok(Lists { subscription_lists })?.data_attribute("subscription_lists"))
    };
    edge.apart(write).await?
}

pub(super) async fn of_channel(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ChannelKind>,
) -> Result<Answer> {
    let list_ids = edge.engine.devices().channel(app.id, id).await?.subscriptions;
    Ok(Answer::ok(OfChannel { list_ids })?.data_attribute("list_ids"))
}

pub(super) async fn of_named_user(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
) -> Result<Answer> {
    let user = NamedUserId::new(&id).map_err(|_| Error::NotFound("There is no such named user.".to_owned()))?;
    let subscriptions = edge.engine.devices().named_user(app.id, user).await?.subscriptions;
    let answer = Answer::ok(OfPerson { subscription_lists: scope_records(subscriptions) })?;
    Ok(answer.data_attribute("subscription_lists"))
}

pub(super) async fn change(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    input: Input,
) -> Result<Answer> {
    let update = input.parse(SubscriptionUpdate::parse).await?;
    // A device may speak for itself.
    if update.audience.channels().len() + update.audience.named_users().len() > 1 {
        rights.need_master()?;
    }
    update.audience.named_users().iter().try_for_each(|user| of_users.need(UserAspect::Subscriptions, user))?;
    let passed_over = rights.devices(&edge).change_subscriptions(app.id, update).await?;
    Ok(Answer::done_except(passed_over)?.status(StatusCode::ACCEPTED))
}

pub(super) async fn change_scoped(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    PathVars(id): PathVars<String>,
    input: Input,
) -> Result<Answer> {
    let user = NamedUserId::new(&id).map_err(|message| Error::invalid("named_user_id", message))?;
    of_users.need(UserAspect::Subscriptions, &user)?;
    let update = input.parse(ScopedUpdate::parse).await?;
    rights.devices(&edge).change_scoped_subscriptions(app.id, user, update).await?;
    Answer::done()
}

impl From<SubscriptionListView> for ListRecord {
    fn from(SubscriptionListView { id, mut scopes }: SubscriptionListView) -> Self {
        // Clients expect a list to have a scope, even after all subscribers have left it.
        if scopes.is_empty() {
            scopes.insert(Scope::App);
        }
        Self { name: id.clone(), list_id: id, description: "", scopes, default_opted_in: false }
    }
}
