//! The transaction of one upload.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use model::channel::{Profile, UsageUpdate};
use model::device_event::{Button, InAppEnd, Opened, PushEcho, Told, ToldCustom, ToldInApp, ToldLocation};
use model::event::{self, AssociatedPush, Event, InAppDisplay, RecordKind};
use model::ids::{ChannelId, EventId, Ordinal, SessionId};
use model::term::DayKind;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use serde::Serialize;
use store::channels::{self, Channel};
use store::counters::Metric;
use store::sessions::{self, Session};
use store::{Tx, pushes, seen_events};

use super::attribution::Attribution;
use super::changes::Changes;
use super::counts::Counts;
use super::{Taken, Timed};
use crate::desk::Desk;
use crate::push::stored_push;
use crate::recent::Recent;
use crate::{Error, Result};

/// Whoever seems to have used the app for longer has lost the end of a session.
const LONGEST_SESSION: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn take(
    tx: &mut Tx<'_>,
    desk: &mut Desk<'_>,
    recent: &Recent,
    channel: ChannelId,
    events: &[Timed],
    usage: &UsageUpdate,
    keep_coordinates: bool,
) -> Result<Taken> {
    let found = channels::by_id(tx, desk.app, channel)?;
    let Some(row) = found.filter(|row| row.installed) else {
        return Ok(Taken { of_nobody: events.len() as u64, ..Taken::default() });
    };
    let new = new_events(tx, desk, events)?;
    desk.seen(tx, row.ordinal, new.iter().filter_map(|timed| timed.seen.as_ref()))?;
    let profile: Profile = serde_json::from_str(&row.profile).map_err(Error::internal)?;
    let mut taking = Taking {
        ordinal: row.ordinal,
        attribution: Attribution::new(desk.app, row.ordinal, row.id, recent),
        changes: Changes::new(usage.clone()),
        counts: Counts::new(desk.app, row.device_type.to_string()),
        days: BTreeMap::new(),
        session: None,
        profile,
        keep_coordinates,
        desk,
    };
    for event in &new {
        taking.event(tx, event)?;
    }
    taking.finish(tx, row)?;
    let taken = new.len() as u64;
    Ok(Taken { taken, repeated: events.len() as u64 - taken, ..Taken::default() })
}

/// Those that were not taken before, which are remembered from now on.
fn new_events<'e>(tx: &mut Tx<'_>, desk: &Desk<'_>, events: &'e [Timed]) -> Result<Vec<&'e Timed>> {
    let keys: Vec<_> = events.iter().map(|event| event.key).collect();
    let mut known: HashSet<(i64, EventId)> = seen_events::known(tx, desk.app, &keys)?;
    let new: Vec<&Timed> = events.iter().filter(|event| known.insert(event.key)).collect();
    let keys: Vec<_> = new.iter().map(|event| event.key).collect();
    seen_events::add(tx, desk.app, &keys)?;
    Ok(new)
}

struct Taking<'a, 'd> {
    desk: &'a mut Desk<'d>,
    ordinal: Ordinal,
    profile: Profile,
    attribution: Attribution<'a>,
    changes: Changes,
    counts: Counts,
    /// The days on which the app was opened, and whether from a notification.
    days: BTreeMap<i32, bool>,
    session: Option<Sessions>,
    keep_coordinates: bool,
}

/// The session that the channel is in, and the one that the database knows.
struct Sessions {
    stored: Option<Session>,
    current: Option<Session>,
}

impl Taking<'_, '_> {
    fn event(&mut self, tx: &mut Tx<'_>, timed: &Timed) -> Result<()> {
        match &timed.event.told {
            Told::Opened(opened) => self.opened(tx, timed, opened),
            Told::Closed => self.closed(tx, timed),
            Told::Custom(custom) => self.custom(tx, timed, custom),
            Told::Screen(screen) => self.record(RecordKind::ScreenViewed, timed, screen),
            Told::Region(region) => self.record(RecordKind::Region, timed, region),
            Told::Location(location) => self.location(timed, location),
            Told::InAppDisplay(told) => {
                let (display, _) = self.display(tx, timed, told)?;
                self.record(RecordKind::InAppMessageDisplay, timed, display)
            }
            Told::InAppEnd(told, end) => self.in_app_end(tx, timed, told, end),
            Told::Button(button) => self.button(tx, timed, button),
            Told::Identifiers(identifiers) => {
                self.changes.identifiers(identifiers);
                Ok(())
            }
            Told::Other(other) => self.record(RecordKind::Unrecognized, timed, other),
        }
    }

