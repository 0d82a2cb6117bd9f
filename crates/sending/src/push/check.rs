//! Checks of pushes that go beyond their syntax, with problems at the paths of the request.

use base::{Error, Result};
use model::device_type::{DeviceType, OpenPlatform};
use model::ids::AppId;
use model::json::OneOrMany;
use model::payload::Push;
use model::payload::message::Message;
use model::problem::{Problem, ProblemKind};
use model::property::{country_tag, language_tag};
use model::selector::Audience;
use model::term::Term;
use store::documents::{self, DocumentKind};
use store::{Tx, terms};
use targeting::{audience_problems, segment_by_place, unknown_pushes};

use super::fit::{SentAs, oversized};

/// Where the pushes are in a request body, for the paths of problems.
#[derive(Clone, Copy)]
pub struct RequestPath {
    is_array: bool,
    /// The key of each push within its item, with a dot; empty when the items are the pushes.
    inside: &'static str,
}

impl RequestPath {
    /// Of a push that is the whole body.
    pub const WHOLE: Self = Self { is_array: false, inside: "" };

    /// Of a push that is a part of the body.
    pub const fn under(inside: &'static str) -> Self {
        Self { is_array: false, inside }
    }

    pub const fn of<T>(items: &OneOrMany<T>, inside: &'static str) -> Self {
        Self { is_array: matches!(items, OneOrMany::Many(_)), inside }
    }

    /// The path of the n-th push, or of something in it.
    pub fn of_push(self, n: usize, below: &str) -> String {
        self.beside_push(n, &format!("{}{below}", self.inside))
    }

    /// The pushes of a request, each with the beginning of the paths inside it.
    pub fn of_each<'p>(self, pushes: impl IntoIterator<Item = &'p mut Push>) -> Vec<(String, &'p mut Push)> {
        pushes.into_iter().enumerate().map(|(n, push)| (self.of_push(n, ""), push)).collect()
    }

    /// The path of something beside the n-th push, in the same item.
    pub fn beside_push(self, n: usize, below: &str) -> String {
        if self.is_array { format!("[{n}].{below}") } else { below.to_owned() }
    }
}

/// Checks that need no database. Refuses audiences that this version cannot evaluate or that name unknown places, because treating
/// them as empty would make NOT mean everybody; pushes that are too large for one of their platforms; and pushes that could reach
/// nobody, whoever registers.
pub fn refuse_unsupported<'p>(pushes: impl IntoIterator<Item = &'p Push>, request_path: RequestPath) -> Result<()> {
    refuse_unsupported_with(pushes, request_path, SentAs::Single)
}

/// As [`refuse_unsupported`], for pushes of a group, whose messages carry a little more.
pub fn refuse_unsupported_in_group<'p>(
    pushes: impl IntoIterator<Item = &'p Push>,
    request_path: RequestPath,
) -> Result<()> {
    refuse_unsupported_with(pushes, request_path, SentAs::Group)
}

fn refuse_unsupported_with<'p>(
    pushes: impl IntoIterator<Item = &'p Push>,
    request_path: RequestPath,
    sent_as: SentAs,
) -> Result<()> {
    let mut problems = Vec::new();
    for (n, push) in pushes.into_iter().enumerate() {
        if let Audience::Selector(selector) = &push.audience {
            problems.extend(audience_problems(selector, &request_path.of_push(n, "audience")));
        }
        problems.extend(nowhere_to_send(push, request_path.of_push(n, "device_types")));
        problems.extend(oversized(push, sent_as, |below| request_path.of_push(n, below)));
        problems.extend(textless_messages(push, |below| request_path.of_push(n, below)));
        problems.extend(unknown_locale_codes(push, |below| request_path.of_push(n, below)));
        problems.extend(textless_overrides(push, |below| request_path.of_push(n, below)));
    }
    Error::refuse(problems)
}

/// Device types of which there are no channels, and no others. In a list with others they are harmless.
fn nowhere_to_send(push: &Push, path: String) -> Option<Problem> {
    let listed = push.device_types.listed();
    if listed.is_empty() || listed.iter().any(DeviceType::has_channels) {
        return None;
    }
    let names: Vec<String> = listed.iter().map(DeviceType::to_string).collect();
    let names = names.join(" and ");
    let message =
        format!("Nothing can be sent to {names} by this service; name a device type of which there are channels.");
    Some(Problem { path, message, kind: ProblemKind::Invalid })
}

/// Messages without a title or a body: there would be nothing to put into inboxes.
fn textless_messages(push: &Push, path: impl Fn(&str) -> String) -> Vec<Problem> {
    let localized = push.localizations.iter().flatten().enumerate();
    let localized =
        localized.filter_map(|(i, one)| Some((format!("localizations[{i}].message"), one.message.as_ref()?)));
    let messages = push.message.iter().map(|message| ("message".to_owned(), message)).chain(localized);
    let textless = messages.filter(|(_, message)| message.title().is_none() || message.body().is_none());
    let problem = |(below, message): (String, &Message)| Problem {
        path: path(&format!("{below}.template")),
        message: match message.is_stored() {
            true => no_content_template("message_center"),
            false => "A message has a title and a body, and this template lacks one of them.".to_owned(),
        },
        kind: ProblemKind::Invalid,
    };
    textless.map(problem).collect()
}

