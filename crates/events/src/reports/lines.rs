//! Several figures of an app over time at once, for charts: in all or by platform, beside those of the time before.

use std::collections::BTreeSet;

use base::Result;
use boxed::boxed;
use model::ids::AppId;
use model::report::{Page, Period, Precision};
use model::time::UtcMillis;
use store::Tx;
use store::counters::{self, Metric, Opted};

use super::devices::STATE;
use super::{Counts, fill, grain, hours_per_slot};
use crate::Events;

const HOURS_PER_DAY: i64 = 24;

/// A figure that a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    Sends,
    /// Of them, what devices have acknowledged.
    Received,
    Opens,
    Direct,
    Influenced,
    /// Devices that opened the app, by whether they were opted in.
    Optins,
    Optouts,
    /// Installed channels at the end of each bucket.
    Devices,
    /// Those of them that are opted in.
    OptedIn,
    Installs,
    Uninstalls,
    Sessions,
    SessionSeconds,
    MessageSends,
    MessageReads,
    MessageDeletions,
    /// In-app messages that devices have shown, those that were tapped, and what else was done with them.
    InAppDisplays,
    InAppClicks,
    InAppTaps,
    InAppPages,
    InAppFormsSent,
    /// Those that were not shown to a holdout group.
    InAppHoldouts,
    /// Uses of feature flags.
    FlagInteractions,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct LinesRequest {
    pub figures: Vec<Figure>,
    pub period: Period,
    pub by_platform: bool,
    /// Whether the time before, of as many buckets, is wanted, too.
    pub with_previous: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// When each bucket begins.
    pub dates: Vec<UtcMillis>,
    pub previous_dates: Option<Vec<UtcMillis>>,
    pub lines: Vec<Line>,
    /// Whether there are more buckets than were asked for at most. Then there is nothing else.
    pub is_cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub figure: Figure,
    /// A family of device types; `None` for all together.
    pub platform: Option<&'static str>,
    /// One for each bucket.
    pub values: Vec<u64>,
    pub previous: Option<Vec<u64>>,
}

impl Figure {
    pub const NAMED: [(&'static str, Figure); 23] = [
        ("sends", Figure::Sends),
        ("received", Figure::Received),
        ("opens", Figure::Opens),
        ("direct", Figure::Direct),
        ("influenced", Figure::Influenced),
        ("optins", Figure::Optins),
        ("optouts", Figure::Optouts),
        ("devices", Figure::Devices),
        ("opted_in", Figure::OptedIn),
        ("installs", Figure::Installs),
        ("uninstalls", Figure::Uninstalls),
        ("sessions", Figure::Sessions),
        ("session_seconds", Figure::SessionSeconds),
        ("message_sends", Figure::MessageSends),
        ("message_reads", Figure::MessageReads),
        ("message_deletions", Figure::MessageDeletions),
        ("in_app_displays", Figure::InAppDisplays),
        ("in_app_clicks", Figure::InAppClicks),
        ("in_app_taps", Figure::InAppTaps),
        ("in_app_pages", Figure::InAppPages),
        ("in_app_forms_sent", Figure::InAppFormsSent),
        ("in_app_holdouts", Figure::InAppHoldouts),
        ("flag_interactions", Figure::FlagInteractions),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMED.into_iter().find(|(_, figure)| *figure == self).map_or("", |(name, _)| name)
    }

    /// Whether the values of buckets add up to something.
    pub fn adds_up(self) -> bool {
        matches!(self.source(Precision::Daily), Source::Count(_)) && !matches!(self, Figure::Optins | Figure::Optouts)
    }

    const fn source(self, precision: Precision) -> Source {
        match self {
            Figure::Sends => Source::Count(Metric::Sends),
            Figure::Received => Source::Count(Metric::Received),
            Figure::Opens => Source::Count(Metric::Opens),
            Figure::Direct => Source::Count(Metric::DirectResponses),
            Figure::Influenced => Source::Count(Metric::InfluencedResponses),
            Figure::Optins => Source::Count(Metric::devices(Opted::In, precision)),
            Figure::Optouts => Source::Count(Metric::devices(Opted::Out, precision)),
            Figure::Devices => Source::Balance(Metric::Created, Metric::Uninstalled),
            Figure::OptedIn => Source::Balance(Metric::OptedIn, Metric::OptedOut),
            Figure::Installs => Source::Count(Metric::Created),
            Figure::Uninstalls => Source::Count(Metric::Uninstalled),
            Figure::Sessions => Source::Count(Metric::Sessions),
            Figure::SessionSeconds => Source::Count(Metric::SessionSeconds),
            Figure::MessageSends => Source::Count(Metric::RichSends),
            Figure::MessageReads => Source::Count(Metric::RichReads),
            Figure::MessageDeletions => Source::Count(Metric::RichDeletions),
            Figure::InAppDisplays => Source::Count(Metric::InAppDisplays),
            Figure::InAppClicks => Source::Count(Metric::InAppClicks),
            Figure::InAppTaps => Source::Count(Metric::InAppTaps),
            Figure::InAppPages => Source::Count(Metric::InAppPages),
            Figure::InAppFormsSent => Source::Count(Metric::InAppFormsSent),
            Figure::InAppHoldouts => Source::Count(Metric::InAppHoldouts),
            Figure::FlagInteractions => Source::Count(Metric::FlagInteractions),
        }
    }
}

/// What a figure is made of.
enum Source {
    /// What was counted in a bucket.
    Count(Metric),
    /// Everything that came until the end of a bucket, less everything that went.
    Balance(Metric, Metric),
}

/// What is known of each bucket of a page.
struct Known {
    counted: Vec<Counts>,
    until_end: Vec<Counts>,
}

#[boxed]
impl Events {
    /// Reads what all lines need with at most three statements, and as many for the time before.
    pub async fn lines(&self, app: AppId, request: LinesRequest, at_most: usize) -> Result<Lines> {
        self.0.store.read(move |tx| lines(tx, app, &request, at_most)).await
    }
}

fn lines(tx: &mut Tx<'_>, app: AppId, request: &LinesRequest, at_most: usize) -> Result<Lines> {
    let precision = request.period.precision;
    let page = request.period.page(at_most);
    if page.rest.is_some() {
        return Ok(Lines { dates: Vec::new(), previous_dates: None, lines: Vec::new(), is_cut: true });
    }
    let n_buckets = i32::try_from(page.buckets.len()).unwrap_or(i32::MAX);
    let before = request.with_previous.then(|| request.period.earlier(n_buckets).page(at_most));
    let known = Known::read(tx, app, request, &page)?;
    let known_before = before.as_ref().map(|page| Known::read(tx, app, request, page)).transpose()?;
    let platforms: Vec<Option<&'static str>> = match request.by_platform {
        false => vec![None],
        true => {
            let all = known.families().into_iter().chain(known_before.iter().flat_map(Known::families));
            all.collect::<BTreeSet<_>>().into_iter().map(Some).collect()
        }
    };
    let pairs = request.figures.iter().flat_map(|figure| platforms.iter().map(|platform| (*figure, *platform)));
    let line = |(figure, platform): (Figure, Option<&'static str>)| Line {
        figure,
        platform,
        values: known.values(figure, platform, precision),
        previous: known_before.as_ref().map(|known| known.values(figure, platform, precision)),
    };
    let dates = |page: &Page| page.buckets.iter().map(|first| UtcMillis::of_hour(*first)).collect();
    Ok(Lines {
        dates: dates(&page),
        previous_dates: before.as_ref().map(dates),
        lines: pairs.map(line).collect(),
        is_cut: false,
    })
}

