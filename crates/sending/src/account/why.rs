//! Why a person got a push, or did not: the steps in their order, each with a sentence.

use std::collections::HashMap;

use audience::block::Block;
use base::{Error, Result};
use boxed::boxed;
use devices::address_key;
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, NamedUserId, Ordinal, PushId};
use model::origin::{Part, Provenance};
use model::payload::Push;
use model::payload::device_types::DeviceTypes;
use model::push_outcome::{LeftOut, PushOutcome};
use model::selector::Audience;
use model::time::UtcMillis;
use providers::platform::Provider;
use roaring::RoaringBitmap;
use store::channels::{self, Channel};
use store::pushes::{self, PushState};
use store::{Tx, origins};
use targeting::{ClauseOfOne, Moment, device_types, open_types};

use super::block::BlockAccount;
use super::marks::{BlockMarks, Holders};
use super::{Accounted, Response, Standing};
use crate::Sending;
use crate::push::stored_push;

/// Who is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Person {
    Channel(ChannelId),
    /// All channels of the user.
    NamedUser(NamedUserId),
    /// All channels with an address, of whichever device type.
    Address(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    pub push: PushId,
    pub devices: Vec<WhyOfDevice>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WhyOfDevice {
    pub channel: ChannelId,
    pub device_type: DeviceType,
    pub named_user: Option<NamedUserId>,
    /// `None` before the audience was chosen.
    pub standing: Option<Standing>,
    pub reason: String,
    pub steps: Vec<Step>,
}

/// One thing that happened, or did not.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub name: StepName,
    /// For people.
    pub text: String,
    pub at: Option<UtcMillis>,
    /// Of the step about the audience.
    pub clause: Option<ClauseOfOne>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepName {
    Accepted,
    Resolved,
    Registered,
    Audience,
    Outcome,
    Response,
    Now,
}

impl StepName {
    pub const fn name(self) -> &'static str {
        match self {
            StepName::Accepted => "accepted",
            StepName::Resolved => "resolved",
            StepName::Registered => "registered",
            StepName::Audience => "audience",
            StepName::Outcome => "outcome",
            StepName::Response => "response",
            StepName::Now => "now",
        }
    }
}

/// What is known about one device before its audience is explained.
struct Known {
    channel: Channel,
    standing: Option<Standing>,
    reason: String,
    at: Option<UtcMillis>,
    tries: u32,
    response: Response,
}

/// What is known about the push.
struct Asked {
    push: Accounted,
    provenance: Provenance,
    content: Option<Push>,
    resolved: Option<(model::ids::Offset, UtcMillis)>,
    devices: Vec<Known>,
}

#[boxed]
impl Sending {
    pub async fn why(&self, app: AppId, push: PushId, person: Person) -> Result<Why> {
        let index = self.0.index.current(app).await?;
        let all_types = device_types(&DeviceTypes::all(), &index);
        let asked = self.0.store.read(move |tx| Asked::read(tx, app, push, &person, &all_types)).await?;
        let decided = asked.devices.iter().filter(|known| known.standing.is_some());
        let decided: Vec<Ordinal> = decided.map(|known| known.channel.ordinal).collect();
        let mut clauses = match asked.audience_that_decided() {
            Some((audience, types)) if !decided.is_empty() => {
                let moment = Moment {
                    position: asked.resolved.map(|(position, _)| position),
                    at: asked.resolved.map_or(asked.push.row.created, |(_, at)| at),
                };
                let open = open_types(types, &index);
                self.0.targeting.explain_for_some(app, audience.clone(), open, moment, decided).await?
            }
            Some(_) | None => HashMap::new(),
        };
        let tell = |known: &Known| asked.told(known, clauses.remove(&known.channel.ordinal));
        Ok(Why { push, devices: asked.devices.iter().map(tell).collect() })
    }
}

