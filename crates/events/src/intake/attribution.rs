//! The pushes that the events of one channel are due to: those that devices send back, and those that were delivered lately.

use std::collections::HashMap;

use audience::block::Block;
use audience::codec;
use base::{Error, Result};
use model::device_event::{Echo, PushEcho};
use model::device_type::DeviceType;
use model::event::{AssociatedPush, SharedPush};
use model::ids::{AppId, ChannelId, DeliveryId, Id, Ordinal, PushId};
use model::time::UtcMillis;
use sending::{INFLUENCE, Recent, RecentPush, stored_push};
use store::blocks::{self, BlockKey};
use store::{Tx, origins, pushes};
use uuid::Uuid;

pub(super) struct Attribution<'a> {
    app: AppId,
    ordinal: Ordinal,
    channel: ChannelId,
    device_type: &'a DeviceType,
    recent: &'a Recent,
    /// Devices name the same push in several events.
    found: HashMap<Uuid, Option<NamedPush>>,
}

/// A push that a device names.
#[derive(Clone)]
pub(super) struct NamedPush {
    pub(super) associated: AssociatedPush,
    sent: UtcMillis,
    /// Whether the channel is one of its recipients; `None` as long as that is not looked up.
    is_received: Option<bool>,
}

/// A push whose notification was tapped, as a device says. Anybody can know the id of a push.
pub(super) enum Tapped {
    /// It was sent to the channel.
    Received(AssociatedPush),
    /// It was not, as far as that is known.
    Unproven(PushId),
}

/// The pushes that an event is due to.
#[derive(Clone, Default)]
pub(super) struct Due {
    /// The push whose notification was tapped, which was sent to the channel.
    pub(super) to: Option<AssociatedPush>,
    /// The push that the device names instead, which was not.
    pub(super) unproven: Option<PushId>,
    pub(super) last_delivered: Option<AssociatedPush>,
}

impl<'a> Attribution<'a> {
    pub(super) fn new(
        app: AppId,
        ordinal: Ordinal,
        channel: ChannelId,
        device_type: &'a DeviceType,
        recent: &'a Recent,
    ) -> Self {
        Self { app, ordinal, channel, device_type, recent, found: HashMap::new() }
    }

    pub(super) fn due(&mut self, tx: &mut Tx<'_>, echo: Echo, at: UtcMillis) -> Result<Due> {
        let (to, unproven) = match echo.tapped.map(|echo| self.tapped(tx, echo)).transpose()?.flatten() {
            Some(Tapped::Received(push)) => (Some(push), None),
            Some(Tapped::Unproven(push)) => (None, Some(push)),
            None => (None, None),
        };
        let last_delivered = match (self.last_delivered(at), echo.received) {
            (Some(last), _) => Some(last),
            (None, Some(echo)) => match self.named(tx, echo)? {
                Some(push) if push.influences(at) && self.is_received(tx, echo, &push)? => Some(push.associated),
                Some(_) | None => None,
            },
            (None, None) => None,
        };
        Ok(Due { to, unproven, last_delivered })
    }

    /// The last push that was delivered, as far as that is known here.
    pub(super) fn last_delivered(&self, at: UtcMillis) -> Option<AssociatedPush> {
        self.recent.look(|deliveries| {
            deliveries.last_delivered(self.ordinal, at).map(|push| push.shared_push.sent_at(push.sent))
        })
    }

    /// The push whose notification was tapped, as the device says; `None` unless it is one of this app.
    pub(super) fn tapped(&mut self, tx: &mut Tx<'_>, echo: PushEcho) -> Result<Option<Tapped>> {
        let Some(push) = self.named(tx, echo)? else { return Ok(None) };
        Ok(Some(match self.is_received(tx, echo, &push)? {
            true => Tapped::Received(push.associated),
            false => Tapped::Unproven(push.associated.push_id),
        }))
    }

    /// Whether a push that the device names was sent to the channel.
    fn is_received(&mut self, tx: &mut Tx<'_>, echo: PushEcho, push: &NamedPush) -> Result<bool> {
        if let Some(known) = push.is_received {
            return Ok(known);
        }
        let is_received = self.is_recipient(tx, push.associated.push_id)?;
        if let Some(Some(known)) = self.found.get_mut(&echo.id) {
            known.is_received = Some(is_received);
        }
        Ok(is_received)
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

    /// The push that an event names, if it was delivered to the channel lately: what is known without asking the database.
    pub(super) fn received(&self, id: Uuid) -> Option<PushId> {
        self.delivered(id).filter(|push| push.is_received == Some(true)).map(|push| push.associated.push_id)
    }

    fn delivered(&self, id: Uuid) -> Option<NamedPush> {
        let is_meant = |push: &&RecentPush| {
            let push = push.shared_push.push_id;
            push.uuid() == id || DeliveryId::of(push, self.channel).uuid() == id
        };
        self.recent.look(|deliveries| {
            let named = |push: &RecentPush, is_received| {
                let associated = push.shared_push.sent_at(push.sent);
                NamedPush { associated, sent: push.sent, is_received }
            };
            let here = deliveries.delivered_to(self.ordinal).find(is_meant).map(|push| named(push, Some(true)));
            // Not every delivery is remembered.
            here.or_else(|| deliveries.push(Id::from_uuid(id)).map(|push| named(push, None)))
        })
    }

    /// Whether the channel may have got a push, by the outcomes that are kept for 30 days. A device can respond before the outcome
    /// of its delivery is written, so one that is pending counts.
    fn is_recipient(&self, tx: &mut Tx<'_>, push: PushId) -> Result<bool> {
        let number = u32::from(Block::of(self.ordinal).0);
        let key = BlockKey { push, device_type: self.device_type.clone(), number };
        for set in blocks::reached_in(tx, self.app, &key)? {
            if codec::decode(&set).map_err(Error::internal)?.contains(self.ordinal.0) {
                return Ok(true);
            }
        }
        Ok(false)
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
        Ok(Some(NamedPush { associated, sent: row.created, is_received: None }))
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
