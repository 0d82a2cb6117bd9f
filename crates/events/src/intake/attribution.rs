//! The pushes that the events of one channel are due to: those that devices send back, and those that were delivered lately.

mod foresight;

use std::collections::HashMap;

use audience::block::Block;
use audience::codec;
use base::{Error, Result};
use model::device_event::{Echo, PushEcho};
use model::device_type::DeviceType;
use model::event::{AssociatedPush, SharedPush};
use model::ids::{AppId, ChannelId, DeliveryId, Id, Ordinal, PushId};
use model::time::UtcMillis;
use sending::{INFLUENCE, RECIPIENTS_KEPT_FOR, Recent, RecentPush, stored_push};
use store::blocks::{self, BlockKey};
use store::documents::{self, DocumentKind};
use store::{Tx, origins, pushes};
use uuid::Uuid;

/// How many pushes of one upload are looked up in the database. Honest devices send events back soon, when deliveries are still
/// remembered; anybody else could have one upload ask for thousands.
const MOST_LOOKED_UP: usize = 20;
/// The same of in-app messages. Most of them came with no push, and must not use up what is looked up for responses.
const MOST_IN_APP_LOOKED_UP: usize = 20;

pub(super) struct Attribution<'a> {
    app: AppId,
    ordinal: Ordinal,
    channel: ChannelId,
    device_type: &'a DeviceType,
    recent: &'a Recent,
    now: UtcMillis,
    /// How many more pushes may be looked up.
    lookups_left: usize,
    in_app_lookups_left: usize,
    /// When the app made the in-app messages that it keeps for its devices, by their ids.
    kept_messages: HashMap<Uuid, Option<UtcMillis>>,
    /// Devices name the same push in several events.
    found: HashMap<Uuid, Option<NamedPush>>,
}

/// A push that a device names.
#[derive(Clone)]
pub(super) struct NamedPush {
    pub(super) associated: AssociatedPush,
    sent: UtcMillis,
    receipt: Receipt,
}

/// Whether a channel is one of the recipients of a push.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Receipt {
    Yes,
    No,
    /// The recipients are not kept any more.
    TooOld,
    NotLookedUp,
}

/// A push whose notification was tapped, as a device says. Anybody can know the id of a push.
#[derive(Clone)]
pub(super) enum Tapped {
    /// It was sent to the channel.
    Received(AssociatedPush),
    /// It is so old that its recipients are not known any more.
    TooOld(PushId),
    /// It was not, as far as that is known.
    Unproven(PushId),
}

/// The pushes that an event is due to.
#[derive(Clone, Default)]
pub(super) struct Due {
    pub(super) tapped: Option<Tapped>,
    pub(super) last_delivered: Option<AssociatedPush>,
}

impl<'a> Attribution<'a> {
    pub(super) fn new(
        app: AppId,
        ordinal: Ordinal,
        channel: ChannelId,
        device_type: &'a DeviceType,
        recent: &'a Recent,
        now: UtcMillis,
    ) -> Self {
        Self {
            app,
            ordinal,
            channel,
            device_type,
            recent,
            now,
            lookups_left: MOST_LOOKED_UP,
            in_app_lookups_left: MOST_IN_APP_LOOKED_UP,
            kept_messages: HashMap::new(),
            found: HashMap::new(),
        }
    }

    pub(super) fn due(&mut self, tx: &mut Tx<'_>, echo: Echo, at: UtcMillis) -> Result<Due> {
        let tapped = echo.tapped.map(|echo| self.tapped(tx, echo)).transpose()?.flatten();
        let last_delivered = match (self.last_delivered(at), echo.received) {
            (Some(last), _) => Some(last),
            (None, Some(echo)) => match self.named(tx, echo)? {
                Some(push) if push.influences(at) && self.receipt(tx, echo, &push)? == Receipt::Yes => {
                    Some(push.associated)
                }
                Some(_) | None => None,
            },
            (None, None) => None,
        };
        Ok(Due { tapped, last_delivered })
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
        Ok(Some(match self.receipt(tx, echo, &push)? {
            Receipt::Yes => Tapped::Received(push.associated),
            Receipt::TooOld => Tapped::TooOld(push.associated.push_id),
            Receipt::No | Receipt::NotLookedUp => Tapped::Unproven(push.associated.push_id),
        }))
    }

    /// The push that a device names, and when it was sent, if it was sent to the channel.
    pub(super) fn received_push(&mut self, tx: &mut Tx<'_>, echo: PushEcho) -> Result<Option<(PushId, UtcMillis)>> {
        let Some(push) = self.named_in_app(tx, echo)? else { return Ok(None) };
        let is_received = self.receipt(tx, echo, &push)? == Receipt::Yes;
        Ok(is_received.then_some((push.associated.push_id, push.sent)))
    }