impl Asked {
    fn read(tx: &mut Tx<'_>, app: AppId, push: PushId, person: &Person, all_types: &[DeviceType]) -> Result<Self> {
        let accounted = Accounted::find(tx, app, push)?;
        let resolved = pushes::resolved(tx, app, push)?;
        let holders = Holders::find(tx, app, push)?;
        // A push that was canceled at once has no account, nor has one that an earlier version sent long ago.
        let has_account = resolved.is_some() || BlockAccount::next(tx, app, &accounted, 0)?.is_some();
        let ordinals = ordinals_of(tx, app, person, all_types)?;
        let mut readers = holders
            .map(|holders| holders.readers(&ordinals.iter().map(|ordinal| ordinal.0).collect::<RoaringBitmap>()));
        let (mut devices, mut block) = (Vec::new(), None);
        for channel in channels::by_ordinals(tx, app, &ordinals)? {
            let number = Block::of(channel.ordinal);
            // They are sorted, so that those of one block come together.
            let of_block = match block.take() {
                Some((of, account, marks)) if of == number => (of, account, marks),
                _ => {
                    let account = BlockAccount::read(tx, app, &accounted, u32::from(number.0))?;
                    (number, account, BlockMarks::read(tx, app, push, number)?)
                }
            };
            let read = readers.as_mut().map(|readers| readers.has_read(tx, app, channel.ordinal));
            let (_, account, marks) = block.insert(of_block);
            devices.push(Known::new(channel, account, marks, has_account, read.transpose()?.flatten()));
        }
        let content = stored_push(&accounted.row)?;
        Ok(Self { provenance: origins::of(tx, app, push)?, content, resolved, devices, push: accounted })
    }

    /// The audience that decided about devices, if it is still known and selects by anything.
    fn audience_that_decided(&self) -> Option<(&Audience, &DeviceTypes)> {
        let content = self.content.as_ref()?;
        match self.provenance.part {
            Part::Triggered => None,
            Part::Everybody | Part::Clocks(_) | Part::Variant(_) => Some((&content.audience, &content.device_types)),
        }
    }

    fn told(&self, known: &Known, clause: Option<ClauseOfOne>) -> WhyOfDevice {
        let Known { channel, standing, reason, .. } = known;
        let mut steps = vec![Step::new(StepName::Accepted, "The push was accepted.", Some(self.push.row.created))];
        steps.push(self.resolving());
        let is_later = self.resolved.is_some_and(|(_, resolved)| channel.created > resolved);
        let registered = match is_later {
            true => "The device registered after the recipients were chosen, so it could not be one of them.",
            false => "The device had registered before.",
        };
        steps.push(Step::new(StepName::Registered, registered, Some(channel.created)));
        if let Some(standing) = *standing {
            steps.push(self.audience(standing, reason, is_later, clause));
            if standing != Standing::NotMatched {
                steps.push(known.outcome(standing, reason));
            }
        }
        steps.extend(known.responses());
        steps.extend(known.now());
        WhyOfDevice {
            channel: channel.id,
            device_type: channel.device_type.clone(),
            named_user: channel.named_user.clone(),
            standing: *standing,
            reason: reason.clone(),
            steps,
        }
    }

    fn resolving(&self) -> Step {
        let text = match (self.push.row.state, self.resolved) {
            (_, Some(_)) => "Its recipients were chosen from the audience.",
            (PushState::Accepted, None) if self.push.row.paused => {
                "It is paused, and its recipients are not chosen yet."
            }
            (PushState::Accepted, None) => "Its recipients are not chosen yet.",
            (PushState::Canceled, None) => "It was canceled, maybe before its recipients were chosen.",
            (PushState::Sending | PushState::Done, None) => {
                "An earlier version chose its recipients and did not note when; what it noted is kept for 30 days."
            }
        };
        Step::new(StepName::Resolved, text, self.resolved.map(|(_, at)| at))
    }