impl Known {
    fn read(tx: &mut Tx<'_>, app: AppId, request: &LinesRequest, page: &Page) -> Result<Self> {
        let precision = request.period.precision;
        let (mut metrics, mut needs_balance) = (Vec::new(), false);
        for figure in &request.figures {
            match figure.source(precision) {
                Source::Count(metric) => metrics.push(metric),
                Source::Balance(..) => needs_balance = true,
            }
        }
        let mut known = Self { counted: Vec::new(), until_end: Vec::new() };
        if !metrics.is_empty() {
            let sums = counters::sums(tx, app, &metrics, &page.hours, grain(precision))?;
            known.counted = fill(page, precision, sums).buckets.into_iter().map(|(_, counts)| counts).collect();
        }
        if needs_balance {
            known.until_end = balances(tx, app, page, precision)?;
        }
        Ok(known)
    }

    fn families(&self) -> BTreeSet<&'static str> {
        self.counted.iter().chain(&self.until_end).flat_map(Counts::families).collect()
    }

    fn values(&self, figure: Figure, platform: Option<&'static str>, precision: Precision) -> Vec<u64> {
        let on = |counts: &Counts, metric: Metric| match platform {
            Some(family) => counts.on(family, metric),
            None => counts.families().into_iter().map(|family| counts.on(family, metric)).sum(),
        };
        match figure.source(precision) {
            Source::Count(metric) => self.counted.iter().map(|counts| on(counts, metric)).collect(),
            Source::Balance(came, went) => {
                let balance = |counts| on(counts, came).saturating_sub(on(counts, went));
                self.until_end.iter().map(balance).collect()
            }
        }
    }
}

/// Everything that was counted of the state of devices until the end of each bucket.
fn balances(tx: &mut Tx<'_>, app: AppId, page: &Page, precision: Precision) -> Result<Vec<Counts>> {
    let Some(first) = page.buckets.first().copied() else { return Ok(Vec::new()) };
    let day = first.div_euclid(HOURS_PER_DAY);
    let mut until = Counts::of(counters::totals_until(tx, app, &STATE, day - 1)?);
    let hours = day * HOURS_PER_DAY..page.hours.end;
    let (mut before, mut within) = (Vec::new(), Vec::new());
    for sum in counters::sums(tx, app, &STATE, &hours, grain(precision))? {
        // The hours of the first day before the first bucket.
        if sum.slot * hours_per_slot(precision) < first { &mut before } else { &mut within }.push(sum);
    }
    for sum in before {
        until.add(sum.device_type, sum.metric, sum.n);
    }
    let buckets = fill(page, precision, within).buckets.into_iter().map(|(_, counted)| {
        until.add_all(&counted);
        until.clone()
    });
    Ok(buckets.collect())
}
