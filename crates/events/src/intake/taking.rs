//! The transaction of one upload.

mod experiences;
mod in_app;

use std::collections::BTreeSet;
use std::time::Duration;

use base::Result;
use devices::{ChangeContext, LocationSettings, NewEvent, stored_profile};
use live::mark_receipt;
use model::channel::{Profile, UsageUpdate};
use model::device_event::{AppOpening, Button, Content, PushReceipt, ReceiptKind, UploadedCustom, UploadedLocation};
use model::device_type::DeviceType;
use model::event::{self, AttributedCustom, Event};
use model::ids::{ChannelId, EventId, Ordinal, PushId, SessionId};
use model::term::DayKind;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use sending::{Recent, stored_push};
use store::channels::{self, Channel};
use store::counters::{Metric, Opted};
use store::{Tx, push_marks, push_responses, pushes, sessions};

use super::attribution::{Attribution, Tapped};
use super::changes::Changes;
use super::counts::{Counts, count_custom};
use super::openings::Openings;
use super::seen::{Seen, Sender};
use super::{Taken, Timed};

/// A longer session has lost its end.
const LONGEST_SESSION: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn take(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    recent: &Recent,
    channel: ChannelId,
    events: &[Timed],
    usage: &UsageUpdate,
    locations: LocationSettings,
) -> Result<Taken> {
    let found = channels::by_id(tx, context.app, channel)?;
    let Some(row) = found.filter(|row| row.installed) else {
        return Ok(Taken { of_nobody: events.len() as u64, ..Taken::default() });
    };
    // What follows is asked for in as few questions as possible, and before events are written down: a command that has to wait for
    // an answer is run again from its beginning.
    Seen::foresee(tx, context.app, row.ordinal, events.iter().map(|event| &event.identity));
    sessions::foresee(tx, context.app, row.ordinal);
    let device_type = row.device_type.clone();
    let now = context.journal.now();
    let attribution = Attribution::new(context.app, row.ordinal, row.id, &device_type, recent, now);
    attribution.foresee(tx, events);
    let new = new_events(tx, context, &row, events)?;
    let mut new_days = BTreeSet::new();
    for day in new.iter().filter(|timed| is_opening(timed)).map(|timed| timed.at.day()).collect::<BTreeSet<_>>() {
        if context.happened_on(tx, DayKind::Open, day, &RoaringBitmap::from([row.ordinal.0]))? {
            new_days.insert(day);
        }
    }
    let openings = match new.iter().any(|timed| is_of_session(timed)) {
        true => Openings::load(tx, context, row.ordinal, new_days)?,
        false => Openings::default(),
    };
    context.seen(tx, row.ordinal, new.iter().filter_map(|timed| timed.seen.as_ref()))?;
    let profile = stored_profile(&row)?;
    let mut taking = Taking {
        ordinal: row.ordinal,
        attribution,
        changes: Changes::new(usage.clone()),
        counts: Counts::new(context.app, device_type.clone()),
        direct_days: BTreeSet::new(),
        openings,
        profile,
        locations,
        context,
    };
    for event in &new {
        taking.event(tx, event)?;
    }
    taking.finish(tx, row)?;
    let taken = new.len() as u64;
    Ok(Taken { taken, repeated: events.len() as u64 - taken, ..Taken::default() })
}

/// The events that were not taken before, which are remembered from now on.
fn new_events<'e>(
    tx: &mut Tx<'_>,
    context: &ChangeContext<'_>,
    channel: &Channel,
    events: &'e [Timed],
) -> Result<Vec<&'e Timed>> {
    let identities = events.iter().map(|event| &event.identity);
    let mut seen = Seen::before(tx, context.app, Sender::Channel(channel.id, channel.ordinal), identities)?;
    let mut new = Vec::with_capacity(events.len());
    for event in events {
        if !seen.has(&event.identity) {
            seen.add(&event.identity);
            new.push(event);
        }
    }
    seen.write(tx, context.app)?;
    Ok(new)
}

struct Taking<'a, 'd> {
    context: &'a mut ChangeContext<'d>,
    ordinal: Ordinal,
    profile: Profile,
    attribution: Attribution<'a>,
    changes: Changes,
    counts: Counts,
    /// The days on which the app was opened from a notification.
    direct_days: BTreeSet<i32>,
    openings: Openings,
    locations: LocationSettings,
}

