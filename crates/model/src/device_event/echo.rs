//! The data of received pushes that devices send back, by which events are attributed.

use serde::Deserialize;
use uuid::Uuid;

use super::loose::Loose;
use crate::lenient_base64;

/// Which pushes an event names. Whether they exist is not known here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// The push whose notification was tapped before.
    pub tapped: Option<PushEcho>,
    /// The last push that the device received.
    pub received: Option<PushEcho>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushEcho {
    /// The id of a push, or of its delivery to this channel.
    pub id: Uuid,
    pub variant_id: Option<u32>,
}

/// The metadata that pushes carry to be sent back. Devices do not look into it.
#[derive(Deserialize)]
struct Metadata {
    push_id: Uuid,
    #[serde(default)]
    variant_id: Option<u32>,
}

impl Echo {
    /// The keys of metadata and send id differ between types of events.
    pub(super) fn read(data: &Loose<'_>, metadata: &str, send_id: &str) -> Self {
        let received = ["last_metadata", "last_received_metadata"].into_iter().find_map(|key| data.text(key));
        Self {
            tapped: data.text(metadata).and_then(|text| PushEcho::from_metadata(&text)).or_else(|| {
                let id = data.text(send_id)?.trim().parse().ok()?;
                Some(PushEcho { id, variant_id: None })
            }),
            received: received.and_then(|text| PushEcho::from_metadata(&text)),
        }
    }
}

impl PushEcho {
    fn from_metadata(text: &str) -> Option<Self> {
        let metadata: Metadata = serde_json::from_slice(&lenient_base64::decode(text.trim())?).ok()?;
        Some(Self { id: metadata.push_id, variant_id: metadata.variant_id })
    }
}
