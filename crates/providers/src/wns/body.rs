//! The request to Windows for one device: a toast, a tile or a badge in XML, or raw text; the same for all of them.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use model::payload::wns::{
    Binding, CachePolicy, Glyph, Tile, Toast, ToastAudio, ToastDuration, ToastSound, WnsBadge, WnsContent, WnsOverride,
};

use super::xml::element;
use crate::form::Form;
use crate::recipient::Recipient;
use crate::rendering::Rendering;
use crate::request::PreparedRequest;

const TYPE: HeaderName = HeaderName::from_static("x-wns-type");
const TTL: HeaderName = HeaderName::from_static("x-wns-ttl");
const CACHE_POLICY: HeaderName = HeaderName::from_static("x-wns-cache-policy");

/// One push for Windows, ready to be addressed to devices.
#[derive(Clone, Debug)]
pub struct WnsPush {
    body: Form,
    /// The body, if it is the same for every device.
    same_body: Option<Bytes>,
    headers: HeaderMap,
}

impl WnsPush {
    pub(crate) fn new(rendering: &Rendering<'_>, wns: &WnsOverride) -> Self {
        let mut body = String::new();
        let kind = match &wns.content {
            WnsContent::Alert(alert) => {
                write_alert(&mut body, alert);
                "wns/toast"
            }
            WnsContent::Toast(toast) => {
                write_toast(&mut body, toast);
                "wns/toast"
            }
            WnsContent::Tile(tile) => {
                write_tile(&mut body, tile);
                "wns/tile"
            }
            WnsContent::Badge(badge) => {
                element(&mut body, "badge").attribute("value", Some(badge_value(*badge))).empty();
                "wns/badge"
            }
            WnsContent::Raw(text) => {
                body.push_str(text);
                "wns/raw"
            }
        };
        let body = Form::default().text(&body).with_marks(rendering.has_marks);
        let same_body = body.without_holes().map(Bytes::copy_from_slice);
        Self { body, same_body, headers: headers(rendering, wns, kind) }
    }

    /// A device's address is the URL of its notification channel.
    pub fn request(&self, recipient: &Recipient<'_>) -> PreparedRequest {
        PreparedRequest::with_headers(recipient.address.to_owned(), &self.headers, self.body.fill(recipient))
    }

    pub(crate) fn form(&self) -> &Form {
        &self.body
    }

    pub(super) fn body_for(&self, recipient: &Recipient<'_>) -> Bytes {
        self.same_body.clone().unwrap_or_else(|| self.body.fill(recipient).into())
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

fn headers(rendering: &Rendering<'_>, wns: &WnsOverride, kind: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let content_type = match &wns.content {
        WnsContent::Raw(_) => "application/octet-stream",
        WnsContent::Alert(_) | WnsContent::Toast(_) | WnsContent::Tile(_) | WnsContent::Badge(_) => "text/xml",
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(TYPE, HeaderValue::from_static(kind));
    if let Some(seconds) = rendering.lifetime(None) {
        headers.insert(TTL, HeaderValue::from(seconds));
    }
    if let Some(policy) = wns.cache_policy {
        let policy = match policy {
            CachePolicy::Cache => "cache",
            CachePolicy::NoCache => "no-cache",
        };
        headers.insert(CACHE_POLICY, HeaderValue::from_static(policy));
    }
    headers
}

/// The simplest toast: one text over three lines.
fn write_alert(out: &mut String, alert: &str) {
    element(out, "toast").children(|out| {
        element(out, "visual").children(|out| {
            element(out, "binding").attribute("template", Some("ToastText01")).children(|out| {
                element(out, "text").attribute("id", Some(1)).text(alert);
            });
        });
    });
}

fn write_toast(out: &mut String, toast: &Toast) {
    let duration = toast.duration.map(|duration| match duration {
        ToastDuration::Long => "long",
        ToastDuration::Short => "short",
    });
    element(out, "toast").attribute("duration", duration).children(|out| {
        write_visual(out, std::slice::from_ref(&toast.binding));
        if let Some(audio) = &toast.audio {
            write_audio(out, audio);
        }
    });
}

fn write_tile(out: &mut String, tile: &Tile) {
    element(out, "tile").children(|out| write_visual(out, tile.binding.as_slice()));
}

/// The version belongs to the whole; the first binding that names one decides.
fn write_visual(out: &mut String, bindings: &[Binding]) {
    let version = bindings.iter().find_map(|binding| binding.version);
    element(out, "visual").attribute("version", version).children(|out| {
        for binding in bindings {
            write_binding(out, binding);
        }
    });
}

fn write_binding(out: &mut String, binding: &Binding) {
    let texts = binding.text.as_ref().map_or(&[][..], |texts| texts.as_slice());
    let images = binding.image.as_ref().map_or(&[][..], |images| images.as_slice());
    element(out, "binding")
        .attribute("template", Some(&binding.template))
        .attribute("fallback", binding.fallback.as_ref())
        .attribute("lang", binding.lang.as_ref())
        .attribute("baseUri", binding.base_uri.as_ref())
        .attribute("addImageQuery", binding.add_image_query)
        .children(|out| {
            for (id, source) in (1..).zip(images) {
                element(out, "image").attribute("id", Some(id)).attribute("src", Some(source)).empty();
            }
            for (id, text) in (1..).zip(texts) {
                element(out, "text").attribute("id", Some(id)).text(text);
            }
        });
}

fn write_audio(out: &mut String, audio: &ToastAudio) {
    let source = match audio.sound {
        ToastSound::Mute => None,
        ToastSound::Default => Some("Default"),
        ToastSound::Im => Some("IM"),
        ToastSound::Mail => Some("Mail"),
        ToastSound::Reminder => Some("Reminder"),
        ToastSound::Sms => Some("SMS"),
        ToastSound::LoopingAlarm => Some("Looping.Alarm"),
        ToastSound::LoopingAlarm2 => Some("Looping.Alarm2"),
        ToastSound::LoopingCall => Some("Looping.Call"),
        ToastSound::LoopingCall2 => Some("Looping.Call2"),
    };
    element(out, "audio")
        .attribute("src", source.map(|name| format!("ms-winsoundevent:Notification.{name}")))
        .attribute("loop", audio.repeats)
        .attribute("silent", source.is_none().then_some(true))
        .empty();
}

fn badge_value(badge: WnsBadge) -> String {
    let glyph = match badge {
        WnsBadge::Value(value) => return value.to_string(),
        WnsBadge::Glyph(glyph) => glyph,
    };
    let name = match glyph {
        Glyph::None => "none",
        Glyph::Activity => "activity",
        Glyph::Alarm => "alarm",
        Glyph::Alert => "alert",
        Glyph::Attention => "attention",
        Glyph::Available => "available",
        Glyph::Away => "away",
        Glyph::Busy => "busy",
        Glyph::Error => "error",
        Glyph::NewMessage => "newMessage",
        Glyph::Paused => "paused",
        Glyph::Playing => "playing",
        Glyph::Unavailable => "unavailable",
    };
    name.to_owned()
}
