//! What is wrong with pushes that only the service can tell, with the paths of a request.

use geo::Code;
use model::ids::AppId;
use model::json::OneOrMany;
use model::payload::Push;
use model::payload::message::Message;
use model::platform::{DeviceType, OpenPlatform};
use model::problem::{Problem, ProblemKind, Problems};
use model::property::{country_tag, language_tag};
use model::selector::{self, Atomic, Audience, Location, Selector};
use model::term::Term;
use store::documents::{self, DocumentKind};
use store::{Tx, terms};

use super::fit::{Company, oversized};
use crate::locations::find_place;
use crate::segments::segment_by_place;
use crate::{Error, Result};

/// Where the pushes are in a body.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    is_array: bool,
    /// The key under which each of them is, with a dot; empty when they are not inside anything.
    inside: &'static str,
}

impl Place {
    pub(crate) const fn of<T>(items: &OneOrMany<T>, inside: &'static str) -> Self {
        Self { is_array: matches!(items, OneOrMany::Many(_)), inside }
    }

    /// Of something at or below the n-th push.
    pub(crate) fn path(self, n: usize, below: &str) -> String {
        self.path_outside(n, &format!("{}{below}", self.inside))
    }

    /// Of something beside the n-th push.
    pub(crate) fn path_outside(self, n: usize, below: &str) -> String {
        if self.is_array { format!("[{n}].{below}") } else { below.to_owned() }
    }
}

pub(crate) fn fail_with(problems: Vec<Problem>) -> Result<()> {
    Problems::from_vec(problems).map_or(Ok(()), |problems| Err(Error::Invalid(problems)))
}

/// Refuses what can be told without the store: audiences that this version cannot evaluate, or that name places there are not,
/// because taking them for nobody would make NOT mean everybody; and pushes that are too large for a platform they are for.
pub(crate) fn refuse_unsupported<'p>(pushes: impl IntoIterator<Item = &'p Push>, place: Place) -> Result<()> {
    refuse_unsupported_with(pushes, place, Company::Alone)
}

/// As [`refuse_unsupported`], for pushes that something sends over time, of which devices are told a little more.
pub(crate) fn refuse_unsupported_in_group<'p>(pushes: impl IntoIterator<Item = &'p Push>, place: Place) -> Result<()> {
    refuse_unsupported_with(pushes, place, Company::Group)
}

fn refuse_unsupported_with<'p>(
    pushes: impl IntoIterator<Item = &'p Push>,
    place: Place,
    company: Company,
) -> Result<()> {
    let mut problems = Vec::new();
    for (n, push) in pushes.into_iter().enumerate() {
        if let Audience::Selector(selector) = &push.audience {
            problems.extend(misunderstood(selector, place.path(n, "audience")));
        }
        problems.extend(oversized(push, company, |below| place.path(n, below)));
        problems.extend(textless_messages(push, |below| place.path(n, below)));
        problems.extend(uncertain_holders(push, |below| place.path(n, below)));
        problems.extend(textless_overrides(push, |below| place.path(n, below)));
    }
    fail_with(problems)
}

/// What is wrong with an audience that would not mean what it says.
pub(crate) fn misunderstood(selector: &Selector, path: String) -> Option<Problem> {
    unsupported(selector, path.clone()).or_else(|| {
        let of_atom =
            |atom: &Atomic| if let Atomic::Location(location) = atom { unknown_place(location) } else { None };
        let message = selector.atoms().find_map(of_atom)?;
        Some(Problem { path, message, kind: ProblemKind::Invalid })
    })
}

/// Messages whose title or body would have to come from elsewhere: there would be nothing to put into inboxes.
fn textless_messages(push: &Push, path: impl Fn(&str) -> String) -> Vec<Problem> {
    let localized = push.localizations.iter().flatten().enumerate();
    let localized =
        localized.filter_map(|(i, one)| Some((format!("localizations[{i}].message"), one.message.as_ref()?)));
    let messages = push.message.iter().map(|message| ("message".to_owned(), message)).chain(localized);
    let textless = messages.filter(|(_, message)| message.title().is_none() || message.body().is_none());
    let problem = |(below, _): (String, &Message)| Problem {
        path: path(&format!("{below}.template")),
        message: "The title and the body of a message must be in the request; to fill in a stored template, use \
                  /api/templates/push."
            .to_owned(),
        kind: ProblemKind::Invalid,
    };
    textless.map(problem).collect()
}

