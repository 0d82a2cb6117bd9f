//! Previews of a push: what each kind of device would show of it, and the request that its provider would get.

use std::collections::BTreeSet;

use axum::extract::State;
use model::account::Role;
use model::device_type::DeviceType;
use model::ids::{ChannelId, NamedUserId};
use model::json::At;
use model::json::body::Body;
use model::payload::localization::Localization;
use model::payload::{Appearance, Push, ShownButton};
use model::problem::Problem;
use schemars::JsonSchema;
use sending::{Preview, PreviewFor, Previews};
use serde::Serialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::roles::OwnRole;

/// A push to preview.
#[derive(Body)]
#[body(not_printed, name = "PushPreviewRequest")]
pub(super) struct Question {
    /// As it would be sent.
    push: Push,
    /// Only for this channel, with its address and badge. Texts are filled in with what is known of it.
    channel: Option<ChannelId>,
    /// Texts are filled in with what is known of this named user.
    person: Option<NamedUserId>,
    /// Only with the content of devices of this locale: a language, or a language and a country, such as `de` and `de_AT`.
    #[body(length = 2..=7, read = locale)]
    locale: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushPreviews")]
pub(super) struct PreviewsRecord {
    /// For each content and each device type that the push is for.
    previews: Vec<PreviewRecord>,
    /// Everything for which the push would be refused.
    problems: Vec<ProblemRecord>,
    /// The names that texts of the push ask for and under which nothing is known of the channel or the person.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    missing: BTreeSet<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushPreview")]
pub(super) struct PreviewRecord {
    device_type: String,
    /// Which localization the content is of; `null` for the content of everybody else.
    locale: Option<LocaleRecord>,
    /// The size of the message as the provider counts it.
    bytes: Option<usize>,
    /// The most that the provider takes.
    limit: Option<usize>,
    shown: ShownRecord,
    /// The way the message would go: `apns`, `fcm` and so on.
    transport: Option<&'static str>,
    /// The request as in the sandbox; `null` if there is none. Without a channel, ids are zeros and the address is `address`.
    request: Option<Value>,
    /// Why there is no message for these devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Parts of the push that these devices do not get.
    left_out: Vec<LeftOutRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PreviewLocale")]
pub(super) struct LocaleRecord {
    language: Option<String>,
    country: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ShownNotification")]
pub(super) struct ShownRecord {
    title: Option<String>,
    subtitle: Option<String>,
    body: Option<String>,
    /// Below the text.
    summary: Option<String>,
    /// The text when the notification is expanded, if it is another.
    expanded: Option<String>,
    /// The address of a picture.
    image: Option<String>,
    buttons: Vec<ButtonRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ShownButton")]
pub(super) struct ButtonRecord {
    id: String,
    /// In English; `null` where only the app knows it.
    label: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PreviewLeftOut")]
pub(super) struct LeftOutRecord {
    part: &'static str,
    reason: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushProblem")]
pub(super) struct ProblemRecord {
    path: String,
    message: String,
}

pub(super) async fn preview(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    own: OwnRole,
    input: Input,
) -> Result<Answer> {
    let Question { push, channel, person, locale } = input.parse(Question::parse).await?;
    if channel.is_some() || person.is_some() {
        // The request has the push address of the channel, and texts have what is known of the person.
        own.need(Role::Support)?;
    }
    let whom = match (channel, person, locale) {
        (Some(_), Some(_), _) => return Err(Error::invalid("person", "Give a channel or a person, not both.")),
        (Some(_), None, Some(_)) => return Err(Error::invalid("locale", "Give a channel or a locale, not both.")),
        (None, Some(_), Some(_)) => return Err(Error::invalid("locale", "Give a person or a locale, not both.")),
        (Some(channel), None, None) => PreviewFor::Channel(channel),
        (None, Some(person), None) => PreviewFor::NamedUser(person),
        (None, None, Some(locale)) => in_locale(&locale),
        (None, None, None) => PreviewFor::Everybody,
    };
    let localizations = push.localizations.clone().unwrap_or_default();
    let Previews { previews, problems, missing } = edge.engine.sending().preview(&app, push, whom).await?;
    let previews = previews.into_iter().map(|preview| record(preview, &localizations)).collect();
    let problem = |Problem { path, message, .. }: Problem| ProblemRecord { path, message };
    let problems = problems.into_iter().map(problem).collect();
    Ok(Answer::ok(PreviewsRecord { previews, problems, missing })?.data_attribute("previews"))
}

fn record(preview: Preview, localizations: &[Localization]) -> PreviewRecord {
    let Preview { device_type, localization, appearance, message, left_out } = preview;
    let locale = localization.and_then(|index| localizations.get(index));
    let locale = locale.map(|one| LocaleRecord { language: one.language.clone(), country: one.country.clone() });
    let (message, reason) = match message {
        Ok(message) => (Some(message), None),
        Err(reason) => (None, Some(reason.to_string())),
    };
    PreviewRecord {
        device_type: DeviceType::to_string(&device_type),
        locale,
        bytes: message.as_ref().map(|message| message.size.n_bytes),
        limit: message.as_ref().map(|message| message.size.most),
        shown: appearance.into(),
        transport: message.as_ref().map(|message| message.transport),
        request: message.as_ref().map(|message| message.request.to_json()),
        reason,
        left_out: left_out.into_iter().map(|(part, reason)| LeftOutRecord { part, reason }).collect(),
    }
}

impl From<Appearance> for ShownRecord {
    fn from(appearance: Appearance) -> Self {
        let Appearance { title, subtitle, body, summary, expanded, image, buttons } = appearance;
        let button = |ShownButton { id, label }: ShownButton| ButtonRecord { id, label };
        Self { title, subtitle, body, summary, expanded, image, buttons: buttons.into_iter().map(button).collect() }
    }
}

fn locale(at: &At<'_>) -> Option<String> {
    let text = at.string()?;
    let (language, country) = parts(text);
    let is_code = |code: &str, n_letters: std::ops::RangeInclusive<usize>| {
        n_letters.contains(&code.len()) && code.bytes().all(|b| b.is_ascii_alphabetic())
    };
    if is_code(language, 2..=3) && country.is_none_or(|country| is_code(country, 2..=2)) {
        return Some(text.to_owned());
    }
    at.invalid("This must be a locale, such as 'de', or 'de_AT' for a language and a country.")
}

fn in_locale(text: &str) -> PreviewFor {
    let (language, country) = parts(text);
    PreviewFor::Locale { language: Some(language.to_owned()), country: country.map(str::to_owned) }
}

fn parts(locale: &str) -> (&str, Option<&str>) {
    match locale.split_once(['_', '-']) {
        Some((language, country)) => (language, Some(country)),
        None => (locale, None),
    }
}
