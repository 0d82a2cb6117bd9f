//! Counts per hour and platform, of an app, of its pushes and of groups of them, raised in the transaction of
//! the counted change; and their sums.

mod groups;
mod pending;
mod sums;

use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::report::Precision;
use model::time::UtcMillis;

pub use groups::forget_group;
pub(crate) use groups::{Groups, column as group_column};
pub(crate) use pending::PendingCounts;
pub(crate) use sums::bounds;
pub use sums::{
    Grain, PushTotal, Pushes, Sum, Total, sums, sums_of_pushes, totals_of_each, totals_of_pushes, totals_until,
};

use crate::{Error, Result, Tx};

/// A figure that is counted. The names are stored: never change one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    /// Messages that were handed to a provider.
    Sends,
    /// The sends that devices show or sound.
    AlertingSends,
    /// The sends that devices have acknowledged.
    Received,
    /// Channels that got nothing, as the control group of an experiment.
    Controls,
    /// Openings of the app by way of a notification, at most one of a channel for each push that was sent to it.
    DirectResponses,
    /// Openings of the app within twelve hours of a push, not by way of it.
    InfluencedResponses,
    /// Responses to a push by channels that it was not sent to.
    UnprovenResponses,
    /// Responses to a push that is so old that its recipients are not known any more.
    LateResponses,
    /// All openings of the app.
    Opens,
    /// The openings whose device says what its clock shows, by the hours of that clock instead of UTC.
    LocalOpens,
    /// Channels that opened the app: the first opening of each in an hour, a day and a month of UTC, by whether it was opted in at
    /// that time.
    OptedInOfHour,
    OptedInOfDay,
    OptedInOfMonth,
    OptedOutOfHour,
    OptedOutOfDay,
    OptedOutOfMonth,
    /// Sessions that have ended, and for how many seconds they lasted.
    Sessions,
    SessionSeconds,
    /// Channels created and uninstalled, and changes of opt-in: the number at a time is the sum of everything
    /// added until then less everything taken away.
    Created,
    Uninstalled,
    OptedIn,
    OptedOut,
    /// Messages that were put into inboxes, read there, and deleted.
    RichSends,
    RichReads,
    RichDeletions,
    /// In-app messages that devices have shown, those of them by opted-in devices, and those that somebody tapped, on a button or
    /// elsewhere.
    InAppDisplays,
    InAppOptedInDisplays,
    InAppClicks,
    /// What else somebody does with one: taps on a button, pages that come up, the last one of a scene, forms that are shown and
    /// sent.
    InAppTaps,
    InAppPages,
    InAppScenesCompleted,
    InAppForms,
    InAppFormsSent,
    /// In-app messages that were not shown: the device is in a holdout group, or the service said no.
    InAppHoldouts,
    InAppExclusions,
    /// Uses of feature flags that apps have told of.
    FlagInteractions,
}

/// Whether a channel shows notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opted {
    In,
    Out,
}

impl Metric {
    /// The devices that opened the app in buckets of a precision.
    pub const fn devices(opted: Opted, precision: Precision) -> Self {
        match (opted, precision) {
            (Opted::In, Precision::Hourly) => Metric::OptedInOfHour,
            (Opted::In, Precision::Daily) => Metric::OptedInOfDay,
            (Opted::In, Precision::Monthly) => Metric::OptedInOfMonth,
            (Opted::Out, Precision::Hourly) => Metric::OptedOutOfHour,
            (Opted::Out, Precision::Daily) => Metric::OptedOutOfDay,
            (Opted::Out, Precision::Monthly) => Metric::OptedOutOfMonth,
        }
    }