/// Overrides that still name a content template, because there is none: devices would have nothing to show.
fn textless_overrides(push: &Push, path: impl Fn(&str) -> String) -> Vec<Problem> {
    let stored = push.notifications().flat_map(|(below, notification)| {
        let platforms = notification.platforms_with_stored_texts();
        platforms.into_iter().map(move |platform| (format!("{below}.{platform}.template"), platform))
    });
    let problem = |(below, platform): (String, DeviceType)| Problem {
        path: path(&below),
        message: no_content_template(match platform {
            DeviceType::Web => "web",
            DeviceType::Open(_) => "open",
            _ => "app",
        }),
        kind: ProblemKind::Invalid,
    };
    stored.map(problem).collect()
}

fn no_content_template(kind: &str) -> String {
    format!(
        "There is no content template of the type '{kind}' with this id (they are made with POST /api/content/templates, and the \
         push of a template of /api/templates cannot name them); give the texts under 'fields'."
    )
}

/// Localized-only messages need ISO codes, because their recipients are found by locale tags.
fn unknown_locale_codes(push: &Push, path: impl Fn(&str) -> String) -> Vec<Problem> {
    if push.message.is_some() || !push.has_message() {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (i, one) in push.localizations.iter().flatten().enumerate() {
        let language = one.language.as_deref().filter(|code| language_tag(code).is_none());
        let country = one.country.as_deref().filter(|code| country_tag(code).is_none());
        let unknown = [("language", language, "ISO 639-1"), ("country", country, "ISO 3166-1")];
        for (key, code, standard) in unknown {
            let Some(code) = code else { continue };
            problems.push(Problem {
                path: path(&format!("localizations[{i}].{key}")),
                message: format!(
                    "'{code}' is no two-letter code of {standard}, which localizations need when only some of them \
                     have a message; give the push a message of its own for everybody else."
                ),
                kind: ProblemKind::Invalid,
            });
        }
    }
    problems
}

/// Refuses open platforms that are neither configured nor registered for by any channel: most likely a typing mistake. A push that
/// names its recipients registers them, which makes the platform known. Also refuses platforms without location data for audiences
/// whose segments need it, which the push alone does not show, and audiences by pushes and uploads that are not known.
pub fn refuse_unfit<'p>(
    tx: &mut Tx<'_>,
    app: AppId,
    pushes: impl IntoIterator<Item = &'p Push>,
    request_path: RequestPath,
) -> Result<()> {
    let mut problems = Vec::new();
    for (n, push) in pushes.into_iter().enumerate().filter(|(_, push)| push.recipients().is_none()) {
        for (i, device_type) in push.device_types.listed().iter().enumerate() {
            let DeviceType::Open(platform) = device_type else { continue };
            if !is_known(tx, app, platform)? {
                problems.push(Problem {
                    path: request_path.of_push(n, &format!("device_types[{i}]")),
                    message: format!(
                        "The open platform '{0}' is not known: no channel has registered for open::{0} and it is not \
                         configured.",
                        platform.as_str()
                    ),
                    kind: ProblemKind::Invalid,
                });
            }
        }
        if let Some(upload) = push.bulk_upload()
            && !documents::exists(tx, app, DocumentKind::BulkUpload, &upload.to_string())?
        {
            problems.push(Problem {
                path: request_path.of_push(n, "audience.bulk_id"),
                message: "There is no such upload, or it is older than 30 days; upload the file again.".to_owned(),
                kind: ProblemKind::Invalid,
            });
        }
        if let Audience::Selector(selector) = &push.audience {
            problems.extend(unknown_pushes(tx, app, selector, &request_path.of_push(n, "audience"))?);
        }
        if let Audience::Selector(selector) = &push.audience
            && !push.device_types.know_places()
            && let Some(segment) = segment_by_place(tx, app, selector)?
        {
            problems.push(Problem {
                path: request_path.of_push(n, "device_types"),
                message: format!(
                    "The segment '{segment}' is an audience by location, which needs 'ios' or 'android' to be listed \
                     here."
                ),
                kind: ProblemKind::Invalid,
            });
        }
    }
    Error::refuse(problems)
}

fn is_known(tx: &mut Tx<'_>, app: AppId, platform: &OpenPlatform) -> Result<bool> {
    let registered = terms::find(tx, app, &Term::DeviceType(DeviceType::Open(platform.clone())))?.is_some();
    Ok(registered || documents::get(tx, app, DocumentKind::Platform, platform.as_str())?.is_some())
}
