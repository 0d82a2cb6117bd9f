//! Rendering for one platform: once per locale, however many devices there are.

use std::collections::HashMap;
use std::sync::Arc;

use model::app::AppKey;
use model::ids::PushId;
use model::payload::Push;
use model::platform::DeviceType;
use model::term::Reach;
use model::time::UtcMillis;
use providers::{NotSendable, RenderedPush, Rendering};
use store::channels::Recipient;
use store::pushes::PushRow;

use crate::{Engine, Error, Result, pages, reach};

/// What decides which localization a device gets.
pub(super) type Locale = (Option<String>, Option<String>);

pub(super) struct Renderer<'a> {
    app_key: &'a AppKey,
    push_id: PushId,
    sent_at: UtcMillis,
    push: &'a Push,
    device_type: DeviceType,
    public_url: &'a str,
    rendered: HashMap<Locale, Result<Arc<RenderedPush>, NotSendable>>,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        app_key: &'a AppKey,
        row: &PushRow,
        push: &'a Push,
        platform: &str,
    ) -> Result<Self> {
        let device_type = DeviceType::from_name(platform);
        Ok(Self {
            app_key,
            push_id: row.id,
            sent_at: row.created,
            push,
            device_type: device_type.ok_or_else(|| Error::internal(format!("platform {platform:?}")))?,
            public_url: engine.public_url(),
            rendered: HashMap::new(),
        })
    }

    pub(super) fn device_type(&self) -> &DeviceType {
        &self.device_type
    }

    pub(super) fn push_id(&self) -> PushId {
        self.push_id
    }

    /// Whether devices show or sound something.
    pub(super) fn is_alerting(&self) -> bool {
        reach::needed(self.push, &self.device_type) == Some(Reach::Alert)
    }

    /// Whether devices get a Message Center message, at least those of some locale.
    pub(super) fn has_message(&self) -> bool {
        let takes_messages = match &self.device_type {
            DeviceType::Ios | DeviceType::Android | DeviceType::Amazon | DeviceType::Web => true,
            DeviceType::Wns | DeviceType::Open(_) | DeviceType::Sms | DeviceType::Mms | DeviceType::Email => false,
        };
        let localized = self.push.localizations.iter().flatten().any(|one| one.message.is_some());
        takes_messages && (self.push.message.is_some() || localized)
    }

    /// Recipients who get the same content have the same locale; without localizations all do.
    pub(super) fn locale(&self, recipient: &Recipient) -> Locale {
        match &self.push.localizations {
            Some(_) => (recipient.language.clone(), recipient.country.clone()),
            None => (None, None),
        }
    }

    pub(super) fn rendered(&mut self, locale: &Locale, now: UtcMillis) -> Result<Arc<RenderedPush>, NotSendable> {
        if let Some(rendered) = self.rendered.get(locale) {
            return rendered.clone();
        }
        let page_url = |page: &_| pages::url(self.public_url, self.app_key, self.push_id, self.push, page);
        let rendering = Rendering {
            app_key: self.app_key,
            push_id: self.push_id,
            sent_at: self.sent_at,
            now,
            expiry: self.push.options.as_ref().and_then(|options| options.expiry.as_ref()),
            content: self.push.content_for(locale.0.as_deref(), locale.1.as_deref()),
            campaigns: self.push.campaigns.as_ref(),
            page_url: &page_url,
        };
        let rendered = RenderedPush::new(&rendering, &self.device_type).map(Arc::new);
        self.rendered.insert(locale.clone(), rendered.clone());
        rendered
    }
}
