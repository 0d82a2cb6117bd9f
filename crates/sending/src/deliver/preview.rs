//! Previews of a push that is not sent: what devices would show, the exact requests to the providers, and what stands in the way.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::{Error, Result};
use boxed::boxed;
use model::app::AppKey;
use model::channel::DeliveryType;
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, DeliveryId, NamedUserId, PushId};
use model::payload::localization::Content;
use model::payload::{Appearance, Push};
use model::problem::{Problem, ProblemKind};
use model::time::UtcMillis;
use personalization::ValueMap;
use providers::{MessageSize, NotSendable, PreparedRequest, Recipient, Rendering};
use roaring::RoaringBitmap;
use store::apps::App;
use store::recipients::{self, Wanted};
use store::{Tx, channels, named_users};
use targeting::open_types;
use uuid::Uuid;

use super::render::DeliveredBy;
use super::target::{Need, Target};
use crate::push::{RequestPath, refuse_expiries_beyond_providers, refuse_unfit, refuse_unsupported};
use crate::{Sending, pages, personal};

/// Where the push is in a request.
const PATH: RequestPath = RequestPath::under("push.");
/// Stands where the address of a device would be.
const SOME_ADDRESS: &str = "address";

/// Of all messages of a preview together. A text that all localizations share is in each of them, for every device type; a push
/// that platforms take has a small part of this.
const MOST_PREVIEWED_BYTES: usize = 16 * 1024 * 1024;
const TOO_MUCH_TO_PREVIEW: &str =
    "All previews of this push together are too large, and the last are left out; preview one locale or channel.";

/// Whom a push is previewed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreviewFor {
    /// Every device type with every content that there is.
    Everybody,
    /// Every device type with the content of devices of a language and a country.
    Locale { language: Option<String>, country: Option<String> },
    /// One device, with its own address, badge and values.
    Channel(ChannelId),
    /// Every device type with every content, with the values of a named user.
    NamedUser(NamedUserId),
}

#[derive(Clone, Debug)]
pub struct Previews {
    pub previews: Vec<Preview>,
    /// Why the push would be refused.
    pub problems: Vec<Problem>,
    /// The names that its texts ask for and that nothing is known under.
    pub missing: BTreeSet<String>,
}

/// A push with the values of whom it is previewed for.
struct Filled {
    push: Push,
    missing: BTreeSet<String>,
    problem: Option<Problem>,
}

impl Filled {
    /// Without somebody in particular, texts are shown as they are written.
    fn new(push: Push, values: Option<&ValueMap>, now: UtcMillis) -> Self {
        let unfilled = |push: Push| Self { push, missing: BTreeSet::new(), problem: None };
        let Ok(Some(personalized)) = push.personalized() else { return unfilled(push) };
        if personalized.texts.is_empty() {
            return unfilled(personalized.push);
        }
        let Some(values) = values else { return unfilled(push) };
        let missing = personalized.texts.missing(values);
        match personalized.filled(values, now) {
            Ok(Ok(push)) => Self { push, missing, problem: None },
            Ok(Err(problems)) => Self { push, missing, problem: Some(refused(problems.first().message.clone())) },
            Err(reason) => Self { push, missing, problem: Some(refused(reason.to_string())) },
        }
    }
}

fn refused(message: String) -> Problem {
    Problem { path: "push".to_owned(), message, kind: ProblemKind::Invalid }
}

/// The message of one device type and content.
#[derive(Clone, Debug)]
pub struct Preview {
    pub device_type: DeviceType,
    /// The index of the localization whose content it is; `None` for the content of the top level.
    pub localization: Option<usize>,
    pub appearance: Appearance,
    pub message: Result<PreviewedMessage, NotSendable>,
    /// Parts of the push that devices of the type do not get, each with the reason.
    pub left_out: Vec<(&'static str, &'static str)>,
}

#[derive(Clone, Debug)]
pub struct PreviewedMessage {
    pub transport: &'static str,
    pub size: MessageSize,
    pub request: PreparedRequest,
}

