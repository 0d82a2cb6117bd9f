//! The old way to use tags: flat device tags as objects of their own, which are listed, created and deleted.
//!
//! Deleting a tag takes its number away (see `model::term::Term::Retired`), which costs the same however many devices have it:
//! from then on its name has no number, and using it again assigns another one. The old number is removed from the devices later,
//! by a job.

mod forget;

pub(crate) use forget::ForgetTag;

use std::collections::BTreeSet;

use audience::index::Index;
use audience::plan::Plan;
use base::{Error, Result};
use boxed::boxed;
use index::term_plan;
use model::channel::{TagOperation, TagSets};
use model::device_type::DeviceType;
use model::ids::AppId;
use model::legacy_tag::{LegacyDevice, LegacyTagging, TagBatch};
use model::tag::{Tag, TagGroup};
use model::term::Term;
use store::channels::{self, Channel};
use store::growth::Created;
use store::{Tx, legacy_tags, terms};

use crate::Devices;
use crate::change_context::ChangeContext;
use crate::channels::{OwnChange, address_key, apid_key};
use crate::mistaken::Mistaken;
use crate::room::Batch;

/// How many tags the listing shows.
const LISTED: u32 = 100;

#[boxed]
impl Devices {
    /// The first tags, in order: those that a device has, and those that were created and not deleted since.
    pub async fn legacy_tags(&self, app: AppId) -> Result<Vec<Tag>> {
        let index = self.0.index.current(app).await?;
        let created = self.0.store.read(move |tx| legacy_tags::first(tx, app, LISTED)).await?;
        // There may be millions of tags, most of which nobody has.
        self.0.index.evaluate(move || first_tags(&index, created)).await
    }

    /// Whether the tag is new.
    pub async fn create_legacy_tag(&self, app: AppId, tag: Tag) -> Result<bool> {
        let index = self.0.index.current(app).await?;
        let (claim, now) = (self.claim(app), self.0.clock.now());
        self.0
            .store
            .write(app, move |tx| {
                if let Some(claim) = &claim
                    && !legacy_tags::exists(tx, app, &tag)?
                {
                    claim.restart();
                    claim.create(tx, Created::Tags, now)?;
                }
                Ok(legacy_tags::insert(tx, app, &tag)? && !is_held(&index, &tag))
            })
            .await
    }

    /// Adds a tag, which is created if necessary, to some devices and removes it from others. Devices that are unknown or
    /// uninstalled are skipped, and so are those of another type and those without room, each of which is told in a sentence.
    pub async fn tag_devices(&self, app: AppId, tag: Tag, tagging: LegacyTagging) -> Result<Vec<String>> {
        let this_one = flat_tags(BTreeSet::from([tag.clone()]));
        let adding = TagOperation::Edit { add: this_one.clone(), remove: TagSets::new() };
        let removing = TagOperation::Edit { add: TagSets::new(), remove: this_one };
        self.change_audience(app, move |tx, context| {
            legacy_tags::insert(tx, app, &tag)?;
            let mut batch = Batch::default();
            for device in &tagging.add {
                change_tags(tx, context, device, &adding, &mut batch)?;
            }
            for device in &tagging.remove {
                change_tags(tx, context, device, &removing, &mut batch)?;
            }
            batch.finish()
        })
        .await
    }

    /// Makes the flat tags of each device exactly those given. Devices that are unknown or uninstalled are skipped, and so are
    /// those of another type and those without room, each of which is told in a sentence.
    pub async fn set_device_tags(&self, app: AppId, TagBatch(rows): TagBatch) -> Result<Vec<String>> {
        self.change_audience(app, move |tx, context| {
            let mut batch = Batch::default();
            for row in &rows {
                let operation = TagOperation::Set(flat_tags(row.tags.clone()));
                change_tags(tx, context, &row.device, &operation, &mut batch)?;
            }
            batch.finish()
        })
        .await
    }

    /// Deletes a tag and takes it from all devices. Nothing that is sent to the tag after this returns reaches a device that
    /// had it before.
    pub async fn delete_legacy_tag(&self, app: AppId, tag: Tag) -> Result<()> {
        let index = self.0.index.current(app).await?;
        let now = self.0.clock.now();
        self.0
            .store
            .write(app, move |tx| {
                let number = terms::find(tx, app, &of_devices(&tag))?;
                let is_held = number.is_some_and(|number| index.count(&Plan::Term(number)) > 0);
                if !is_held && !legacy_tags::exists(tx, app, &tag)? {
                    return Err(Error::NotFound("tag"));
                }
                legacy_tags::delete(tx, app, &tag)?;
                let Some(number) = number else { return Ok(()) };
                let retired = Term::Retired { number, tag: tag.clone() };
                terms::retire(tx, app, number, &retired)?;
                let mut context = ChangeContext::new(app, &index, now);
                context.journal.new_term(number, &retired);
                let retired_at = context.journal.write(tx, app)?;
                terms::set_retired_at(tx, app, retired_at)?;
                jobs::enqueue(tx, app, now, &ForgetTag { number, retired_at })
            })
            .await
    }
}

/// The first of the tags that a device has and those that were created.
fn first_tags(index: &Index, created: Vec<Tag>) -> Vec<Tag> {
    let mut known = index.tags(TagGroup::device().as_str());
    known.sort_unstable();
    let known = known.iter().filter_map(|tag| Tag::new(tag).ok());
    let held = known.filter(|tag| is_held(index, tag)).take(LISTED as usize);
    let all: BTreeSet<Tag> = held.chain(created).collect();
    all.into_iter().take(LISTED as usize).collect()
}

fn of_devices(tag: &Tag) -> Term {
    Term::Tag { group: TagGroup::device(), tag: tag.clone() }
}

fn flat_tags(tags: BTreeSet<Tag>) -> TagSets {
    TagSets::from([(TagGroup::device(), tags)])
}

fn is_held(index: &Index, tag: &Tag) -> bool {
    index.count(&term_plan(index, &of_devices(tag))) > 0
}

fn change_tags(
    tx: &mut Tx<'_>,
    context: &mut ChangeContext<'_>,
    device: &LegacyDevice,
    operation: &TagOperation,
    batch: &mut Batch,
) -> Result<()> {
    let Some(row) = find(tx, context.app, device)?.filter(|row| row.installed) else { return Ok(()) };
    if let LegacyDevice::Channel(channel) = device
        && let Some(mistaken) = Mistaken::find(channel, &row.device_type)
    {
        batch.mistake(Some(mistaken));
        return Ok(());
    }
    let id = row.id;
    let room = context.try_change_own(tx, &row.into(), &[OwnChange::Tags(std::slice::from_ref(operation))])?;
    batch.add(|| format!("channel {id}"), room);
    Ok(())
}

fn find(tx: &mut Tx<'_>, app: AppId, device: &LegacyDevice) -> Result<Option<Channel>> {
    let key = match device {
        LegacyDevice::Channel(channel) => return Ok(channels::by_id(tx, app, channel.id)?),
        LegacyDevice::DeviceToken(token) => address_key(&DeviceType::Ios, token.as_str()),
        LegacyDevice::Apid(apid) => apid_key(&DeviceType::Android, apid),
        // No platform that has these can register.
        LegacyDevice::DevicePin(_) => return Ok(None),
    };
    let Some(ordinal) = channels::by_key(tx, app, &key)? else { return Ok(None) };
    Ok(channels::by_ordinal(tx, app, ordinal)?)
}
