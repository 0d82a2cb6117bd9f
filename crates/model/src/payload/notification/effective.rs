//! A notification as one platform gets it: the override, completed with the inherited parts.

use serde::Serialize;

use super::{Notification, says_something};
use crate::device_type::OpenPlatform;
use crate::payload::actions::Actions;
use crate::payload::amazon::AmazonOverride;
use crate::payload::android::AndroidOverride;
use crate::payload::color::Color;
use crate::payload::interactive::Interactive;
use crate::payload::ios::{IosAlert, IosOverride};
use crate::payload::open::OpenOverride;
use crate::payload::template::TemplateReference;
use crate::payload::web::WebOverride;
use crate::payload::wns::{WnsContent, WnsOverride};

/// Prints as the `payload` of a delivery to an open platform.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenNotification {
    #[serde(flatten)]
    pub content: OpenOverride,
    /// Only ever inherited: the override has no actions of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Actions>,
}

/// The returned overrides are complete: nothing is left to inherit, and the texts of an inline template are in their fields.
/// `None` means that there is nothing to send to the platform: no alert for everybody, and no override or an empty one.
impl Notification {
    pub fn for_ios(&self) -> Option<IosOverride> {
        let mut ios = self.own(self.ios.as_deref())?;
        let mut alert = None;
        fill(
            ios.template.as_ref(),
            [("alert", &mut alert), ("title", &mut ios.title), ("subtitle", &mut ios.subtitle)],
        );
        if ios.alert.is_none() {
            ios.alert = alert.or_else(|| self.alert.clone()).map(IosAlert::Text);
        }
        self.inherit(&mut ios.actions, &mut ios.interactive);
        Some(ios)
    }

    pub fn for_android(&self) -> Option<AndroidOverride> {
        let mut android = self.own(self.android.as_deref())?;
        let mut icon_color = None;
        fill(
            android.template.as_ref(),
            [
                ("alert", &mut android.alert),
                ("title", &mut android.title),
                ("summary", &mut android.summary),
                ("icon", &mut android.icon),
                ("icon_color", &mut icon_color),
            ],
        );
        android.icon_color = android.icon_color.or_else(|| Color::new(&icon_color?));
        android.alert = android.alert.or_else(|| self.alert.clone());
        self.inherit(&mut android.actions, &mut android.interactive);
        Some(android)
    }

    pub fn for_amazon(&self) -> Option<AmazonOverride> {
        let mut amazon = self.own(self.amazon.as_deref())?;
        let mut icon_color = None;
        fill(
            amazon.template.as_ref(),
            [
                ("alert", &mut amazon.alert),
                ("title", &mut amazon.title),
                ("summary", &mut amazon.summary),
                ("icon", &mut amazon.icon),
                ("icon_color", &mut icon_color),
            ],
        );
        amazon.icon_color = amazon.icon_color.or_else(|| Color::new(&icon_color?));
        amazon.alert = amazon.alert.or_else(|| self.alert.clone());
        self.inherit(&mut amazon.actions, &mut amazon.interactive);
        Some(amazon)
    }

    pub fn for_web(&self) -> Option<WebOverride> {
        let mut web = self.own(self.web.as_deref())?;
        fill(web.template.as_ref(), [("alert", &mut web.alert), ("title", &mut web.title)]);
        web.alert = web.alert.or_else(|| self.alert.clone());
        self.inherit(&mut web.actions, &mut web.interactive);
        web.show_interactive();
        Some(web)
    }

    /// Windows has neither our actions nor our buttons.
    pub fn for_wns(&self) -> Option<WnsOverride> {
        self.wns.as_deref().cloned().or_else(|| {
            let content = WnsContent::Alert(self.alert.clone()?);
            Some(WnsOverride { content, cache_policy: None })
        })
    }

    pub fn for_open(&self, platform: &OpenPlatform) -> Option<OpenNotification> {
        let mut content = self.own(self.open.get(platform))?;
        let template = content.template.take();
        fill(
            template.as_ref(),
            [
                ("alert", &mut content.alert),
                ("title", &mut content.title),
                ("summary", &mut content.summary),
                ("media_attachment", &mut content.media_attachment),
            ],
        );
        content.alert = content.alert.or_else(|| self.alert.clone());
        let mut actions = None;
        self.inherit(&mut actions, &mut content.interactive);
        Some(OpenNotification { content, actions })
    }

    /// The override to complete: an empty one when there is none but the alert for everybody will fill it.
    fn own<Override: Clone + Default + PartialEq>(&self, given: Option<&Override>) -> Option<Override> {
        (self.alert.is_some() || says_something(given)).then(|| given.cloned().unwrap_or_default())
    }

    fn inherit(&self, actions: &mut Option<Actions>, interactive: &mut Option<Interactive>) {
        if actions.is_none() {
            actions.clone_from(&self.actions);
        }
        if interactive.is_none() {
            interactive.clone_from(&self.interactive);
        }
    }
}

/// Puts the texts of an inline template where they belong. They cannot be there already: the parser refuses both.
fn fill<const N: usize>(template: Option<&TemplateReference>, fields: [(&str, &mut Option<String>); N]) {
    let Some(template) = template else { return };
    for (key, slot) in fields {
        if let Some(text) = template.field(key) {
            *slot = Some(text.to_owned());
        }
    }
}
