//! The in-app message of a push as devices know it: a banner with an identity, its looks and its actions.

use model::payload::campaigns::Campaigns;
use model::payload::extra::JsonExtra;
use model::payload::in_app::Display;
use model::payload::interactive::InteractiveType;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::rendering::Rendering;

#[derive(Serialize)]
pub(crate) struct Banner<'a> {
    /// Devices report the banner's display under this id, so it names the push.
    identifier: String,
    display: BannerDisplay<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expiry: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<&'a JsonExtra>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaigns: Option<&'a Campaigns>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actions: Option<BannerActions<'a>>,
}

#[derive(Serialize)]
struct BannerDisplay<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    alert: &'a str,
    #[serde(flatten)]
    looks: Option<&'a Display>,
}

#[derive(Serialize)]
struct BannerActions<'a> {
    #[serde(skip_serializing_if = "Map::is_empty")]
    on_click: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    button_group: Option<&'a InteractiveType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    button_actions: Option<Map<String, Value>>,
}

impl<'a> Banner<'a> {
    pub(crate) fn of(rendering: &Rendering<'a>) -> Option<Self> {
        let in_app = rendering.content.in_app?;
        let actions = (in_app.actions.is_some() || in_app.interactive.is_some()).then(|| BannerActions {
            on_click: rendering.actions(in_app.actions.as_ref()),
            button_group: in_app.interactive.as_ref().map(|interactive| &interactive.kind),
            button_actions: rendering.button_actions(in_app.interactive.as_ref()),
        });
        Some(Self {
            identifier: rendering.push_id.to_string(),
            display: BannerDisplay { kind: "banner", alert: &in_app.alert, looks: in_app.display.as_ref() },
            expiry: in_app.expiry.as_ref().map(|expiry| expiry.deadline(rendering.sent_at).to_api()),
            extra: in_app.extra.as_ref(),
            campaigns: rendering.campaigns,
            actions,
        })
    }
}
