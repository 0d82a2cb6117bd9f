//! Localizations of a push, and the choice among them for one device.

use super::Push;
use super::in_app::InApp;
use super::message::Message;
use super::notification::Notification;
use crate::json::body::Body;
use crate::json::{At, Fields};
use crate::property::{is_same_country, is_same_language};

/// The content that devices of a language, a country or both get in place of the top-level content.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(keys = require_keys)]
pub struct Localization {
    /// A code of ISO 639. At least one of language and country is given.
    #[body(length = 2..=3, read = |at| code(at, 2..=3))]
    pub language: Option<String>,
    /// A code of ISO 3166.
    #[body(length = 2..=2, read = |at| code(at, 2..=2))]
    pub country: Option<String>,
    /// At least one of the three contents is given.
    pub notification: Option<Notification>,
    /// Replaces the message for the inbox.
    pub message: Option<Message>,
    /// Replaces the banner.
    pub in_app: Option<InApp>,
}

/// The content for one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Content<'a> {
    pub notification: Option<&'a Notification>,
    pub message: Option<&'a Message>,
    pub in_app: Option<&'a InApp>,
}

impl Push {
    /// The content for a device of this language and country. A localization that matches both beats one that matches the
    /// language only, which beats one that matches the country only; of equal ones the first wins. Content that the
    /// localization leaves out comes from the top level.
    pub fn content_for(&self, language: Option<&str>, country: Option<&str>) -> Content<'_> {
        self.content_of(self.localization_for(language, country))
    }

    /// The index of the localization for such a device, if there is one.
    pub fn localization_for(&self, language: Option<&str>, country: Option<&str>) -> Option<usize> {
        let wanted = self.localizations.iter().flatten();
        closest(wanted.map(|one| (one.language.as_deref(), one.country.as_deref())), language, country)
    }

    /// The content of the localization at an index, or that of the top level.
    pub fn content_of(&self, localization: Option<usize>) -> Content<'_> {
        let top = self.top_content();
        let localization = localization.and_then(|place| self.localizations.as_ref()?.get(place));
        localization.map_or(top, |localization| localization.content_over(top))
    }

    /// The notification of the top level and those of localizations, each with its path.
    pub fn notifications(&self) -> impl Iterator<Item = (String, &Notification)> {
        let top = self.notification.iter().map(|notification| ("notification".to_owned(), notification));
        let localized = self.localizations.iter().flatten().enumerate();
        let localized = localized
            .filter_map(|(i, one)| Some((format!("localizations[{i}].notification"), one.notification.as_ref()?)));
        top.chain(localized)
    }

    pub(super) fn top_content(&self) -> Content<'_> {
        Content { notification: self.notification.as_ref(), message: self.message.as_ref(), in_app: self.in_app() }
    }
}

impl Localization {
    /// This localization's content; missing parts come from the top level.
    pub(super) fn content_over<'a>(&'a self, top: Content<'a>) -> Content<'a> {
        let nested_in_app = self.notification.as_ref().and_then(|n| n.in_app.as_deref());
        Content {
            notification: self.notification.as_ref().or(top.notification),
            message: self.message.as_ref().or(top.message),
            in_app: self.in_app.as_ref().or(nested_in_app).or(top.in_app),
        }
    }
}

/// A localization is for a language or a country, and has content.
fn require_keys(fields: &Fields<'_>) {
    for keys in [&["language", "country"][..], &["notification", "message", "in_app"]] {
        if !keys.iter().any(|key| fields.has(key)) {
            fields.at().missing::<()>(keys[0]);
        }
    }
}

/// How well a pair of language and country, either of which may be missing, fits a device: 0 for no match, higher for a closer one.
/// Codes are compared as device properties do, so that a device selected by these for a localization also gets it.
fn rank(wanted: (Option<&str>, Option<&str>), language: Option<&str>, country: Option<&str>) -> u8 {
    let fits_language = wanted.0.map(|wanted| language.is_some_and(|actual| is_same_language(wanted, actual)));
    let fits_country = wanted.1.map(|wanted| country.is_some_and(|actual| is_same_country(wanted, actual)));
    match (fits_language, fits_country) {
        (Some(true), Some(true)) => 3,
        (Some(true), None) => 2,
        (None, Some(true)) => 1,
        (Some(false), _) | (_, Some(false)) | (None, None) => 0,
    }
}

/// The index of the closest match among these pairs of language and country; of equal ones the first.
pub(crate) fn closest<'w>(
    wanted: impl Iterator<Item = (Option<&'w str>, Option<&'w str>)>,
    language: Option<&str>,
    country: Option<&str>,
) -> Option<usize> {
    let mut best = None;
    for (place, wanted) in wanted.enumerate() {
        let rank = rank(wanted, language, country);
        if rank > best.map_or(0, |(best_rank, _)| best_rank) {
            best = Some((rank, place));
        }
    }
    best.map(|(_, place)| place)
}

fn code(at: &At<'_>, n_letters: std::ops::RangeInclusive<usize>) -> Option<String> {
    let text = at.string()?;
    if n_letters.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Some(text.to_owned());
    }
    at.invalid("This must be an ISO code, such as 'de' for a language or 'AT' for a country.")
}
