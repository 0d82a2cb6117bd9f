//! Uploads of events by devices. They drop an upload that is answered with 4xx and send it again after 429 or 5xx, so all JSON is
//! accepted: an event that cannot be used affects only itself.

use axum::extract::State;
use events::Upload;
use http::{HeaderMap, HeaderName};
use model::channel::UsageUpdate;
use model::device_event::DeviceEvents;
use model::time::UtcMillis;
use tenancy::Rights;

use crate::answer::{Answer, Done};
use crate::auth::{CHANNEL_ID, CallingApp, CallingRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;

/// How much a device may keep until it sends it, in kilobytes; how much it may send at once, in kilobytes; and how many seconds it
/// waits from one upload to the next. Without these, some devices keep and send very little.
const TUNING: [(HeaderName, &str); 3] = [
    (HeaderName::from_static("x-ua-max-total"), "5120"),
    (HeaderName::from_static("x-ua-max-batch"), "500"),
    (HeaderName::from_static("x-ua-min-batch-interval"), "60"),
];

const TOO_OFTEN: &str = "This channel uploads too often; keep events and send them together.";

pub(super) async fn upload(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    CallingRights(rights): CallingRights,
    headers: HeaderMap,
    input: Input,
) -> Result<Answer> {
    let header = |name: &'static str| headers.get(name).and_then(|value| value.to_str().ok());
    let channel = match rights {
        // A token speaks for its channel, even if the header names another.
        Rights::Channel(channel) => Some(channel),
        Rights::Master | Rights::Device | Rights::Contact(_) | Rights::KeyOnly => {
            header(CHANNEL_ID).and_then(|id| id.trim().parse().ok())
        }
    };
    if let Some(channel) = channel {
        let too_often = |retry_after| Error::TooMany { text: TOO_OFTEN, retry_after };
        edge.engine.events().admit_upload(app.id, channel).map_err(too_often)?;
    }
    let events = input.read(DeviceEvents::read).await??;
    if rights != Rights::Master {
        edge.engine.events().admit_events(app.id, events.events.len() + events.n_unreadable)?;
    }
    let upload = Upload {
        channel,
        sent_at: header("x-ua-sent-at").and_then(seconds),
        usage: UsageUpdate::from_headers(rights.proof(), header),
        events,
    };
    edge.engine.events().take_events(app.id, upload).await?;
    Ok(TUNING.into_iter().fold(Answer::ok(Done {})?, |answer, (name, value)| answer.header(name, value)))
}

/// Seconds since 1970 with a fraction.
#[expect(clippy::cast_possible_truncation, reason = "what does not fit is filtered out before")]
fn seconds(text: &str) -> Option<UtcMillis> {
    const MOST: f64 = 1e15;
    let millis = text.trim().parse::<f64>().ok()? * 1000.0;
    (-MOST..=MOST).contains(&millis).then_some(UtcMillis(millis as i64))
}
