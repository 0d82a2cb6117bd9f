//! Rendering for one platform: once per localization, however many devices and locales there are.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use model::app::AppKey;
use model::device_type::DeviceType;
use model::event::{LiveContent, SharedPush};
use model::payload::Push;
use model::payload::personal::VaryingTexts;
use model::term::Reach;
use model::time::UtcMillis;
use personalization::{Unrenderable, ValueMap};
use providers::{MarkedMessage, NotSendable, RenderedPush, Rendering};
use store::pushes::PushRow;

use super::target::Locale;
use crate::push::deadline;
use crate::{Sending, pages, reach};

/// The index of a localization in its push; `None` for the top-level content.
pub(super) type Localized = Option<usize>;

pub(super) type Rendered = Result<Arc<RenderedPush>, NotSendable>;

/// The form of a message: that of the platform, or of another one for some Android devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum DeliveredBy {
    Own,
    Amazon,
    UnifiedPush,
}

impl DeliveredBy {
    pub(super) fn render(
        self,
        rendering: &Rendering<'_>,
        device_type: &DeviceType,
    ) -> Result<RenderedPush, NotSendable> {
        match self {
            Self::Own => RenderedPush::new(rendering, device_type),
            Self::Amazon => RenderedPush::for_android_by_amazon(rendering),
            Self::UnifiedPush => RenderedPush::for_android_by_unified_push(rendering),
        }
    }
}

/// The most of a message for live connections. Nodes keep messages of hours in memory, and a device that comes back is sent many at
/// once; it is several times what any provider takes.
const MOST_LIVE_BYTES: usize = 16 * 1024;

/// For how long texts of recipients are filled in until other work of the thread has its turn: those of other apps, and what keeps
/// the lease of the job.
pub(super) const FILLING_AT_ONCE: Duration = Duration::from_millis(20);

/// Why live connections get nothing.
pub(super) enum NotLive {
    NotSendable(NotSendable),
    Unrenderable(Unrenderable),
    TooLarge { n_bytes: usize },
}

impl From<NotSendable> for NotLive {
    fn from(reason: NotSendable) -> Self {
        Self::NotSendable(reason)
    }
}

impl fmt::Display for NotLive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSendable(reason) => reason.fmt(formatter),
            Self::Unrenderable(reason) => reason.fmt(formatter),
            Self::TooLarge { n_bytes } => write!(
                formatter,
                "The push is too large for live connections: it has {n_bytes} bytes there, and {MOST_LIVE_BYTES} are possible."
            ),
        }
    }
}

/// A message for live connections with marks.
pub(super) struct MarkedLive {
    expires: Option<UtcMillis>,
    message: MarkedMessage,
}

fn fitting(content: LiveContent) -> Result<LiveContent, NotLive> {
    match content.message.len() {
        n_bytes if n_bytes > MOST_LIVE_BYTES => Err(NotLive::TooLarge { n_bytes }),
        _ => Ok(content),
    }
}