impl Taking<'_, '_> {
    fn event(&mut self, tx: &mut Tx<'_>, timed: &Timed) -> Result<()> {
        match &timed.event.content {
            Content::Opened(opened) => self.opened(tx, timed, opened),
            Content::Closed => self.closed(tx, timed),
            Content::Custom(custom) => self.custom(tx, timed, custom),
            Content::Screen(screen) => self.record(timed, NewEvent::ScreenViewed(screen)),
            Content::Region(region) => self.record(timed, NewEvent::Region(region)),
            Content::Location(location) => self.location(timed, location),
            Content::InAppDisplay(in_app) => self.in_app_display(tx, timed, in_app),
            Content::InAppInteraction(interaction) => self.in_app_interaction(tx, timed, interaction),
            Content::FlagInteraction(flag) => {
                self.counts.add(tx, Metric::FlagInteractions, timed.at, 1)?;
                self.record(timed, NewEvent::FlagInteraction(flag))
            }
            Content::InAppEnd(in_app, end) => self.in_app_end(tx, timed, in_app, end),
            Content::Button(button) => self.button(tx, timed, button),
            Content::Receipt(receipt) => self.receipt(tx, timed, receipt),
            Content::Identifiers(identifiers) => {
                self.changes.identifiers(identifiers);
                Ok(())
            }
            Content::Other(other) => self.record(timed, NewEvent::Unrecognized(other)),
        }
    }

    fn record(&mut self, timed: &Timed, body: NewEvent<'_>) -> Result<()> {
        let event = Event { id: timed.event.id, occurred: timed.at, body };
        self.context.journal.event_from_outside(Some(self.ordinal), &event)
    }

    fn opened(&mut self, tx: &mut Tx<'_>, timed: &Timed, opened: &AppOpening) -> Result<()> {
        let due = self.attribution.due(tx, opened.echo, timed.at)?;
        let is_direct = match &due.tapped {
            Some(tapped) => self.respond(tx, tapped, timed.at)?,
            None => false,
        };
        self.changes.opened(opened);
        self.counts.add(tx, Metric::Opens, timed.at, 1)?;
        let opted = if self.profile.opt_in { Opted::In } else { Opted::Out };
        for precision in self.openings.firsts(tx, self.context, self.ordinal, timed.at)? {
            self.counts.add(tx, Metric::devices(opted, precision), timed.at, 1)?;
        }
        if let Some(offset) = opened.utc_offset_seconds.or_else(|| self.profile.utc_offset_seconds(timed.at)) {
            let shown = UtcMillis(timed.at.0.saturating_add(i64::from(offset) * 1000));
            self.counts.add(tx, Metric::LocalOpens, shown, 1)?;
        }
        // Another tap on a notification is no influence of the same push.
        if let Some(push) = due.indirect().filter(|push| !is_direct && due.direct() != Some(*push)) {
            self.counts.add_response(tx, push, Metric::InfluencedResponses, timed.at)?;
            push_marks::influence(tx, self.context.app, push, self.ordinal)?;
        }
        self.direct_days.extend(due.to().is_some().then(|| timed.at.day()));
        let session_id = session_name(timed);
        self.openings.begin(SessionId::of(&session_id), timed.at);
        // Readers of events must not count it again either.
        let triggering_push = due.to().filter(|_| is_direct).cloned();
        let body = event::Open { session_id, last_delivered: due.last_delivered, triggering_push };
        if self.profile.device_type == DeviceType::Web {
            self.record_beside(timed, NewEvent::WebSession(body.clone()))?;
        }
        self.record(timed, NewEvent::Open(body))
    }

    /// Another event that the same upload tells of, with an id of its own.
    fn record_beside(&mut self, timed: &Timed, body: NewEvent<'_>) -> Result<()> {
        let event = Event { id: EventId::at(self.context.journal.now()), occurred: timed.at, body };
        self.context.journal.event_from_outside(Some(self.ordinal), &event)
    }

    /// Counts a tap, and returns whether it is the channel's direct response to the push. Only the first one is, because a device
    /// can make up any number of them; others are not counted.
    fn respond(&mut self, tx: &mut Tx<'_>, tapped: &Tapped, at: UtcMillis) -> Result<bool> {
        let (push, metric) = match tapped {
            Tapped::Received(push) => {
                let push = push.push_id;
                if push_responses::is_counted(tx, self.context.app, push, self.ordinal)? {
                    return Ok(false);
                }
                push_responses::add(tx, self.context.app, push, self.ordinal)?;
                (push, Metric::DirectResponses)
            }
            Tapped::TooOld(push) => (*push, Metric::LateResponses),
            Tapped::Unproven(push) => (*push, Metric::UnprovenResponses),
        };
        self.counts.add_response(tx, push, metric, at)?;
        Ok(metric == Metric::DirectResponses)
    }

