//! The pushes that the events of one channel are due to: those that devices send back, and those that were delivered lately.

use std::collections::HashMap;

use base::Result;
use model::device_event::{Echo, PushEcho};
use model::event::{AssociatedPush, SharedPush};
use model::ids::{AppId, ChannelId, DeliveryId, Id, Ordinal, PushId};
use model::time::UtcMillis;
use sending::{INFLUENCE, Recent, RecentPush, stored_push};
use store::{Tx, origins, pushes};
use uuid::Uuid;

pub(super) struct Attribution<'a> {
    app: AppId,
    ordinal: Ordinal,
    channel: ChannelId,
    recent: &'a Recent,
    /// Devices name the same push in several events.
    found: HashMap<Uuid, Option<NamedPush>>,
}

/// A push that a device names.
#[derive(Clone)]
pub(super) struct NamedPush {
    pub(super) associated: AssociatedPush,
    sent: UtcMillis,
}

/// The pushes that an event is due to.
#[derive(Clone, Default)]
pub(super) struct Due {
    /// The push whose notification was tapped.
    pub(super) to: Option<AssociatedPush>,
    pub(super) last_delivered: Option<AssociatedPush>,
}

impl<'a> Attribution<'a> {
    pub(super) fn new(app: AppId, ordinal: Ordinal, channel: ChannelId, recent: &'a Recent) -> Self {
        Self { app, ordinal, channel, recent, found: HashMap::new() }
    }

    pub(super) fn due(&mut self, tx: &mut Tx<'_>, echo: Echo, at: UtcMillis) -> Result<Due> {
        let to = match echo.tapped {
            Some(echo) => self.named(tx, echo)?.map(|push| push.associated),
            None => None,
        };
        let last_delivered = match (self.last_delivered(at), echo.received) {
            (Some(last), _) => Some(last),
            (None, Some(echo)) => self.named(tx, echo)?.filter(|push| push.influences(at)).map(|push| push.associated),
            (None, None) => None,
        };
        Ok(Due { to, last_delivered })
    }

    /// The last push that was delivered, as far as that is known here.
    pub(super) fn last_delivered(&self, at: UtcMillis) -> Option<AssociatedPush> {
        self.recent.look(|deliveries| {
            deliveries.last_delivered(self.ordinal, at).map(|push| push.shared_push.sent_at(push.sent))
        })
    }

    /// The push that a device names; `None` unless it is one of this app.
    pub(super) fn named(&mut self, tx: &mut Tx<'_>, echo: PushEcho) -> Result<Option<NamedPush>> {
        if let Some(known) = self.found.get(&echo.id) {
            return Ok(known.clone());
        }
        let found = match self.delivered(echo.id) {
            Some(push) => Some(push),
            None => self.stored(tx, echo)?,
        };
        self.found.insert(echo.id, found.clone());
        Ok(found)
    }

    fn delivered(&self, id: Uuid) -> Option<NamedPush> {
        let is_meant = |push: &&RecentPush| {
            let push = push.shared_push.push_id;
            push.uuid() == id || DeliveryId::of(push, self.channel).uuid() == id
        };
        self.recent.look(|deliveries| {
            let here = deliveries.delivered_to(self.ordinal).find(is_meant);
            let found = here.or_else(|| deliveries.push(Id::from_uuid(id)));
            found.map(|push| NamedPush { associated: push.shared_push.sent_at(push.sent), sent: push.sent })
        })
    }

    fn stored(&self, tx: &mut Tx<'_>, echo: PushEcho) -> Result<Option<NamedPush>> {
        let id: PushId = Id::from_uuid(echo.id);
        let Some(row) = pushes::by_id(tx, self.app, id)? else { return Ok(None) };
        let provenance = origins::of(tx, self.app, id)?;
        // The payload of a redacted push is gone, and with it the names under which its results are added up.
        let push = stored_push(&row)?;
        let shared_push = push.map_or_else(|| SharedPush::of(id), |push| provenance.shared_push(id, &push));
        let variant_id = shared_push.variant_id.or(echo.variant_id);
        let associated =
            AssociatedPush { group_id: provenance.origin.group(), variant_id, ..shared_push.sent_at(row.created) };
        Ok(Some(NamedPush { associated, sent: row.created }))
    }
}

impl Due {
    pub(super) fn direct(&self) -> Option<PushId> {
        self.to.as_ref().map(|push| push.push_id)
    }

    pub(super) fn indirect(&self) -> Option<PushId> {
        self.last_delivered.as_ref().map(|push| push.push_id)
    }
}

impl NamedPush {
    fn influences(&self, at: UtcMillis) -> bool {
        self.sent <= at && self.sent >= at.minus(INFLUENCE)
    }
}