    fn record(&mut self, kind: RecordKind, timed: &Timed, body: impl Serialize) -> Result<()> {
        let event = Event { id: timed.event.id, occurred: timed.at, body };
        self.desk.journal.event_from_outside(kind, Some(self.ordinal), &event)
    }

    fn opened(&mut self, tx: &mut Tx<'_>, timed: &Timed, opened: &Opened) -> Result<()> {
        let due = self.attribution.due(tx, opened.echo, timed.at)?;
        self.changes.opened(opened);
        self.counts.add(tx, Metric::Opens, timed.at, 1)?;
        let state = if self.profile.opt_in { Metric::OptedInOpens } else { Metric::OptedOutOpens };
        self.counts.add(tx, state, timed.at, 1)?;
        if let Some(offset) = opened.utc_offset_seconds.or_else(|| self.profile.utc_offset_seconds(timed.at)) {
            let shown = UtcMillis(timed.at.0.saturating_add(i64::from(offset) * 1000));
            self.counts.add(tx, Metric::LocalOpens, shown, 1)?;
        }
        match (due.direct(), due.indirect()) {
            (Some(push), _) => self.counts.add_response(tx, push, Metric::DirectResponses, timed.at)?,
            (None, Some(push)) => self.counts.add_response(tx, push, Metric::InfluencedResponses, timed.at)?,
            (None, None) => {}
        }
        *self.days.entry(timed.at.day()).or_default() |= due.to.is_some();
        let session_id = session_name(timed);
        let session = Session { id: SessionId::of(&session_id), opened: timed.at };
        self.sessions(tx)?.current = Some(session);
        let body = event::Open { session_id, last_delivered: due.last_delivered, triggering_push: due.to };
        self.record(RecordKind::Open, timed, body)
    }

    fn closed(&mut self, tx: &mut Tx<'_>, timed: &Timed) -> Result<()> {
        let session_id = session_name(timed);
        let id = SessionId::of(&session_id);
        if let Some(session) = self.sessions(tx)?.current.take_if(|session| session.id == id) {
            let lasted = timed.at.0.saturating_sub(session.opened.0);
            let lasted = u64::try_from(lasted).ok().map(Duration::from_millis);
            if let Some(lasted) = lasted.filter(|lasted| *lasted <= LONGEST_SESSION) {
                self.counts.add(tx, Metric::Sessions, timed.at, 1)?;
                self.counts.add(
                    tx,
                    Metric::SessionSeconds,
                    timed.at,
                    (lasted + Duration::from_millis(500)).as_secs(),
                )?;
            }
        }
        self.record(RecordKind::Close, timed, event::Close { session_id })
    }

    fn sessions(&mut self, tx: &mut Tx<'_>) -> Result<&mut Sessions> {
        if self.session.is_none() {
            let stored = sessions::get(tx, self.desk.app, self.ordinal)?;
            self.session = Some(Sessions { stored, current: stored });
        }
        self.session.as_mut().ok_or_else(|| Error::internal("a session that was just read is gone"))
    }

    fn custom(&mut self, tx: &mut Tx<'_>, timed: &Timed, custom: &ToldCustom) -> Result<()> {
        let due = self.attribution.due(tx, custom.echo, timed.at)?;
        let mut body = custom.event.clone();
        self.counts.add_custom(tx, &body.name, timed.at, due.direct(), due.indirect(), body.value)?;
        body.last_delivered = due.last_delivered;
        body.triggering_push = due.to;
        self.record(RecordKind::Custom, timed, body)
    }