    /// Whether a push that the device names was sent to the channel.
    fn receipt(&mut self, tx: &mut Tx<'_>, echo: PushEcho, push: &NamedPush) -> Result<Receipt> {
        if push.receipt != Receipt::NotLookedUp {
            return Ok(push.receipt);
        }
        let receipt = match self.is_recipient(tx, push.associated.push_id)? {
            true => Receipt::Yes,
            false => Receipt::No,
        };
        if let Some(Some(known)) = self.found.get_mut(&echo.id) {
            known.receipt = receipt;
        }
        Ok(receipt)
    }

    /// The push that a device names; `None` unless it is one of this app, and always when too many were looked up before.
    pub(super) fn named(&mut self, tx: &mut Tx<'_>, echo: PushEcho) -> Result<Option<NamedPush>> {
        let mut lookups_left = self.lookups_left;
        let found = self.look_up(tx, echo, &mut lookups_left);
        self.lookups_left = lookups_left;
        found
    }

    /// The same for the push that an in-app message came with.
    pub(super) fn named_in_app(&mut self, tx: &mut Tx<'_>, echo: PushEcho) -> Result<Option<NamedPush>> {
        let mut lookups_left = self.in_app_lookups_left;
        let found = self.look_up(tx, echo, &mut lookups_left);
        self.in_app_lookups_left = lookups_left;
        found
    }

    /// When the app made an in-app message that it keeps for its devices; events tell its id as that of a push.
    pub(super) fn kept_in_app(&mut self, tx: &mut Tx<'_>, id: PushId) -> Result<Option<UtcMillis>> {
        if let Some(known) = self.kept_messages.get(&id.uuid()) {
            return Ok(*known);
        }
        if self.kept_messages.len() >= MOST_IN_APP_LOOKED_UP {
            return Ok(None);
        }
        let created = documents::created(tx, self.app, DocumentKind::InAppMessage, &id.to_string())?;
        self.kept_messages.insert(id.uuid(), created);
        Ok(created)
    }

    fn look_up(&mut self, tx: &mut Tx<'_>, echo: PushEcho, lookups_left: &mut usize) -> Result<Option<NamedPush>> {
        if let Some(known) = self.found.get(&echo.id) {
            return Ok(known.clone());
        }
        let delivered = self.delivered(echo.id);
        let is_settled = delivered.as_ref().is_some_and(|push| push.receipt != Receipt::NotLookedUp);
        if !is_settled {
            if *lookups_left == 0 {
                return Ok(delivered.map(|push| NamedPush { receipt: Receipt::No, ..push }));
            }
            *lookups_left -= 1;
        }
        let found = match delivered {
            Some(push) => Some(push),
            None => self.stored(tx, echo)?,
        };
        self.found.insert(echo.id, found.clone());
        Ok(found)
    }

    /// The push that an event names, if it was delivered to the channel lately: what is known without asking the database.
    pub(super) fn received(&self, id: Uuid) -> Option<PushId> {
        self.delivered(id).filter(|push| push.receipt == Receipt::Yes).map(|push| push.associated.push_id)
    }

    fn delivered(&self, id: Uuid) -> Option<NamedPush> {
        let is_meant = |push: &&RecentPush| {
            let push = push.shared_push.push_id;
            push.uuid() == id || DeliveryId::of(push, self.channel).uuid() == id
        };
        self.recent.look(|deliveries| {
            let named = |push: &RecentPush, receipt| {
                let associated = push.shared_push.sent_at(push.sent);
                NamedPush { associated, sent: push.sent, receipt }
            };
            let here = deliveries.delivered_to(self.ordinal).find(is_meant).map(|push| named(push, Receipt::Yes));
            // Not every delivery is remembered.
            here.or_else(|| deliveries.push(Id::from_uuid(id)).map(|push| named(push, Receipt::NotLookedUp)))
        })
    }

    /// Whether the channel may have got a push, by the outcomes that are kept for 30 days. A device can respond before the outcome
    /// of its delivery is written, so one that is pending counts.
    fn is_recipient(&self, tx: &mut Tx<'_>, push: PushId) -> Result<bool> {
        for set in blocks::reached_in(tx, self.app, &self.block_of(push))? {
            if codec::decode(&set).map_err(Error::internal)?.contains(self.ordinal.0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn block_of(&self, push: PushId) -> BlockKey {
        let number = u32::from(Block::of(self.ordinal).0);
        BlockKey { push, device_type: self.device_type.clone(), number }
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
        // Who has responded is forgotten with the recipients: a response that was counted could count again.
        let is_too_old = row.created < self.now.minus(RECIPIENTS_KEPT_FOR);
        let receipt = if is_too_old { Receipt::TooOld } else { Receipt::NotLookedUp };
        Ok(Some(NamedPush { associated, sent: row.created, receipt }))
    }
}

impl Due {
    /// The push whose notification was tapped, which was sent to the channel.
    pub(super) fn to(&self) -> Option<&AssociatedPush> {
        match &self.tapped {
            Some(Tapped::Received(push)) => Some(push),
            Some(Tapped::TooOld(_) | Tapped::Unproven(_)) | None => None,
        }
    }

    pub(super) fn direct(&self) -> Option<PushId> {
        self.to().map(|push| push.push_id)
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
