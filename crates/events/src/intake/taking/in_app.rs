//! What devices tell of in-app messages: those that come with a push, those that the app keeps, and others.

use base::Result;
use devices::NewEvent;
use model::device_event::{InAppEnd, PushEcho, UploadedInApp, UploadedInteraction};
use model::event::{self, AssociatedPush, InAppDisplay, InAppEvent, ResolutionKind};
use model::ids::PushId;
use serde_json::Map;
use store::Tx;
use store::counters::Metric;

use super::super::Timed;
use super::super::counts::{CountedFor, of_interaction};
use super::{Taking, experiences};

/// An in-app message that an event is about.
struct Shown {
    display: InAppDisplay,
    counted_for: Option<CountedFor>,
    /// When its push was sent.
    time_sent: Option<String>,
}

impl Taking<'_, '_> {
    pub(super) fn in_app_display(&mut self, tx: &mut Tx<'_>, timed: &Timed, in_app: &UploadedInApp) -> Result<()> {
        let Shown { display, counted_for, .. } = self.shown(tx, timed, in_app)?;
        self.counts.add_in_app(tx, counted_for, Metric::InAppDisplays, timed.at)?;
        if self.profile.opt_in {
            self.counts.add_in_app(tx, counted_for, Metric::InAppOptedInDisplays, timed.at)?;
        }
        self.record(timed, NewEvent::InAppMessageDisplay(display.clone()))?;
        self.experience(timed, &display, experiences::shown(in_app))
    }

    pub(super) fn in_app_interaction(
        &mut self,
        tx: &mut Tx<'_>,
        timed: &Timed,
        interaction: &UploadedInteraction,
    ) -> Result<()> {
        let Shown { display, counted_for, .. } = self.shown(tx, timed, &interaction.about)?;
        if let Some(metric) = of_interaction(interaction.kind) {
            self.counts.add_in_app(tx, counted_for, metric, timed.at)?;
        }
        let body = event::InAppInteraction { display: display.clone(), details: interaction.details.clone() };
        self.record(timed, NewEvent::InApp { event: interaction.kind, body })?;
        self.experience(timed, &display, experiences::used(interaction.kind, &interaction.about))
    }

    pub(super) fn in_app_end(
        &mut self,
        tx: &mut Tx<'_>,
        timed: &Timed,
        in_app: &UploadedInApp,
        end: &InAppEnd,
    ) -> Result<()> {
        let Shown { display, counted_for, time_sent } = self.shown(tx, timed, in_app)?;
        match end {
            InAppEnd::Resolved(resolution) => {
                if matches!(resolution.kind, ResolutionKind::ButtonClick | ResolutionKind::MessageClick) {
                    self.counts.add_in_app(tx, counted_for, Metric::InAppClicks, timed.at)?;
                }
                let resolution = event::Resolution { time_sent, ..resolution.clone() };
                let body = event::InAppResolution { display: display.clone(), resolution };
                self.record(timed, NewEvent::InAppMessageResolution(body))?;
                self.experience(timed, &display, experiences::closed(in_app))
            }
            InAppEnd::Expired(expiration, replaced_by) => {
                let replacing_push = match replaced_by {
                    Some(text) => self.push_of_text(tx, text)?,
                    None => None,
                };
                let expiration = event::Expiration { time_sent, replacing_push, ..expiration.clone() };
                let body = event::InAppExpiration { display, expiration };
                self.record(timed, NewEvent::InAppMessageExpiration(body))
            }
        }
    }

    fn experience(&mut self, timed: &Timed, display: &InAppDisplay, names: Vec<&'static str>) -> Result<()> {
        for name in names {
            let display = InAppDisplay { context: None, ..display.clone() };
            let details = Map::from_iter([("event_name".to_owned(), name.into())]);
            let body = event::InAppInteraction { display, details };
            self.record(timed, NewEvent::InApp { event: InAppEvent::Experience, body })?;
        }
        Ok(())
    }

    fn shown(&mut self, tx: &mut Tx<'_>, timed: &Timed, in_app: &UploadedInApp) -> Result<Shown> {
        let push = self.push_of_text(tx, &in_app.id)?;
        let kept = if push.is_none() { self.kept_message(tx, &in_app.id)? } else { None };
        let counted_for = match (&push, kept) {
            // Of anybody else it is only counted for the app.
            (Some(_), _) => self.received_push(tx, &in_app.id)?,
            (None, kept) => kept,
        };
        let message = kept.map(|kept| kept.id);
        let app_defined_id = (push.is_none() && message.is_none()).then(|| in_app.id.clone());
        let triggering_push = self.attribution.due(tx, in_app.echo, timed.at)?.to().cloned();
        let campaigns = push.as_ref().and_then(|push| push.campaigns.clone()).or_else(|| in_app.campaigns.clone());
        let display = InAppDisplay {
            push_id: push.as_ref().map(|push| push.push_id).or(message),
            app_defined_id,
            group_id: push.as_ref().and_then(|push| push.group_id).or(message.map(|id| id.uuid())),
            variant_id: push.as_ref().and_then(|push| push.variant_id),
            session_id: timed.event.session.clone(),
            triggering_push,
            campaigns,
            context: in_app.context.clone(),
        };
        Ok(Shown { display, counted_for, time_sent: push.and_then(|push| push.time) })
    }

    fn push_of_text(&mut self, tx: &mut Tx<'_>, text: &str) -> Result<Option<AssociatedPush>> {
        let Ok(id) = text.parse() else { return Ok(None) };
        Ok(self.attribution.named_in_app(tx, PushEcho { id, variant_id: None })?.map(|push| push.associated))
    }

    /// The push of a text, if it was sent to the channel.
    fn received_push(&mut self, tx: &mut Tx<'_>, text: &str) -> Result<Option<CountedFor>> {
        let Ok(id) = text.parse() else { return Ok(None) };
        let received = self.attribution.received_push(tx, PushEcho { id, variant_id: None })?;
        Ok(received.map(|(id, since)| CountedFor { id, since }))
    }

    /// An in-app message that the app has kept for its devices; events tell its id as that of a push.
    fn kept_message(&mut self, tx: &mut Tx<'_>, text: &str) -> Result<Option<CountedFor>> {
        let Ok(id) = text.parse::<PushId>() else { return Ok(None) };
        Ok(self.attribution.kept_in_app(tx, id)?.map(|since| CountedFor { id, since }))
    }
}
