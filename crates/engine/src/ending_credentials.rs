//! Says in the log that the credentials of a platform or the certificate of the server end: 30, 7 and 1 days before, and when they
//! have ended.

use std::collections::HashMap;
use std::hash::Hash;

use base::Result;
use model::app::AppKey;
use model::time::UtcMillis;
use parking_lot::Mutex;
use sending::{PlatformFact, PlatformNotice};

use crate::{Engine, Rooms};

const DAYS: [i64; 4] = [0, 1, 7, 30];
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The warnings of this process so far, by what ends. After a restart, and on another node, they are repeated.
pub(crate) struct Told<Thing>(Mutex<HashMap<Thing, i64>>);

/// Platforms of apps.
pub(crate) type ToldPlatforms = Told<(AppKey, String)>;
/// The one certificate of the server.
pub(crate) type ToldCertificate = Told<()>;

impl<Thing> Default for Told<Thing> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Thing: Eq + Hash> Told<Thing> {
    /// The days for which a warning is due, unless it was given. What has another end is warned of anew.
    fn due(&self, thing: Thing, ends: UtcMillis, now: UtcMillis) -> Option<i64> {
        let due = DAYS.into_iter().find(|days| ends.0 - now.0 <= days * DAY_MS);
        let mut told = self.0.lock();
        match due {
            None => {
                told.remove(&thing);
                None
            }
            Some(days) => (told.insert(thing, days) != Some(days)).then_some(days),
        }
    }
}

impl Rooms {
    pub(crate) async fn tell_ending_credentials(&self) -> Result<()> {
        let now = self.clock.now();
        for PlatformNotice { app, platform, fact } in self.sending.credential_notices().await? {
            let PlatformFact::Expires(ends) = fact else { continue };
            let platform = platform.to_string();
            if let Some(days) = self.told_ends.due((app.clone(), platform.clone()), ends, now) {
                let (app, ends) = (app.as_str(), ends.to_api());
                let text = "credentials of a platform end; upload new ones with `aerogram platform set`";
                tracing::warn!(event = "credentials.end", app, platform, ends, days, "{text}");
            }
        }
        Ok(())
    }
}

impl Engine {
    /// Tells in the metrics when the certificate ends that the server shows to callers, and in the log if that is soon. Each node
    /// has its own.
    pub fn tell_own_certificate(&self, ends: UtcMillis) {
        self.rooms.exposition.show_own_certificate(ends);
        if let Some(days) = self.rooms.told_certificate.due((), ends, self.rooms.clock.now()) {
            let text = "the certificate of this server ends; put a new one into the files of AEROGRAM_TLS_CERT and AEROGRAM_TLS_KEY";
            tracing::warn!(event = "tls.end", ends = ends.to_api(), days, "{text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warning_is_given_once() {
        let (told, key) = (ToldPlatforms::default(), AppKey::new("aaaaaaaaaaaaaaaaaaaaaa").unwrap());
        let ends = UtcMillis(100 * DAY_MS);
        let due = |day: i64, ends: UtcMillis| told.due((key.clone(), "apns".to_owned()), ends, UtcMillis(day * DAY_MS));
        let days: Vec<Option<i64>> = [60, 70, 71, 92, 93, 94, 99, 99, 101].map(|day| due(day, ends)).to_vec();
        assert_eq!(days, [None, Some(30), None, None, Some(7), None, Some(1), None, Some(0)]);
        assert_eq!(due(101, UtcMillis(400 * DAY_MS)), None, "new ones");
        assert_eq!(due(370, UtcMillis(400 * DAY_MS)), Some(30));
    }
}