#[boxed]
impl Sending {
    /// Previews a push. Of its problems only those keep it from being previewed that a parser finds.
    pub async fn preview(&self, app: &Arc<App>, mut push: Push, whom: PreviewFor) -> Result<Previews> {
        self.0.targeting.ready_atlas(std::slice::from_ref(&push)).await?;
        self.fill_in_content_templates(app.id, PATH.of_each([&mut push])).await?;
        let (id, now, checked) = (app.id, self.0.clock.now(), push.clone());
        let device = match &whom {
            PreviewFor::Channel(channel) => Some(*channel),
            PreviewFor::Everybody | PreviewFor::Locale { .. } | PreviewFor::NamedUser(_) => None,
        };
        let user = match &whom {
            PreviewFor::NamedUser(user) => Some(user.clone()),
            PreviewFor::Everybody | PreviewFor::Locale { .. } | PreviewFor::Channel(_) => None,
        };
        let read = move |tx: &mut Tx<'_>| {
            let problems = problems(tx, id, &checked, now)?;
            let device = device.map(|channel| Device::read(tx, id, &checked, channel, now)).transpose()?;
            let values = match (&device, &user) {
                (Some(device), _) => Some(device.values.clone()),
                (None, Some(user)) => {
                    named_users::get(tx, id, user)?.ok_or(Error::NotFound("named user"))?;
                    Some(personal::values_of_user(tx, id, user, now)?)
                }
                (None, None) => None,
            };
            Ok::<_, Error>((problems, device, values))
        };
        let (mut problems, device, values) = self.0.store.read(read).await?;
        let index = self.0.index.current(app.id).await?;
        let (app_key, public_url) = (app.key.clone(), self.0.public_url.clone());
        // Up to a hundred localizations for every platform, and texts with loops.
        let work = move || {
            let Filled { push, missing, problem } = Filled::new(push, values.as_ref(), now);
            problems.extend(problem);
            let previewer = Previewer { app_key: &app_key, public_url: &public_url, push: &push, now };
            let previews = match (device, whom) {
                (Some(device), _) => vec![previewer.of_device(&device)],
                (None, PreviewFor::Locale { language, country }) => {
                    let localization = push.localization_for(language.as_deref(), country.as_deref());
                    let types = types(&push, open_types(&push.device_types, &index));
                    types.iter().map(|device_type| previewer.of_type(device_type, localization)).collect()
                }
                (None, PreviewFor::Everybody | PreviewFor::Channel(_) | PreviewFor::NamedUser(_)) => {
                    let types = types(&push, open_types(&push.device_types, &index));
                    let n_localizations = push.localizations.as_ref().map_or(0, Vec::len);
                    let contents = std::iter::once(None).chain((0..n_localizations).map(Some));
                    let pairs = contents.flat_map(|content| types.iter().map(move |of_type| (of_type, content)));
                    let mut n_bytes = 0;
                    let is_room = |preview: &Preview| {
                        n_bytes += preview.message.as_ref().map_or(0, |message| message.size.n_bytes);
                        n_bytes <= MOST_PREVIEWED_BYTES
                    };
                    let previews = pairs.map(|(of_type, content)| previewer.of_type(of_type, content));
                    let previews: Vec<Preview> = previews.take_while(is_room).collect();
                    if previews.len() < types.len() * (n_localizations + 1) {
                        problems.push(refused(TOO_MUCH_TO_PREVIEW.to_owned()));
                    }
                    previews
                }
            };
            Previews { previews, problems, missing }
        };
        self.0.index.evaluate(work).await
    }
}

/// Everything that sending the push would object to.
fn problems(tx: &mut Tx<'_>, app: AppId, push: &Push, now: UtcMillis) -> Result<Vec<Problem>> {
    let pushes = std::slice::from_ref(push);
    let found = [
        refuse_unsupported(pushes, PATH),
        refuse_expiries_beyond_providers(pushes, now, PATH),
        refuse_unfit(tx, app, pushes, PATH),
    ];
    let mut problems = Vec::new();
    for found in found {
        match found {
            Ok(()) => {}
            Err(Error::Invalid(refused)) => problems.extend(refused.iter().cloned()),
            Err(other) => return Err(other),
        }
    }
    Ok(problems)
}

/// The device types that the push is for and that there can be channels of.
fn types(push: &Push, open: Vec<DeviceType>) -> Vec<DeviceType> {
    let named = DeviceType::NAMED.into_iter().map(|(_, named)| named);
    let named = named.filter(|named| named.has_channels() && push.device_types.includes(named));
    named.chain(open).collect()
}

/// A channel, as delivery sees it.
struct Device {
    device_type: DeviceType,
    target: Target,
    /// For the texts of the push.
    values: ValueMap,
}

