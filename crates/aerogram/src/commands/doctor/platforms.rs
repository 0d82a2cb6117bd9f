//! The doctor's checks of platforms: pauses, failures, unreadable credentials, and certificates that expire soon.

use std::time::Duration;

use anyhow::Result;
use model::time::UtcMillis;
use serde::Deserialize;

use super::Finding;
use crate::client::Client;

/// Long enough to have a certificate renewed.
const NOTICE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

#[derive(Deserialize)]
struct Notices {
    notices: Vec<Notice>,
}

#[derive(Deserialize)]
struct Notice {
    app: String,
    platform: String,
    #[serde(flatten)]
    fact: Fact,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Fact {
    Expires { at: String },
    Paused { by: PausedBy, reason: String, since: String },
    Waiting { reason: String, since: String },
    Unreadable,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PausedBy {
    Provider,
    Operator,
}

pub(super) async fn findings(client: &Client, now: UtcMillis) -> Result<Vec<Finding>> {
    let Notices { notices } = client.get("/operator/platforms/notices").await?.read()?;
    let found: Vec<Finding> = notices.iter().filter_map(|notice| notice.finding(now)).collect();
    match found.is_empty() {
        true => Ok(vec![Finding::Fine("No platform is paused or waits, and no certificate runs out soon.".to_owned())]),
        false => Ok(found),
    }
}

impl Notice {
    /// `None` for expiries far in the future.
    fn finding(&self, now: UtcMillis) -> Option<Finding> {
        let Self { app, platform, fact } = self;
        match fact {
            Fact::Paused { by: PausedBy::Provider, reason, since } => {
                Some(Finding::Wrong(format!("{platform} of {app} is paused since {since}: {reason}")))
            }
            Fact::Paused { by: PausedBy::Operator, reason, since } => Some(Finding::Soon(format!(
                "{platform} of {app} is paused since {since}, by `aerogram platform pause`: {reason}"
            ))),
            Fact::Waiting { reason, since } => Some(Finding::Wrong(format!(
                "{platform} of {app} has taken nothing since {since}; what is for it is tried again: {reason}"
            ))),
            Fact::Unreadable => Some(Finding::Wrong(format!(
                "The credentials for {platform} of {app} were encrypted with another key; restore it, or set them again."
            ))),
            Fact::Expires { at } => match UtcMillis::parse_api(at)? {
                expires if expires <= now => {
                    Some(Finding::Wrong(format!("The certificate for {platform} of {app} expired at {at}.")))
                }
                expires if expires <= now.plus(NOTICE) => {
                    Some(Finding::Soon(format!("The certificate for {platform} of {app} expires at {at}; renew it.")))
                }
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_mentioned_a_month_before_they_run_out() {
        let notice: Notice =
            serde_json::from_str(r#"{"app":"A","platform":"apns","type":"expires","at":"2024-06-01T00:00:00"}"#)
                .unwrap();
        let on = |day: &str| notice.finding(UtcMillis::parse_api(&format!("{day}T00:00:00")).unwrap());
        assert!(on("2024-05-01").is_none());
        assert!(matches!(on("2024-05-02"), Some(Finding::Soon(_))));
        assert!(matches!(on("2024-05-31"), Some(Finding::Soon(_))));
        assert!(matches!(on("2024-06-01"), Some(Finding::Wrong(_))));
    }

    #[test]
    fn what_does_not_send_is_wrong_unless_the_operator_wants_it() {
        let paused = |by: &str| format!(r#""type":"paused","by":"{by}","reason":"No.","since":"2024-05-01T00:00:00""#);
        let waiting = r#""type":"waiting","reason":"No.","since":"2024-05-01T00:00:00""#.to_owned();
        let read = |fact: &str| -> Notice {
            serde_json::from_str(&format!(r#"{{"app":"A","platform":"fcm",{fact}}}"#)).unwrap()
        };
        assert!(matches!(read(&paused("operator")).finding(UtcMillis(0)), Some(Finding::Soon(_))));
        for fact in [paused("provider"), waiting, r#""type":"unreadable""#.to_owned()] {
            assert!(
                matches!(read(&fact).finding(UtcMillis(0)), Some(Finding::Wrong(text)) if text.contains("fcm of A"))
            );
        }
    }
}