pub(super) struct Renderer<'a> {
    app_key: &'a AppKey,
    /// The push, as events show it too.
    shared_push: SharedPush,
    sent_at: UtcMillis,
    push: &'a Push,
    /// What varies, if there are marks in the push.
    texts: Option<&'a VaryingTexts>,
    device_type: DeviceType,
    public_url: &'a str,
    rendered: HashMap<(DeliveredBy, Localized), Rendered>,
    /// Messages for live connections that the sandbox keeps, where there are any.
    kept_live: HashMap<Localized, Option<Arc<MarkedLive>>>,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(
        sending: &'a Sending,
        app_key: &'a AppKey,
        (row, shared_push): (&PushRow, SharedPush),
        (push, texts): (&'a Push, Option<&'a VaryingTexts>),
        device_type: DeviceType,
    ) -> Self {
        Self {
            app_key,
            shared_push,
            sent_at: row.created,
            push,
            texts,
            device_type,
            public_url: &sending.0.public_url,
            rendered: HashMap::new(),
            kept_live: HashMap::new(),
        }
    }

    pub(super) fn is_localized(&self) -> bool {
        self.push.localizations.is_some()
    }

    /// Whether the texts differ from recipient to recipient.
    pub(super) fn is_personal(&self) -> bool {
        self.texts.is_some()
    }

    /// The names of the values that the texts are filled in with.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.texts.map(VaryingTexts::names).unwrap_or_default()
    }

    /// What stands in the places of these marks for a recipient with these values.
    pub(super) fn texts_for(
        &self,
        marks: impl Iterator<Item = usize>,
        values: &ValueMap,
        now: UtcMillis,
    ) -> Result<Vec<String>, Unrenderable> {
        let Some(texts) = self.texts else { return Ok(Vec::new()) };
        texts.rendered(marks, values, now)
    }

    /// Whether devices show or sound something.
    pub(super) fn is_alerting(&self) -> bool {
        match self.push.live_activity().filter(|_| self.device_type == DeviceType::Ios) {
            Some(activity) => activity.alert.is_some(),
            None => reach::needed(self.push, &self.device_type) == Some(Reach::Alert),
        }
    }

    /// The content for a device of this locale.
    pub(super) fn localized(&self, locale: &Locale) -> Localized {
        let (language, country) = locale.as_deref()?;
        self.push.localization_for(language.as_deref(), country.as_deref())
    }

    /// Whether it is too late to send this content.
    pub(super) fn is_expired(&self, localized: Localized, now: UtcMillis) -> bool {
        deadline(self.push, localized, &self.device_type, self.sent_at).is_some_and(|deadline| deadline <= now)
    }

    pub(super) fn rendered(&mut self, by: DeliveredBy, localized: Localized, now: UtcMillis) -> Rendered {
        if let Some(rendered) = self.rendered.get(&(by, localized)) {
            return rendered.clone();
        }
        let rendered = self.with(localized, now, |rendering| by.render(rendering, &self.device_type)).map(Arc::new);
        self.rendered.insert((by, localized), rendered.clone());
        rendered
    }

    /// The message for live connections.
    pub(super) fn live(&self, localized: Localized, now: UtcMillis) -> Result<LiveContent, NotLive> {
        self.live_unmeasured(localized, now).and_then(fitting)
    }

    /// The message for live connections of devices with texts of their own.
    pub(super) fn live_marked(&self, localized: Localized, now: UtcMillis) -> Result<MarkedLive, NotLive> {
        let LiveContent { expires, message } = self.live_unmeasured(localized, now)?;
        Ok(MarkedLive { expires, message: MarkedMessage::new(&message) })
    }

    /// The same for devices that come one by one.
    pub(super) fn kept_live_marked(&mut self, localized: Localized, now: UtcMillis) -> Option<Arc<MarkedLive>> {
        if let Some(marked) = self.kept_live.get(&localized) {
            return marked.clone();
        }
        let marked = self.live_marked(localized, now).ok().map(Arc::new);
        self.kept_live.insert(localized, marked.clone());
        marked
    }

    /// The message for the live connection of one of them.
    pub(super) fn live_for(
        &self,
        MarkedLive { expires, message }: &MarkedLive,
        values: &ValueMap,
        now: UtcMillis,
    ) -> Result<LiveContent, NotLive> {
        let texts = self.texts_for(message.text_numbers(), values, now).map_err(NotLive::Unrenderable)?;
        fitting(LiveContent { expires: *expires, message: message.filled(&texts) })
    }

    fn live_unmeasured(&self, localized: Localized, now: UtcMillis) -> Result<LiveContent, NotLive> {
        let expires = deadline(self.push, localized, &self.device_type, self.sent_at);
        let mut message = self.with(localized, now, |rendering| rendering.live_message(&self.device_type))?;
        if let Some(expires) = expires {
            message.insert("expires".to_owned(), expires.to_api().into());
        }
        Ok(LiveContent { expires, message: serde_json::Value::Object(message).to_string() })
    }

    fn with<T>(
        &self,
        localized: Localized,
        now: UtcMillis,
        render: impl FnOnce(&Rendering<'_>) -> Result<T, NotSendable>,
    ) -> Result<T, NotSendable> {
        let page_url = |page: &_| pages::url(self.public_url, self.app_key, self.shared_push.push_id, self.push, page);
        let rendering = Rendering {
            app_key: self.app_key,
            push_id: self.shared_push.push_id,
            group_id: self.shared_push.group_id,
            variant_id: self.shared_push.variant_id,
            sent_at: self.sent_at,
            now,
            expiry: self.push.options.as_ref().and_then(|options| options.expiry.as_ref()),
            content: self.push.content_of(localized),
            has_marks: self.texts.is_some(),
            campaigns: self.push.campaigns.as_ref(),
            page_url: &page_url,
        };
        render(&rendering)
    }
}