/// Overrides whose texts would have to come from elsewhere: devices would be sent nothing to show.
fn textless_overrides(push: &Push, path: impl Fn(&str) -> String) -> Vec<Problem> {
    let localized = push.localizations.iter().flatten().enumerate();
    let localized =
        localized.filter_map(|(i, one)| Some((format!("localizations[{i}].notification"), one.notification.as_ref()?)));
    let notifications = push.notification.iter().map(|top| ("notification".to_owned(), top)).chain(localized);
    let stored = notifications.flat_map(|(below, notification)| {
        let platforms = notification.platforms_with_stored_texts();
        platforms.into_iter().map(move |platform| format!("{below}.{platform}.template"))
    });
    let problem = |below: String| Problem {
        path: path(&below),
        message:
            "The texts of an override must be in the request, under 'fields' of its template or without one; to fill \
                  in a stored template, use /api/templates/push."
                .to_owned(),
        kind: ProblemKind::Invalid,
    };
    stored.map(problem).collect()
}

/// Localizations of a push whose message is only for some locales, by codes that channels are not found by: who holds the
/// message could not be told.
fn uncertain_holders(push: &Push, path: impl Fn(&str) -> String) -> Vec<Problem> {
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

/// What is wrong with an audience that this version cannot evaluate.
pub(crate) fn unsupported(selector: &Selector, path: String) -> Option<Problem> {
    let message = selector.atoms().find_map(|atom| match atom {
        Atomic::Activity(activity) => activity.openings().err().map(str::to_owned),
        Atomic::Location(location) => unknown_alias(location),
        Atomic::Tag { .. }
        | Atomic::Segment(_)
        | Atomic::NamedUser(_)
        | Atomic::Alias(_)
        | Atomic::StaticList(_)
        | Atomic::SubscriptionList { .. }
        | Atomic::Channel(_)
        | Atomic::IosChannel(_)
        | Atomic::AndroidChannel(_)
        | Atomic::AmazonChannel(_)
        | Atomic::WebChannel(_)
        | Atomic::OpenChannel(_)
        | Atomic::DeviceToken(_)
        | Atomic::Apid(_)
        | Atomic::Wns(_)
        | Atomic::Mpns(_)
        | Atomic::DevicePin(_)
        | Atomic::SmsId(_)
        | Atomic::SmsSender(_)
        | Atomic::Attribute(_) => None,
    });
    message.map(|message| Problem { path, message, kind: ProblemKind::Invalid })
}

fn unknown_alias(location: &Location) -> Option<String> {
    let selector::Place::Alias { kind, .. } = &location.place else { return None };
    let known: Vec<&str> = Code::ALL.into_iter().map(Code::name).collect();
    let is_known = known.contains(&kind.as_str());
    (!is_known).then(|| format!("Places are not known by '{kind}', only by id, {}.", known.join(", ")))
}

fn unknown_place(location: &Location) -> Option<String> {
    // If the atlas cannot be read, the push will say so.
    let atlas = geo::atlas().ok()?;
    let (key, name) = location.place.named_by();
    let is_known = find_place(atlas, &location.place).is_some();
    (!is_known).then(|| format!("There is no place with the {key} '{name}'; GET /api/location/?q=NAME finds places."))
}

/// Refuses open platforms that nobody has configured and no channel has registered for: most likely a typing mistake. A push that
/// brings its recipients along registers them, which makes the platform known. Refuses platforms that do not know where devices
/// have been, too, for segments that ask for it; the push alone does not tell.
pub(crate) fn refuse_unfit_platforms<'p>(
    tx: &mut Tx<'_>,
    app: AppId,
    pushes: impl IntoIterator<Item = &'p Push>,
    place: Place,
) -> Result<()> {
    let mut problems = Vec::new();
    for (n, push) in pushes.into_iter().enumerate().filter(|(_, push)| push.recipients().is_none()) {
        for platform in push.open_platforms() {
            if !is_known(tx, app, platform)? {
                problems.push(Problem {
                    path: place.path(n, "device_types"),
                    message: format!(
                        "The open platform '{0}' is not known: no channel has registered for open::{0} and it is not \
                         configured.",
                        platform.as_str()
                    ),
                    kind: ProblemKind::Invalid,
                });
            }
        }
        if let Audience::Selector(selector) = &push.audience
            && !push.device_types.know_places()
            && let Some(segment) = segment_by_place(tx, app, selector)?
        {
            problems.push(Problem {
                path: place.path(n, "device_types"),
                message: format!(
                    "The segment '{segment}' is an audience by location, which needs 'ios' or 'android' to be listed \
                     here."
                ),
                kind: ProblemKind::Invalid,
            });
        }
    }
    fail_with(problems)
}

fn is_known(tx: &mut Tx<'_>, app: AppId, platform: &OpenPlatform) -> Result<bool> {
    let registered = terms::find(tx, app, &Term::DeviceType(DeviceType::Open(platform.clone())))?.is_some();
    Ok(registered || documents::get(tx, app, DocumentKind::Platform, platform.as_str())?.is_some())
}
