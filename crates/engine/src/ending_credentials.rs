//! Says in the log that the credentials of a platform end: 30, 7 and 1 days before, and when they have ended.

use std::collections::HashMap;

use base::Result;
use model::app::AppKey;
use model::time::UtcMillis;
use parking_lot::Mutex;
use sending::{PlatformFact, PlatformNotice};

use crate::Rooms;

const DAYS: [i64; 4] = [0, 1, 7, 30];
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The warnings of this process so far, by app and platform. After a restart, and on another node, they are repeated.
#[derive(Default)]
pub(crate) struct Told(Mutex<HashMap<(AppKey, String), i64>>);

impl Told {
    /// The days for which a warning is due, unless it was given. Credentials with another end are warned of anew.
    fn due(&self, app: AppKey, platform: String, ends: UtcMillis, now: UtcMillis) -> Option<i64> {
        let due = DAYS.into_iter().find(|days| ends.0 - now.0 <= days * DAY_MS);
        let mut told = self.0.lock();
        match due {
            None => {
                told.remove(&(app, platform));
                None
            }
            Some(days) => (told.insert((app, platform), days) != Some(days)).then_some(days),
        }
    }
}

impl Rooms {
    pub(crate) async fn tell_ending_credentials(&self) -> Result<()> {
        let now = self.clock.now();
        for PlatformNotice { app, platform, fact } in self.sending.credential_notices().await? {
            let PlatformFact::Expires(ends) = fact else { continue };
            let platform = platform.to_string();
            if let Some(days) = self.told_ends.due(app.clone(), platform.clone(), ends, now) {
                let (app, ends) = (app.as_str(), ends.to_api());
                let text = "credentials of a platform end; upload new ones with `aerogram platform set`";
                tracing::warn!(event = "credentials.end", app, platform, ends, days, "{text}");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warning_is_given_once() {
        let (told, key) = (Told::default(), AppKey::new("aaaaaaaaaaaaaaaaaaaaaa").unwrap());
        let ends = UtcMillis(100 * DAY_MS);
        let due = |day: i64, ends: UtcMillis| told.due(key.clone(), "apns".to_owned(), ends, UtcMillis(day * DAY_MS));
        let days: Vec<Option<i64>> = [60, 70, 71, 92, 93, 94, 99, 99, 101].map(|day| due(day, ends)).to_vec();
        assert_eq!(days, [None, Some(30), None, None, Some(7), None, Some(1), None, Some(0)]);
        assert_eq!(due(101, UtcMillis(400 * DAY_MS)), None, "new ones");
        assert_eq!(due(370, UtcMillis(400 * DAY_MS)), Some(30));
    }
}
