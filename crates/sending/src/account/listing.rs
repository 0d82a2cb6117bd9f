//! Listing everybody whom a push concerned, in the order in which they registered.

use audience::block::Block;
use base::{Error, Result};
use boxed::boxed;
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, NamedUserId, Ordinal, PushId};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::{Tx, channels, devices, pushes};

use super::block::BlockAccount;
use super::marks::{BlockMarks, Holders};
use super::{Accounted, Recipient, Response, Standing};
use crate::Sending;

/// Channels looked at for one page, so that a rare outcome does not keep a connection busy for long.
const MOST_LOOKED_AT: u32 = 20_000;
/// The same for the messages in inboxes, each of which has to be asked for.
const MOST_MESSAGES: u32 = 1_000;
/// And for blocks, however few of their channels are wanted.
const MOST_BLOCKS: u32 = 64;

/// Which recipients to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedRecipients {
    /// Everybody whom the audience had.
    All,
    With(Standing),
    Received,
    Opened,
    Influenced,
    Read,
}

#[derive(Clone, Copy, Debug)]
pub struct RecipientsQuery {
    pub wanted: WantedRecipients,
    pub start: RecipientsStart,
    pub at_most: u32,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipientsStart {
    First,
    /// At a channel, which has to exist.
    Channel(ChannelId),
    /// At the place of a channel, which may be erased by now.
    Ordinal(Ordinal),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipientsPage {
    pub recipients: Vec<Recipient>,
    /// The channel that the next page begins with; `None` at the end.
    pub next: Option<ChannelId>,
    /// Its place, or that of a channel before it.
    pub next_ordinal: Option<Ordinal>,
}

#[boxed]
impl Sending {
    /// A page may be shorter than asked for, and even empty, although there are more.
    pub async fn recipients(&self, app: AppId, push: PushId, query: RecipientsQuery) -> Result<RecipientsPage> {
        self.0.store.read(move |tx| Listing::new(tx, app, push, query)?.page(tx)).await
    }
}

struct Listing {
    app: AppId,
    push: Accounted,
    holders: Option<Holders>,
    wanted: WantedRecipients,
    from: Ordinal,
    at_most: usize,
    found: Vec<Found>,
}

struct Found {
    ordinal: Ordinal,
    device_type: DeviceType,
    standing: Standing,
    reason: String,
    at: Option<UtcMillis>,
    response: Response,
}

impl Listing {
    fn new(tx: &mut Tx<'_>, app: AppId, push: PushId, query: RecipientsQuery) -> Result<Self> {
        let from = match query.start {
            RecipientsStart::First => Ordinal(0),
            RecipientsStart::Ordinal(ordinal) => ordinal,
            RecipientsStart::Channel(start) => {
                let found = channels::by_id(tx, app, start)?.ok_or(Error::NotFound("channel to start with"))?;
                found.ordinal
            }
        };
        Ok(Self {
            app,
            push: Accounted::find(tx, app, push)?,
            holders: Holders::find(tx, app, push)?,
            wanted: query.wanted,
            from,
            at_most: usize::try_from(query.at_most).unwrap_or(usize::MAX),
            found: Vec::new(),
        })
    }

    fn page(mut self, tx: &mut Tx<'_>) -> Result<RecipientsPage> {
        let next_ordinal = match self.wanted {
            WantedRecipients::With(Standing::NotMatched) => self.find_unmatched(tx)?,
            _ => self.find(tx)?,
        };
        let next = next_ordinal.map(|ordinal| id_of(tx, self.app, ordinal)).transpose()?.flatten();
        Ok(RecipientsPage { recipients: self.shown(tx)?, next, next_ordinal })
    }

    /// Goes through the blocks of the push; returns where the next page begins.
    fn find(&mut self, tx: &mut Tx<'_>) -> Result<Option<Ordinal>> {
        let (app, push) = (self.app, self.push.row.id);
        let mut next = u32::from(Block::of(self.from).0);
        let (mut n_looked_at, mut n_blocks) = (0, 0);
        let most = if self.wanted == WantedRecipients::Read { MOST_MESSAGES } else { MOST_LOOKED_AT };
        while let Some(number) = BlockAccount::next(tx, app, &self.push, next)? {
            let block = Block(u16::try_from(number).map_err(Error::internal)?);
            n_blocks += 1;
            if n_blocks > MOST_BLOCKS {
                return Ok(Some(block.first()));
            }
            let account = BlockAccount::read(tx, app, &self.push, number)?;
            let marks = BlockMarks::read(tx, app, push, block)?;
            let chosen = self.chosen(&account, &marks);
            let mut readers = self.holders.as_ref().map(|holders| holders.readers(&chosen));
            for n in chosen.range(self.from.0..) {
                let ordinal = Ordinal(n);
                n_looked_at += 1;
                if self.found.len() >= self.at_most || n_looked_at > most {
                    return Ok(Some(ordinal));
                }
                let read = readers.as_mut().map(|readers| readers.has_read(tx, app, ordinal));
                let read = read.transpose()?.flatten();
                let Some(set) =
                    account.of(ordinal).filter(|_| self.wanted != WantedRecipients::Read || read == Some(true))
                else {
                    continue;
                };
                self.found.push(Found {
                    ordinal,
                    device_type: set.device_type.clone(),
                    standing: set.standing,
                    reason: set.reason.clone(),
                    at: set.at,
                    response: marks.of(ordinal, read),
                });
            }
            next = number + 1;
        }
        Ok(None)
    }

    fn chosen(&self, account: &BlockAccount, marks: &BlockMarks) -> RoaringBitmap {
        match self.wanted {
            WantedRecipients::All => account.everybody(),
            WantedRecipients::With(standing) => {
                let sets = account.sets.iter().filter(|set| set.standing == standing);
                sets.fold(RoaringBitmap::new(), |all, set| all | &set.channels)
            }
            WantedRecipients::Received => account.everybody() & &marks.received,
            WantedRecipients::Opened => account.everybody() & &marks.opened,
            WantedRecipients::Influenced => (account.everybody() & &marks.influenced) - &marks.opened,
            WantedRecipients::Read => match &self.holders {
                Some(holders) => account.everybody() & &holders.channels,
                None => RoaringBitmap::new(),
            },
        }
    }

    /// Goes through the channels that were there when the audience was chosen and are still installed.
    fn find_unmatched(&mut self, tx: &mut Tx<'_>) -> Result<Option<Ordinal>> {
        let Some((_, resolved)) = pushes::resolved(tx, self.app, self.push.row.id)? else { return Ok(None) };
        // Ordinals are given out in the order of registration.
        let later = channels::first_since(tx, self.app, UtcMillis(resolved.0 + 1))?;
        let last = channels::last(tx, self.app)?.map_or(0, |last| last.0.saturating_add(1));
        let end = later.map_or(last, |later| later.0);
        let looked = end.min(self.from.0.saturating_add(MOST_LOOKED_AT));
        let candidates = devices::installed_between(tx, self.app, self.from, Ordinal(looked))?;
        let mut known: Option<(u32, RoaringBitmap)> = None;
        for (ordinal, device_type) in candidates {
            let number = u32::from(Block::of(ordinal).0);
            if known.as_ref().is_none_or(|(block, _)| *block != number) {
                known = Some((number, BlockAccount::read(tx, self.app, &self.push, number)?.everybody()));
            }
            if known.as_ref().is_some_and(|(_, matched)| matched.contains(ordinal.0)) {
                continue;
            }
            if self.found.len() >= self.at_most {
                return Ok(Some(ordinal));
            }
            let (standing, reason) = (Standing::NotMatched, String::new());
            let response = Response::default();
            self.found.push(Found { ordinal, device_type, standing, reason, at: None, response });
        }
        Ok((looked < end).then_some(Ordinal(looked)))
    }

    /// Channels that were erased are not shown.
    fn shown(self, tx: &mut Tx<'_>) -> Result<Vec<Recipient>> {
        let ordinals: Vec<Ordinal> = self.found.iter().map(|found| found.ordinal).collect();
        let mut named = std::collections::HashMap::with_capacity(ordinals.len());
        devices::visit(tx, self.app, &ordinals, |device| {
            let user = device.named_user.and_then(|user| NamedUserId::new(user).ok());
            named.insert(device.ordinal, (device.id, user));
            Ok(())
        })?;
        let shown = self.found.into_iter().filter_map(|found| {
            let (channel, named_user) = named.remove(&found.ordinal)?;
            let Found { device_type, standing, reason, at, response, .. } = found;
            Some(Recipient { channel, device_type, named_user, standing, reason, at, response })
        });
        Ok(shown.collect())
    }
}

/// The id of a channel, or of the first after it that is still known.
fn id_of(tx: &mut Tx<'_>, app: AppId, ordinal: Ordinal) -> Result<Option<ChannelId>> {
    Ok(devices::first_id_from(tx, app, ordinal)?)
}