    fn audience(&self, standing: Standing, reason: &str, is_later: bool, clause: Option<ClauseOfOne>) -> Step {
        let is_matched = standing != Standing::NotMatched;
        let text = match (&self.provenance.part, is_matched) {
            (Part::Triggered, true) if reason == LeftOut::Conditions.name() => "The device set the pipeline off.",
            (Part::Triggered, true) => "The device set the pipeline off, and its conditions held.",
            (Part::Triggered, false) => "The device did not set the pipeline off.",
            (_, true) => "The device was in the audience.",
            (_, false) if is_later => "The device was not there to be in the audience.",
            (_, false) => "The device was not in the audience.",
        };
        let differs = clause.as_ref().is_some_and(|clause| clause.is_met != is_matched);
        let text = match (&self.content, differs) {
            (None, _) => format!("{text} The push is redacted, so its audience cannot be shown."),
            (Some(_), true) if !is_later => format!("{text} By what is known of it now, the answer would be another."),
            (Some(_), _) => text.to_owned(),
        };
        Step { clause, ..Step::new(StepName::Audience, &text, None) }
    }
}

impl Known {
    fn new(
        channel: Channel,
        account: &BlockAccount,
        marks: &BlockMarks,
        has_account: bool,
        read: Option<bool>,
    ) -> Self {
        let (response, tries) = (marks.of(channel.ordinal, read), account.tries(&channel.device_type));
        let (standing, reason, at) = match account.of(channel.ordinal) {
            Some(set) => (Some(set.standing), set.reason.clone(), set.at),
            None if !has_account => (None, String::new(), None),
            None => (Some(Standing::NotMatched), String::new(), None),
        };
        Self { channel, standing, reason, at, tries, response }
    }

    fn outcome(&self, standing: Standing, reason: &str) -> Step {
        let mut text = standing.sentence(reason);
        if let (Standing::Ended(PushOutcome::Delivered | PushOutcome::Failed), Some(provider)) =
            (standing, Provider::of(&self.channel.device_type))
        {
            text.push_str(&format!(" Its platform is {}.", provider.name()));
        }
        match self.tries {
            0 => {}
            1 => text.push_str(" Devices near it had to be tried again once."),
            tries => text.push_str(&format!(" Devices near it had to be tried again {tries} times.")),
        }
        Step::new(StepName::Outcome, &text, self.at)
    }

    fn responses(&self) -> Vec<Step> {
        let Response { received, opened, influenced, read } = self.response;
        let told = [
            (received, "The device has told that it received the message."),
            (opened, "The device tapped the notification."),
            (influenced, "The device opened the app soon after the delivery, without having tapped the notification."),
            (read == Some(true), "The message was read in the inbox."),
            (read == Some(false), "The message is in the inbox and was not read."),
        ];
        let told = told.into_iter().filter(|(is_so, _)| *is_so);
        told.map(|(_, text)| Step::new(StepName::Response, text, None)).collect()
    }

    fn now(&self) -> Option<Step> {
        let text = "The channel is uninstalled now.";
        (!self.channel.installed).then(|| Step::new(StepName::Now, text, None))
    }
}

impl Step {
    fn new(name: StepName, text: &str, at: Option<UtcMillis>) -> Self {
        Self { name, text: text.to_owned(), at, clause: None }
    }
}

fn ordinals_of(tx: &mut Tx<'_>, app: AppId, person: &Person, all_types: &[DeviceType]) -> Result<Vec<Ordinal>> {
    let (mut found, missing) = match person {
        Person::Channel(id) => {
            let found = channels::by_id(tx, app, *id)?;
            (found.iter().map(|channel| channel.ordinal).collect(), "channel in this app; it may be one of another app")
        }
        Person::NamedUser(id) => {
            let found = channels::ordinals_of_users(tx, app, std::slice::from_ref(id))?;
            (found, "named user in this app, or none with a channel")
        }
        Person::Address(address) => {
            let keys = all_types.iter().map(|device_type| address_key(device_type, address));
            (channels::by_keys(tx, app, keys)?, "channel with this address in this app")
        }
    };
    found.sort_unstable();
    found.dedup();
    if found.is_empty() { Err(Error::NotFound(missing)) } else { Ok(found) }
}
