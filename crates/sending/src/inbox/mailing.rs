//! Putting the message of a push into inboxes, in the transaction that fixes the audience.

use std::time::Duration;

use audience::block::{blocks, slices};
use audience::codec;
use audience::index::Index;
use audience::plan::Plan;
use base::Result;
use devices::{ChangeContext, ManyEvent};
use model::device_type::DeviceType;
use model::event::SharedPush;
use model::ids::{AppId, Ordinal, PushId};
use model::inbox::{MessageDetails, TextChoice, takes_messages};
use model::limits;
use model::payload::Push;
use model::payload::extra::TextExtra;
use model::payload::localization::Localization;
use model::payload::message::Message;
use model::property::{country_tag, language_tag};
use model::tag::{Tag, TagGroup};
use model::term::DayKind;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::counters::{self, Metric};
use store::messages::{self, TextHead};
use store::{Tx, inbox_messages, pushes::PushRow};
use targeting::tag_plan;

use super::{FEW_IN_ALL, FEW_IN_SLICE};
use crate::resolve::{union, without};

const LONGEST: Duration = Duration::from_secs(limits::MESSAGE_DAYS * 24 * 60 * 60);

/// A message and its future holders.
pub(crate) struct Mailing {
    push: PushId,
    shared_push: SharedPush,
    texts: TextChoice,
    bodies: Vec<(u32, TextHead, Vec<u8>)>,
    /// The extra data that all texts share; nothing if they differ.
    extra: TextExtra,
    expires: Option<UtcMillis>,
    ends: UtcMillis,
    /// Disjoint, because a channel has one type.
    holders: Vec<(DeviceType, RoaringBitmap)>,
}

impl Mailing {
    /// `None` when there are no holders.
    pub(crate) fn new(
        row: &PushRow,
        push: &Push,
        shared_push: SharedPush,
        holders: Vec<(DeviceType, RoaringBitmap)>,
    ) -> Option<Self> {
        if holders.is_empty() {
            return None;
        }
        let expires = expires(push, row.created);
        let longest = row.created.plus(LONGEST);
        let bodies: Vec<_> = texts(push).filter_map(|(text, message)| head_and_body(push, text, message)).collect();
        Some(Self {
            push: row.id,
            shared_push,
            texts: TextChoice::of(push),
            extra: common_extra(&bodies),
            bodies,
            expires,
            ends: expires.map_or(longest, |expires| expires.min(longest)),
            holders,
        })
    }

    /// Channels that are `served` already do not get it. A message that was deleted before it had holders has a row already and
    /// is not delivered.
    pub(crate) fn write(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        index: &Index,
        served: &RoaringBitmap,
        now: UtcMillis,
    ) -> Result<()> {
        let holders = without(&self.holders, served);
        if holders.is_empty() || self.ends <= now || messages::by_push(tx, app, self.push)?.is_some() {
            return Ok(());
        }
        let everybody = union(&holders);
        let (slices, few) = many_and_few(&everybody);
        let number = messages::take_number(tx, app)?;
        let message = messages::Message {
            number,
            push: self.push,
            sent: now,
            expires: self.expires,
            ends: self.ends,
            shared_push: self.shared_push.clone(),
            texts: self.texts.clone(),
            slices: codec::encode(&slices.iter().map(|(slice, _)| *slice).collect()),
        };
        messages::insert(tx, app, &message)?;
        for (text, head, body) in &self.bodies {
            messages::insert_text(tx, app, number, *text, head, body)?;
        }
        let rows = slices.into_iter().map(|(slice, holders)| (slice, codec::encode(&holders)));
        messages::insert_holders(tx, app, number, rows)?;
        inbox_messages::insert(tx, app, number, few.iter().map(Ordinal), limits::FEW_HELD_PER_CHANNEL)?;
        self.tell(tx, app, index, now, &holders)
    }

    fn tell(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        index: &Index,
        now: UtcMillis,
        holders: &[(DeviceType, RoaringBitmap)],
    ) -> Result<()> {
        let everybody = union(holders);
        let mut context = ChangeContext::new(app, index, now);
        context.happened(tx, DayKind::MessageSent, &everybody)?;
        let delivery = ManyEvent::RichDelivery { extra: &self.extra };
        for (_, holders) in blocks(&everybody) {
            context.journal.many(delivery, &self.shared_push, &holders)?;
        }
        context.journal.write(tx, app)?;
        for (device_type, holders) in holders {
            let n = holders.len();
            counters::add(tx, app, Metric::RichSends, now, device_type, n)?;
            counters::add_of_push(tx, app, self.push, Metric::RichSends, now, device_type, n)?;
        }
        Ok(())
    }
}