    fn location(&mut self, timed: &Timed, told: &ToldLocation) -> Result<()> {
        let kept = |text: &String| self.keep_coordinates.then(|| text.clone());
        let body = event::Location {
            latitude: kept(&told.latitude),
            longitude: kept(&told.longitude),
            foreground: told.foreground,
            session_id: timed.event.session.clone(),
        };
        self.record(RecordKind::Location, timed, body)
    }

    /// Which in-app message it is, and when the push was sent that it came with.
    fn display(&mut self, tx: &mut Tx<'_>, timed: &Timed, told: &ToldInApp) -> Result<(InAppDisplay, Option<String>)> {
        let push = self.push_of_text(tx, &told.id)?;
        let app_defined_id = push.is_none().then(|| told.id.clone());
        let triggering_push = self.attribution.due(tx, told.echo, timed.at)?.to;
        let campaigns = push.as_ref().and_then(|push| push.campaigns.clone()).or_else(|| told.campaigns.clone());
        let display = InAppDisplay {
            push_id: push.as_ref().map(|push| push.push_id),
            app_defined_id,
            group_id: push.as_ref().and_then(|push| push.group_id),
            variant_id: push.as_ref().and_then(|push| push.variant_id),
            session_id: timed.event.session.clone(),
            triggering_push,
            campaigns,
            context: told.context.clone(),
        };
        Ok((display, push.and_then(|push| push.time)))
    }

    fn push_of_text(&mut self, tx: &mut Tx<'_>, text: &str) -> Result<Option<AssociatedPush>> {
        let Ok(id) = text.parse() else { return Ok(None) };
        Ok(self.attribution.named(tx, PushEcho { id, variant_id: None })?.map(|push| push.told))
    }

    fn in_app_end(&mut self, tx: &mut Tx<'_>, timed: &Timed, told: &ToldInApp, end: &InAppEnd) -> Result<()> {
        let (display, time_sent) = self.display(tx, timed, told)?;
        match end {
            InAppEnd::Resolved(resolution) => {
                let resolution = event::Resolution { time_sent, ..resolution.clone() };
                let body = event::InAppResolution { display, resolution };
                self.record(RecordKind::InAppMessageResolution, timed, body)
            }
            InAppEnd::Expired(expiration, replaced_by) => {
                let replacing_push = match replaced_by {
                    Some(text) => self.push_of_text(tx, text)?,
                    None => None,
                };
                let expiration = event::Expiration { time_sent, replacing_push, ..expiration.clone() };
                let body = event::InAppExpiration { display, expiration };
                self.record(RecordKind::InAppMessageExpiration, timed, body)
            }
        }
    }

    fn button(&mut self, tx: &mut Tx<'_>, timed: &Timed, button: &Button) -> Result<()> {
        let named = button.echo.tapped.map(|echo| self.attribution.named(tx, echo)).transpose()?.flatten();
        if let Some(push) = named.map(|push| push.told.push_id) {
            // A button that opens the app is followed by an opening, which is counted.
            if !button.foreground {
                self.counts.add_response(tx, push, Metric::DirectResponses, timed.at)?;
            }
            let stored = pushes::by_id(tx, self.desk.app, push)?.map(|row| stored_push(&row)).transpose()?.flatten();
            if let Some(push) = stored {
                self.changes.pressed(&push, &self.profile, &button.button);
            }
        }
        self.record(RecordKind::Unrecognized, timed, &button.whole)
    }

    fn finish(self, tx: &mut Tx<'_>, row: Channel) -> Result<()> {
        let Self { desk, ordinal, profile, changes, days, session, .. } = self;
        let channel = RoaringBitmap::from([ordinal.0]);
        for (day, from_notification) in days {
            desk.happened_on(tx, DayKind::Open, day, &channel)?;
            if from_notification {
                desk.happened_on(tx, DayKind::DirectOpen, day, &channel)?;
            }
        }
        if let Some(Sessions { stored, current }) = session
            && stored != current
        {
            sessions::set(tx, desk.app, ordinal, current)?;
        }
        changes.write(tx, desk, row, &profile)
    }
}

/// Libraries name every session. One that is not named is told apart from others by the event.
fn session_name(timed: &Timed) -> String {
    timed.event.session.clone().unwrap_or_else(|| timed.event.id.to_string())
}