    fn closed(&mut self, tx: &mut Tx<'_>, timed: &Timed) -> Result<()> {
        let session_id = session_name(timed);
        if let Some(began) = self.openings.end(SessionId::of(&session_id)) {
            let lasted = timed.at.0.saturating_sub(began.0);
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
        self.record(timed, NewEvent::Close(event::Close { session_id }))
    }

    fn custom(&mut self, tx: &mut Tx<'_>, timed: &Timed, custom: &UploadedCustom) -> Result<()> {
        let due = self.attribution.due(tx, custom.echo, timed.at)?;
        let event = &custom.event;
        count_custom(tx, self.context.app, &event.name, timed.at, &due, event.value)?;
        let (last_delivered, triggering_push) = (due.last_delivered.as_ref(), due.to());
        self.record(timed, NewEvent::Custom(AttributedCustom { event, last_delivered, triggering_push }))
    }

    fn location(&mut self, timed: &Timed, location: &UploadedLocation) -> Result<()> {
        let kept = |text: &String| self.locations.keep_coordinates.then(|| text.clone());
        let body = event::Location {
            latitude: kept(&location.latitude),
            longitude: kept(&location.longitude),
            foreground: location.foreground,
            session_id: timed.event.session.clone(),
        };
        self.record(timed, NewEvent::Location(body))
    }

    fn button(&mut self, tx: &mut Tx<'_>, timed: &Timed, button: &Button) -> Result<()> {
        let tapped = button.echo.tapped.map(|echo| self.attribution.tapped(tx, echo)).transpose()?.flatten();
        // A button that opens the app is followed by an opening, which is counted.
        if let Some(tapped) = tapped.as_ref().filter(|_| !button.foreground) {
            self.respond(tx, tapped, timed.at)?;
        }
        if let Some(Tapped::Received(push)) = tapped {
            self.pressed(tx, push.push_id, &button.button)?;
        }
        self.record(timed, NewEvent::Unrecognized(&button.whole))
    }

    /// What a button of a push changes about the channel.
    fn pressed(&mut self, tx: &mut Tx<'_>, push: PushId, button: &str) -> Result<()> {
        // A push is long to read, and a device can press its buttons as often as an upload has events.
        if !self.changes.knows_buttons_of(push) {
            let stored = pushes::by_id(tx, self.context.app, push)?.map(|row| stored_push(&row)).transpose()?.flatten();
            self.changes.learn_buttons_of(push, stored.as_ref(), &self.profile);
        }
        self.changes.pressed(push, button);
        Ok(())
    }

    /// What became of a notification. A click is a direct response, also of a browser that could not open the page.
    fn receipt(&mut self, tx: &mut Tx<'_>, timed: &Timed, receipt: &PushReceipt) -> Result<()> {
        let named = receipt.push.map(|echo| self.attribution.tapped(tx, echo)).transpose()?.flatten();
        match (receipt.kind, &named) {
            (ReceiptKind::Received, Some(Tapped::Received(push))) => {
                if mark_receipt(tx, self.context.app, push.push_id, self.ordinal)? {
                    self.counts.add_response(tx, push.push_id, Metric::Received, timed.at)?;
                }
            }
            (ReceiptKind::Clicked, Some(tapped)) => {
                let is_direct = self.respond(tx, tapped, timed.at)?;
                if let (Tapped::Received(push), DeviceType::Web, true) = (tapped, &self.profile.device_type, is_direct)
                {
                    self.record_beside(timed, NewEvent::WebClick(push))?;
                }
                if let (Tapped::Received(push), Some(button)) = (tapped, &receipt.button) {
                    self.pressed(tx, push.push_id, button)?;
                }
            }
            (ReceiptKind::Received | ReceiptKind::Clicked | ReceiptKind::Dismissed, _) => {}
        }
        self.record(timed, NewEvent::Unrecognized(&receipt.whole))
    }

    fn finish(self, tx: &mut Tx<'_>, row: Channel) -> Result<()> {
        let Self { context, ordinal, profile, changes, direct_days, openings, .. } = self;
        for day in direct_days {
            context.happened_on(tx, DayKind::DirectOpen, day, &RoaringBitmap::from([ordinal.0]))?;
        }
        openings.write(tx, context, ordinal)?;
        changes.write(tx, context, row, profile)
    }
}

fn is_opening(timed: &Timed) -> bool {
    matches!(timed.event.content, Content::Opened(_))
}

fn is_of_session(timed: &Timed) -> bool {
    matches!(timed.event.content, Content::Opened(_) | Content::Closed)
}

/// Libraries name every session. An unnamed one is identified by the event.
fn session_name(timed: &Timed) -> String {
    timed.event.session.clone().unwrap_or_else(|| timed.event.id.to_string())
}