impl Device {
    fn read(tx: &mut Tx<'_>, app: AppId, push: &Push, id: ChannelId, now: UtcMillis) -> Result<Self> {
        let channel = channels::by_id(tx, app, id)?.ok_or(Error::NotFound("channel"))?;
        let need = Need::of(push, &channel.device_type);
        let mut found = None;
        recipients::visit_among(tx, app, &[channel.ordinal], Wanted { locale: true, profile: true }, |row| {
            found = Some(Target::new(&row, need, true));
        })?;
        let target = found.transpose()?;
        let unreachable = || Error::invalid("channel", "This channel is uninstalled, or has no address to send to.");
        let names = push.personalized().ok().flatten().map(|personalized| personalized.texts.names());
        let only = RoaringBitmap::from_iter([channel.ordinal.0]);
        let mut values = personal::values_of(tx, app, &only, &names.unwrap_or_default(), now)?;
        Ok(Self {
            device_type: channel.device_type,
            target: target.ok_or_else(unreachable)?,
            values: values.remove(&channel.ordinal.0).unwrap_or_default(),
        })
    }
}

struct Previewer<'a> {
    app_key: &'a AppKey,
    public_url: &'a str,
    push: &'a Push,
    now: UtcMillis,
}

impl Previewer<'_> {
    /// Stands where the id of the push would be.
    const PUSH: PushId = PushId::from_uuid(Uuid::nil());

    fn of_device(&self, Device { device_type, target, .. }: &Device) -> Preview {
        let locale = target.locale.as_deref();
        let localization =
            locale.and_then(|(language, country)| self.push.localization_for(language.as_deref(), country.as_deref()));
        let by = match target.delivery_type() {
            DeliveryType::Adm => DeliveredBy::Amazon,
            DeliveryType::UnifiedPush => DeliveredBy::UnifiedPush,
            DeliveryType::Fcm | DeliveryType::Hms => DeliveredBy::Own,
        };
        self.preview(device_type, localization, by, &target.filled(Self::PUSH))
    }

    fn of_type(&self, device_type: &DeviceType, localization: Option<usize>) -> Preview {
        let (delivery, channel) = (DeliveryId::from_uuid(Uuid::nil()), ChannelId::from_uuid(Uuid::nil()));
        self.preview(device_type, localization, DeliveredBy::Own, &Recipient::new(delivery, channel, SOME_ADDRESS))
    }

    fn preview(
        &self,
        device_type: &DeviceType,
        localization: Option<usize>,
        by: DeliveredBy,
        recipient: &Recipient<'_>,
    ) -> Preview {
        let content = self.push.content_of(localization);
        let page_url = |page: &_| pages::url(self.public_url, self.app_key, Self::PUSH, self.push, page);
        let rendering = Rendering {
            app_key: self.app_key,
            push_id: Self::PUSH,
            group_id: None,
            variant_id: None,
            sent_at: self.now,
            now: self.now,
            expiry: self.push.options.as_ref().and_then(|options| options.expiry.as_ref()),
            content,
            has_marks: false,
            campaigns: self.push.campaigns.as_ref(),
            page_url: &page_url,
        };
        let message = by.render(&rendering, device_type).map(|rendered| {
            let request = rendered.request(recipient);
            let size = MessageSize::of(&rendered, &request);
            PreviewedMessage { transport: rendered.transport(), size, request }
        });
        Preview {
            device_type: device_type.clone(),
            localization,
            appearance: content.appearance_on(device_type),
            message,
            left_out: left_out(&content, device_type),
        }
    }
}

/// Parts of a content that devices of a type do not get.
fn left_out(content: &Content<'_>, device_type: &DeviceType) -> Vec<(&'static str, &'static str)> {
    let (shows_banners, has_inbox, has_actions) = match device_type {
        DeviceType::Ios | DeviceType::Android | DeviceType::Amazon => (true, true, true),
        DeviceType::Web => (false, true, true),
        DeviceType::Open(_) => (false, false, true),
        DeviceType::Wns | DeviceType::Sms | DeviceType::Mms | DeviceType::Email => (false, false, false),
    };
    let notification = content.notification;
    let mut parts = Vec::new();
    if content.in_app.is_some() && !shows_banners {
        parts.push(("in_app", "These devices show no in-app messages."));
    }
    if content.message.is_some() && !has_inbox {
        parts.push(("message", "These devices have no inbox."));
    }
    if notification.is_some_and(|notification| notification.actions.is_some()) && !has_actions {
        parts.push(("notification.actions", "These devices carry out no actions."));
    }
    let interactive = notification.and_then(|notification| notification.interactive_on(device_type));
    let has_no_buttons = || content.appearance_on(device_type).buttons.is_empty();
    if interactive.is_some() && matches!(device_type, DeviceType::Web | DeviceType::Wns) && has_no_buttons() {
        parts.push(("notification.interactive", "These devices do not know the buttons of this type."));
    }
    parts
}