/// The slices in which a message has many holders, and its holders elsewhere.
fn many_and_few(everybody: &RoaringBitmap) -> (Vec<(u32, RoaringBitmap)>, RoaringBitmap) {
    if everybody.len() <= FEW_IN_ALL {
        return (Vec::new(), everybody.clone());
    }
    let (many, few): (Vec<_>, Vec<_>) =
        slices(everybody).into_iter().partition(|(_, holders)| holders.len() > FEW_IN_SLICE);
    (many, few.into_iter().fold(RoaringBitmap::new(), |all, (_, some)| all | some))
}

/// Every text of a push under its number: 0 is that of the push, n that of its n-th localization.
fn texts(push: &Push) -> impl Iterator<Item = (u32, &Message)> {
    let localized = (1..).zip(push.localizations.iter().flatten());
    let localized = localized.filter_map(|(text, one)| one.message.as_ref().map(|message| (text, message)));
    push.message.iter().map(|message| (0, message)).chain(localized)
}

fn head_and_body(push: &Push, text: u32, message: &Message) -> Option<(u32, TextHead, Vec<u8>)> {
    let details = MessageDetails::of(push, message);
    // Texts that vary are kept as they are written, and filled in when they are read.
    let (title, body) = match &details.filling {
        Some(filling) if !filling.keeps_body() => (message.title()?, message.written_body()?.as_bytes().to_vec()),
        Some(_) | None => (message.title()?, message.body()?),
    };
    let head = TextHead {
        title: title.to_owned(),
        content_type: message.mime_type(),
        details,
        size: u32::try_from(body.len()).unwrap_or(u32::MAX),
    };
    Some((text, head, body))
}

fn common_extra(bodies: &[(u32, TextHead, Vec<u8>)]) -> TextExtra {
    let mut extras = bodies.iter().map(|(_, head, _)| &head.details.extra);
    let first = extras.next().filter(|first| extras.all(|extra| extra == *first));
    first.cloned().unwrap_or_default()
}

/// Localized messages may expire at different times; the last of them counts for all.
pub(super) fn expires(push: &Push, sent: UtcMillis) -> Option<UtcMillis> {
    let expiries: Option<Vec<UtcMillis>> = texts(push).map(|(_, message)| message.expires(sent)).collect();
    expiries?.into_iter().max()
}

/// The channels of a platform that get a message with the push, regardless of opt-in and address, because it lies in the inbox
/// until it is fetched. `None` when there are none.
pub(crate) fn message_holders(index: &Index, push: &Push, device_type: &DeviceType) -> Option<Plan> {
    if !takes_messages(device_type) || !push.has_message() {
        return None;
    }
    if push.message.is_some() {
        return Some(Plan::Everyone);
    }
    // Only some localizations have one: the channels of such a localization that have no closer one without.
    let mut localizations: Vec<&Localization> = push.localizations.iter().flatten().collect();
    localizations.sort_by_key(|one| match (&one.language, &one.country) {
        (Some(_), Some(_)) => 0,
        (Some(_), None) => 1,
        (None, _) => 2,
    });
    let (mut closer, mut holders) = (Vec::new(), Vec::new());
    for one in localizations {
        let theirs = locale(index, one);
        if one.message.is_some() {
            holders.push(Plan::And(vec![theirs.clone(), Plan::Not(Box::new(Plan::Or(closer.clone())))]));
        }
        closer.push(theirs);
    }
    Some(Plan::Or(holders))
}

fn locale(index: &Index, one: &Localization) -> Plan {
    // Codes without a tag are refused with the request, where it matters who holds a message.
    let tag = |group: &str, code: Option<&str>| match (TagGroup::new(group), code.map(Tag::new)) {
        (Ok(group), Some(Ok(tag))) => tag_plan(index, &group, &tag),
        (Err(_), _) | (_, None | Some(Err(_))) => Plan::Nobody,
    };
    let language = one.language.as_ref().map(|code| tag("ua_locale_language", language_tag(code)));
    let country = one.country.as_ref().map(|code| tag("ua_locale_country", country_tag(code)));
    Plan::And(language.into_iter().chain(country).collect())
}
