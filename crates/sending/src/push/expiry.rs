//! Until when the parts of a push may be sent: to each platform until its own expiry, or else until that of the push.

use std::time::Duration;

use base::{Error, Result};
use model::device_type::DeviceType;
use model::limits::AMAZON_EXPIRY_SECONDS;
use model::payload::Push;
use model::payload::device_types::DeviceTypes;
use model::payload::expiry::Expiry;
use model::problem::{Problem, ProblemKind};
use model::time::UtcMillis;

use super::check::RequestPath;
use crate::reach;

/// "Now or never" is meant for the provider; our own queue gets this long.
const NOW_OR_NEVER: Duration = Duration::from_secs(60);

/// When our queue gives up the deliveries to devices of a type that get the content of this localization.
pub(crate) fn deadline(
    push: &Push,
    localization: Option<usize>,
    device_type: &DeviceType,
    sent: UtcMillis,
) -> Option<UtcMillis> {
    let own = push.content_of(localization).notification.and_then(|notification| notification.expiry_on(device_type));
    own.map(|own| in_queue(own, sent)).or_else(|| general_deadline(push, sent))
}

/// For everything without an expiry of its own.
fn general_deadline(push: &Push, sent: UtcMillis) -> Option<UtcMillis> {
    push.options.as_ref()?.expiry.as_ref().map(|expiry| in_queue(expiry, sent))
}

fn in_queue(expiry: &Expiry, sent: UtcMillis) -> UtcMillis {
    match expiry {
        Expiry::Seconds(0) => sent.plus(NOW_OR_NEVER),
        Expiry::Seconds(_) | Expiry::At { .. } => expiry.deadline(sent),
    }
}

/// When nothing more is sent to devices of a type, whichever content they get.
pub(crate) fn last_deadline_on(push: &Push, device_type: &DeviceType, sent: UtcMillis) -> Option<UtcMillis> {
    let n_localizations = push.localizations.as_ref().map_or(0, Vec::len);
    let contents = std::iter::once(None).chain((0..n_localizations).map(Some));
    latest(contents.map(|localization| deadline(push, localization, device_type, sent)))
}

/// When nothing more is sent to anybody.
pub(super) fn last_deadline(push: &Push, sent: UtcMillis) -> Option<UtcMillis> {
    let named = DeviceType::NAMED.into_iter().map(|(_, device_type)| device_type);
    let named = named.filter(|named| push.device_types.includes(named) && reach::needed(push, named).is_some());
    let may_be_open = match &push.device_types {
        DeviceTypes::All { .. } => true,
        DeviceTypes::List(_) => push.open_platforms().next().is_some(),
    };
    // Open platforms have no expiry of their own.
    let open = may_be_open.then(|| general_deadline(push, sent));
    latest(named.map(|device_type| last_deadline_on(push, &device_type, sent)).chain(open))
}

/// The latest deadline; none, if a part has none.
fn latest(deadlines: impl Iterator<Item = Option<UtcMillis>>) -> Option<UtcMillis> {
    deadlines.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// Refuses instants until which Amazon would not keep a message that is sent now. For a push that is sent later only that time
/// decides, so that it is not checked.
pub fn refuse_expiries_beyond_providers<'p>(
    pushes: impl IntoIterator<Item = &'p Push>,
    now: UtcMillis,
    request_path: RequestPath,
) -> Result<()> {
    let [least, most] = [*AMAZON_EXPIRY_SECONDS.start(), *AMAZON_EXPIRY_SECONDS.end()];
    let within = |seconds: u32| now.plus(Duration::from_secs(u64::from(seconds)));
    let mut problems = Vec::new();
    for (n, push) in pushes.into_iter().enumerate() {
        for (below, notification) in push.notifications() {
            let Some(Expiry::At { at, .. }) = notification.expiry_on(&DeviceType::Amazon) else { continue };
            if !(within(least)..=within(most)).contains(at) {
                problems.push(Problem {
                    path: request_path.of_push(n, &format!("{below}.amazon.expires_after")),
                    message: format!(
                        "Amazon keeps a message for {least} seconds to {} days; this must be within that time from now.",
                        most / 86_400
                    ),
                    kind: ProblemKind::Invalid,
                });
            }
        }
    }
    Error::refuse(problems)
}
