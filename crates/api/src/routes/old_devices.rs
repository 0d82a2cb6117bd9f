//! Device tokens, APIDs and device PINs, as listings before channels had them: read-only views of the channels of a device type.
//! Their answers have no `"ok": true`, and their dates a blank between the date and the time.

use std::collections::BTreeSet;

use axum::extract::State;
use devices::{ChannelView, Uninstalled, first_feedback};
use model::device_type::DeviceType;
use model::ids::ChannelId;
use model::tag::{Tag, TagGroup};
use model::time::UtcMillis;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathVars;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
pub(super) struct DeviceTokens {
    device_tokens_count: u64,
    active_device_tokens_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
    device_tokens: Vec<DeviceTokenRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DeviceTokenCount {
    device_tokens_count: u64,
    active_device_tokens_count: u64,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DeviceTokenRecord {
    /// None for a channel that has no address.
    device_token: Option<String>,
    #[serde(flatten)]
    device: DeviceRecord,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Apids {
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
    apids: Vec<ApidRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ApidRecord {
    /// The id of the channel.
    apid: ChannelId,
    gcm_registration_id: Option<String>,
    #[serde(flatten)]
    device: DeviceRecord,
}

/// A device token that is good for nothing any more.
#[derive(Serialize, JsonSchema)]
pub(super) struct GoneDeviceToken {
    device_token: String,
    marked_inactive_on: String,
    alias: Option<String>,
}

/// An Android device that the app is not on any more.
#[derive(Serialize, JsonSchema)]
pub(super) struct GoneApid {
    /// The id of the channel.
    apid: ChannelId,
    gcm_registration_id: Option<String>,
    marked_inactive_on: String,
    alias: Option<String>,
}

/// There are no devices of this kind any more.
#[derive(Serialize, JsonSchema)]
pub(super) struct DevicePins {
    #[schemars(with = "Vec<String>")]
    device_pins: [&'static str; 0],
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DeviceRecord {
    /// Whether notifications are shown.
    active: bool,
    alias: Option<String>,
    #[schemars(with = "BTreeSet<String>")]
    tags: BTreeSet<Tag>,
    created: String,
    last_registration: Option<String>,
}

pub(super) async fn device_tokens(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let (start, limit) = (params.id("start"), params.limit(PageSize::CHANNELS));
    params.finish()?;
    let devices = edge.engine.devices();
    let count = devices.device_count(app.id, DeviceType::Ios).await?;
    let (page, next) = devices.channels_of_type(app.id, DeviceType::Ios, start, limit).await?;
    let next_page = next.map(|next| links.to(&format!("/api/device_tokens?start={next}&limit={limit}")));
    let write = move || {
        Answer::bare(DeviceTokens {
            device_tokens_count: count.installed,
            active_device_tokens_count: count.active,
            next_page,
            device_tokens: page.into_iter().map(DeviceTokenRecord::from).collect(),
        })
    };
    edge.apart(write).await?
}

pub(super) async fn device_token_count(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    let count = edge.engine.devices().device_count(app.id, DeviceType::Ios).await?;
    Answer::bare(DeviceTokenCount { device_tokens_count: count.installed, active_device_tokens_count: count.active })
}

pub(super) async fn device_token(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathVars(token): PathVars<String>,
) -> Result<Answer> {
    let none = || Error::NotFound("There is no such device token.".to_owned());
    if token.contains('\0') {
        return Err(none());
    }
    let found = edge.engine.devices().channels_with_address(app.id, token).await?;
    let found = found.into_iter().find(|view| view.profile.device_type == DeviceType::Ios);
    let mut record = DeviceTokenRecord::from(found.ok_or_else(none)?);
    // Unlike the id of a channel, a token is not known to its device alone.
    if rights.need_master().is_err() {
        record.device.leave_out_names();
    }
    Answer::bare(record)
}

pub(super) async fn device_token_feedback(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    params: Params,
) -> Result<Answer> {
    let since = since(&edge, params)?;
    let gone = edge.engine.devices().addresses_gone_since(app.id, DeviceType::Ios, since).await?;
    Answer::bare(gone.into_iter().map(GoneDeviceToken::from).collect::<Vec<_>>())
}

pub(super) async fn apid_feedback(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    params: Params,
) -> Result<Answer> {
    let since = since(&edge, params)?;
    let gone = edge.engine.devices().uninstalled_since(app.id, DeviceType::Android, since).await?;
    Answer::bare(gone.into_iter().map(GoneApid::from).collect::<Vec<_>>())
}

/// From when on a caller wants to know.
fn since(edge: &Edge, mut params: Params) -> Result<UtcMillis> {
    let since = params.required_date("since");
    let since = params.finish_with(since)?;
    if since < first_feedback(edge.engine.clock().now()) {
        return Err(Error::invalid("since", "Feedback is kept for 31 days; give a later date."));
    }
    Ok(since)
}

pub(super) async fn apids(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let (start, limit) = (params.id("start"), params.limit(PageSize::CHANNELS));
    params.finish()?;
    let (page, next) = edge.engine.devices().channels_of_type(app.id, DeviceType::Android, start, limit).await?;
    let next_page = next.map(|next| links.to(&format!("/api/apids?start={next}&limit={limit}")));
    let write = move || Answer::bare(Apids { next_page, apids: page.into_iter().map(ApidRecord::from).collect() });
    edge.apart(write).await?
}

pub(super) async fn apid(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
) -> Result<Answer> {
    let none = || Error::NotFound("There is no such APID.".to_owned());
    let view = edge.engine.devices().channel(app.id, id.parse().map_err(|_| none())?).await?;
    if view.profile.device_type != DeviceType::Android {
        return Err(none());
    }
    Answer::bare(ApidRecord::from(view))
}

pub(super) async fn device_pins(mut params: Params) -> Result<Answer> {
    params.limit(PageSize::CHANNELS);
    params.finish()?;
    Answer::bare(DevicePins { device_pins: [] })
}

pub(super) async fn device_pin() -> Error {
    Error::NotFound("There is no such device PIN: there are no BlackBerry devices.".to_owned())
}

impl From<ChannelView> for DeviceTokenRecord {
    fn from(view: ChannelView) -> Self {
        let device_token = view.profile.address.as_deref().map(str::to_ascii_uppercase);
        Self { device_token, device: view.into() }
    }
}

impl From<ChannelView> for ApidRecord {
    fn from(view: ChannelView) -> Self {
        Self { apid: view.id, gcm_registration_id: view.profile.address.clone(), device: view.into() }
    }
}

impl From<Uninstalled> for GoneDeviceToken {
    fn from(gone: Uninstalled) -> Self {
        let device_token = gone.address.unwrap_or_default().to_ascii_uppercase();
        Self { device_token, marked_inactive_on: with_blank(gone.at), alias: gone.alias }
    }
}

impl From<Uninstalled> for GoneApid {
    fn from(gone: Uninstalled) -> Self {
        let Uninstalled { at, ordinal: _, channel, address, alias } = gone;
        Self { apid: channel, gcm_registration_id: address, marked_inactive_on: with_blank(at), alias }
    }
}

impl From<ChannelView> for DeviceRecord {
    fn from(mut view: ChannelView) -> Self {
        Self {
            active: view.installed && view.profile.opt_in,
            alias: view.profile.alias,
            tags: view.tags.remove(&TagGroup::device()).unwrap_or_default(),
            created: with_blank(view.created),
            last_registration: view.last_registration.map(with_blank),
        }
    }
}

impl DeviceRecord {
    /// The keys stay, because libraries read them.
    fn leave_out_names(&mut self) {
        (self.alias, self.tags) = (None, BTreeSet::new());
    }
}

fn with_blank(instant: UtcMillis) -> String {
    instant.to_api().replace('T', " ")
}