    pub const ALL: [Metric; 36] = [
        Metric::Sends,
        Metric::AlertingSends,
        Metric::Received,
        Metric::Controls,
        Metric::DirectResponses,
        Metric::InfluencedResponses,
        Metric::UnprovenResponses,
        Metric::LateResponses,
        Metric::Opens,
        Metric::LocalOpens,
        Metric::OptedInOfHour,
        Metric::OptedInOfDay,
        Metric::OptedInOfMonth,
        Metric::OptedOutOfHour,
        Metric::OptedOutOfDay,
        Metric::OptedOutOfMonth,
        Metric::Sessions,
        Metric::SessionSeconds,
        Metric::Created,
        Metric::Uninstalled,
        Metric::OptedIn,
        Metric::OptedOut,
        Metric::RichSends,
        Metric::RichReads,
        Metric::RichDeletions,
        Metric::InAppDisplays,
        Metric::InAppOptedInDisplays,
        Metric::InAppClicks,
        Metric::InAppTaps,
        Metric::InAppPages,
        Metric::InAppScenesCompleted,
        Metric::InAppForms,
        Metric::InAppFormsSent,
        Metric::InAppHoldouts,
        Metric::InAppExclusions,
        Metric::FlagInteractions,
    ];

    const fn name(self) -> &'static str {
        match self {
            Metric::Sends => "sends",
            Metric::AlertingSends => "alerting_sends",
            Metric::Received => "received",
            Metric::Controls => "controls",
            Metric::DirectResponses => "direct",
            Metric::InfluencedResponses => "influenced",
            Metric::UnprovenResponses => "unproven",
            Metric::LateResponses => "late",
            Metric::Opens => "opens",
            Metric::LocalOpens => "local_opens",
            Metric::OptedInOfHour => "opted_in_of_hour",
            Metric::OptedInOfDay => "opted_in_of_day",
            Metric::OptedInOfMonth => "opted_in_of_month",
            Metric::OptedOutOfHour => "opted_out_of_hour",
            Metric::OptedOutOfDay => "opted_out_of_day",
            Metric::OptedOutOfMonth => "opted_out_of_month",
            Metric::Sessions => "sessions",
            Metric::SessionSeconds => "session_seconds",
            Metric::Created => "created",
            Metric::Uninstalled => "uninstalled",
            Metric::OptedIn => "opted_in",
            Metric::OptedOut => "opted_out",
            Metric::RichSends => "rich_sends",
            Metric::RichReads => "rich_reads",
            Metric::RichDeletions => "rich_deletions",
            Metric::InAppDisplays => "in_app_displays",
            Metric::InAppOptedInDisplays => "in_app_opted_in_displays",
            Metric::InAppClicks => "in_app_clicks",
            Metric::InAppTaps => "in_app_taps",
            Metric::InAppPages => "in_app_pages",
            Metric::InAppScenesCompleted => "in_app_scenes_completed",
            Metric::InAppForms => "in_app_forms",
            Metric::InAppFormsSent => "in_app_forms_sent",
            Metric::InAppHoldouts => "in_app_holdouts",
            Metric::InAppExclusions => "in_app_exclusions",
            Metric::FlagInteractions => "flag_interactions",
        }
    }

    fn from_name(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|metric| metric.name() == name);
        found.ok_or_else(|| Error::corrupt(format!("metric {name:?}")))
    }
}

/// Hours since 1970 in UTC, the unit of counts; local openings use hours of local time.
pub fn hour(at: UtcMillis) -> i64 {
    at.0.div_euclid(3_600_000)
}

/// Raises a count of the app, at the end of the transaction.
pub fn add(tx: &mut Tx<'_>, app: AppId, metric: Metric, at: UtcMillis, device_type: &DeviceType, n: u64) -> Result<()> {
    tx.pending_counts()?.add(app, metric, hour(at), device_type, n);
    Ok(())
}

/// Raises the count of one push, and of its group, at the end of the transaction. The counts of the whole app
/// are raised with [`add`].
pub fn add_of_push(
    tx: &mut Tx<'_>,
    app: AppId,
    push: PushId,
    metric: Metric,
    at: UtcMillis,
    device_type: &DeviceType,
    n: u64,
) -> Result<()> {
    tx.pending_counts()?.add_of_push(app, push, metric, hour(at), device_type, n);
    Ok(())
}

/// Forgets what was counted of something that has counts as a push has, and is none.
pub fn forget(tx: &mut Tx<'_>, app: AppId, id: PushId) -> Result<()> {
    // Counts of this transaction would otherwise be written afterwards.
    tx.write_pending()?;
    tx.write("delete from push_counter where app = $1 and push = $2", &[app.into(), id.into()])
}
