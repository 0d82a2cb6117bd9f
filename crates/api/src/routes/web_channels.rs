//! Registration of browsers by their pages.

use axum::extract::State;
use devices::RegisteredBrowser;
use http::StatusCode;
use model::device_type::DeviceType;
use model::ids::ChannelId;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::Rights;

use super::channels;
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights, UserRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;

/// A page that has only the key gets the secret of its channel, which is shown only now.
#[derive(Serialize, JsonSchema)]
pub(super) struct Browser {
    channel_id: ChannelId,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel_secret: Option<String>,
}

/// With the key alone this is a new browser. Everybody else registers as always: pages of the vendor's library do so here.
pub(super) async fn register(
    State(edge): State<Edge>,
    app: CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    links: Links,
    input: Input,
) -> Result<Answer> {
    if rights.0 != Rights::KeyOnly {
        return channels::register(State(edge), app, rights, of_users, links, input).await;
    }
    let CallingApp(app) = app;
    let registration = channels::registration(&edge, &app, &of_users, None, &input).await?;
    if registration.device_type != DeviceType::Web {
        let message = "With the key of the app alone only browsers register, which are of the type web.";
        return Err(Error::invalid("channel.device_type", message));
    }
    let RegisteredBrowser { channel, secret } =
        rights.devices(&edge).register_browser(app.id, registration, input.idempotency_key).await?;
    let browser = Browser { channel_id: channel.id, channel_secret: Some(secret) };
    let answer = Answer::changed(channel.operation_id, browser)?.status(StatusCode::CREATED);
    Ok(answer.location(&channels::location(&links, channel.id)))
}
