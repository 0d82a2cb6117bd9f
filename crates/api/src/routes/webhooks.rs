//! Webhooks for events, for the operator: configure, test, replay, and see the outcome of requests.

pub(super) mod record;

use axum::extract::State;
use events::CreatedWebhook;
use http::StatusCode;
use model::event::{ReplayFrom, webhook_offset};
use model::ids::{AppId, OperationId, WebhookId};
use providers::webhook::{NewWebhook, WebhookChange};

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::{PathVars, id_in_path};
use crate::query::Params;
use record::{All, Attempts, Discarded, EntryRecord, Letters, One, Proof, Sent, WebhookRecord};

pub(super) async fn create(
    State(edge): State<Edge>,
    PathVars(key): PathVars<String>,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    let new = input.parse(NewWebhook::parse).await?;
    let CreatedWebhook { operation_id, webhook } =
        edge.engine.events().create_webhook(app.id, new, input.idempotency_key).await?;
    let location = links.to(&format!("/operator/apps/{key}/webhooks/{}", webhook.id));
    let answer = Answer::changed(operation_id, One { webhook: WebhookRecord::from(webhook) })?;
    Ok(answer.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn list(State(edge): State<Edge>, PathVars(key): PathVars<String>) -> Result<Answer> {
    let app = edge.engine.tenancy().app(&key).await?;
    let webhooks = edge.engine.events().webhooks(app.id).await?;
    Answer::ok(All { webhooks: webhooks.into_iter().map(WebhookRecord::from).collect() })
}

pub(super) async fn look_up(State(edge): State<Edge>, PathVars(path): PathVars<(String, String)>) -> Result<Answer> {
    let (app, id) = find(&edge, &path).await?;
    Answer::ok(One { webhook: edge.engine.events().webhook(app, id).await?.into() })
}

pub(super) async fn change(
    State(edge): State<Edge>,
    PathVars(path): PathVars<(String, String)>,
    input: Input,
) -> Result<Answer> {
    let (app, id) = find(&edge, &path).await?;
    let change = input.parse(WebhookChange::parse).await?;
    let view = edge.engine.events().change_webhook(app, id, change).await?;
    Answer::changed(OperationId::random(), One { webhook: view.into() })
}

pub(super) async fn delete(State(edge): State<Edge>, PathVars(path): PathVars<(String, String)>) -> Result<Answer> {
    let (app, id) = find(&edge, &path).await?;
    edge.engine.events().delete_webhook(app, id).await?;
    Ok(Answer::nothing())
}

pub(super) async fn test(State(edge): State<Edge>, PathVars(path): PathVars<(String, String)>) -> Result<Answer> {
    let (app, id) = find(&edge, &path).await?;
    let proof = edge.engine.events().test_webhook(app, id).await?.map_err(Error::Conflict)?;
    Answer::ok(Proof { status: proof.status, milliseconds: proof.millis })
}

pub(super) async fn history(
    State(edge): State<Edge>,
    PathVars(path): PathVars<(String, String)>,
    mut params: Params,
) -> Result<Answer> {
    let (app, id) = find(&edge, &path).await?;
    let limit = params.limit(PageSize::OF_WEBHOOK);
    params.finish()?;
    let attempts = edge.engine.events().webhook_history(app, id, limit).await?;
    Answer::ok(Attempts { attempts: attempts.into_iter().map(EntryRecord::from).collect() })
}

pub(super) async fn replay(
    State(edge): State<Edge>,
    PathVars(path): PathVars<(String, String)>,
    input: Input,
) -> Result<Answer> {
    let (app, id) = find(&edge, &path).await?;
    let from = input.parse(ReplayFrom::parse).await?;
    let view = edge.engine.events().replay_webhook(app, id, from).await?;
    Answer::changed(OperationId::random(), One { webhook: view.into() })
}

pub(super) async fn dead_letters(
    State(edge): State<Edge>,
    PathVars(path): PathVars<(String, String)>,
    mut params: Params,
) -> Result<Answer> {
    let (app, id) = find(&edge, &path).await?;
    let limit = params.limit(PageSize::OF_WEBHOOK);
    let after = params.parsed("after", webhook_offset).unwrap_or_default();
    params.finish()?;
    let letters = edge.engine.events().dead_letters(app, id, after, limit).await?;
    Answer::ok(Letters::page(letters, limit))
}

pub(super) async fn redeliver(
    State(edge): State<Edge>,
    PathVars(path): PathVars<(String, String)>,
    mut params: Params,
) -> Result<Answer> {
    let (app, id) = find(&edge, &path).await?;
    let after = params.parsed("after", webhook_offset).unwrap_or_default();
    params.finish()?;
    let came = edge.engine.events().redeliver(app, id, after).await?;
    Answer::changed(OperationId::random(), Sent::from(came))
}

pub(super) async fn discard(State(edge): State<Edge>, PathVars(path): PathVars<(String, String)>) -> Result<Answer> {
    let (app, id) = find(&edge, &path).await?;
    let discarded = edge.engine.events().discard_dead_letters(app, id).await?;
    Answer::changed(OperationId::random(), Discarded { discarded })
}

async fn find(edge: &Edge, (key, webhook): &(String, String)) -> Result<(AppId, WebhookId)> {
    let app = edge.engine.tenancy().app(key).await?;
    Ok((app.id, id_in_path(webhook)?))
}
