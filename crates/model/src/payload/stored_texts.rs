//! The places of a push that name a content template instead of giving texts, and the texts that come into those places.

use super::Push;
use super::amazon::AMAZON_TEXTS;
use super::android::ANDROID_TEXTS;
use super::ios::IOS_TEXTS;
use super::message::{MESSAGE_TEXTS, Message, MessageContent};
use super::notification::Notification;
use super::open::OPEN_TEXTS;
use super::template::{TemplateReference, TemplateSource};
use super::web::WEB_TEXTS;
use crate::content_template::{ContentTemplate, ContentTemplateType};
use crate::json::Json;
use crate::problem::Problems;

/// A place of a push that names a content template.
pub struct StoredTexts<'p> {
    /// The type that the content template has to have.
    pub kind: ContentTemplateType,
    template: &'p mut TemplateReference,
    /// The texts that there can be in this place.
    keys: &'static [&'static str],
}

impl Push {
    /// All such places, also in localizations.
    pub fn stored_texts(&mut self) -> Vec<StoredTexts<'_>> {
        let Self { notification, message, localizations, .. } = self;
        let mut places = Vec::new();
        places.extend(notification.iter_mut().flat_map(of_notification));
        places.extend(message.iter_mut().filter_map(of_message));
        for localization in localizations.iter_mut().flatten() {
            places.extend(localization.notification.iter_mut().flat_map(of_notification));
            places.extend(localization.message.iter_mut().filter_map(of_message));
        }
        places
    }

    /// As it is now, for what keeps its pushes as they were sent.
    pub(crate) fn reprinted(&self) -> Result<Json, Problems> {
        Json::from_slice(&serde_json::to_vec(self).unwrap_or_default())
    }
}

impl StoredTexts<'_> {
    /// The name of the content template.
    pub fn source(&self) -> &TemplateSource {
        &self.template.source
    }

    /// Puts the texts of the content template in its place, those of them that belong there.
    pub fn fill(&mut self, content: &ContentTemplate) {
        let text = |key: &&str| Some(((*key).to_owned(), content.text(key)?.to_owned()));
        self.template.source = TemplateSource::Fields(self.keys.iter().filter_map(text).collect());
    }
}

fn of_notification(notification: &mut Notification) -> Vec<StoredTexts<'_>> {
    let Notification { ios, android, amazon, web, open, .. } = notification;
    let app = ContentTemplateType::App;
    let named: [(_, &'static [&'static str], _); 4] = [
        (app, &IOS_TEXTS, ios.as_mut().and_then(|ios| ios.template.as_mut())),
        (app, &ANDROID_TEXTS, android.as_mut().and_then(|android| android.template.as_mut())),
        (app, &AMAZON_TEXTS, amazon.as_mut().and_then(|amazon| amazon.template.as_mut())),
        (ContentTemplateType::Web, &WEB_TEXTS, web.as_mut().and_then(|web| web.template.as_mut())),
    ];
    let open: Vec<(_, &'static [&'static str], _)> =
        open.values_mut().map(|open| (ContentTemplateType::Open, &OPEN_TEXTS[..], open.template.as_mut())).collect();
    let given = named.into_iter().chain(open);
    given.filter_map(|(kind, keys, template)| stored(kind, keys, template?)).collect()
}

fn of_message(message: &mut Message) -> Option<StoredTexts<'_>> {
    match &mut message.content {
        MessageContent::Template { template } => stored(ContentTemplateType::MessageCenter, &MESSAGE_TEXTS, template),
        MessageContent::Text { .. } => None,
    }
}

fn stored<'p>(
    kind: ContentTemplateType,
    keys: &'static [&'static str],
    template: &'p mut TemplateReference,
) -> Option<StoredTexts<'p>> {
    template.is_stored().then_some(StoredTexts { kind, template, keys })
}
