//! What somebody has filled in, as a push of the API.

use model::time::UtcMillis;
use serde_json::{Map, Value, json};

use super::conditions::Conditions;
use crate::error::{Error, Result};
use crate::form::Fields;

/// The choices of when nothing is sent any more, in seconds.
pub(crate) const EXPIRY: [(&str, &str); 5] =
    [("", "28 days"), ("3600", "an hour"), ("14400", "4 hours"), ("86400", "a day"), ("604800", "a week")];

/// Platforms whose notifications have a title of their own.
const TITLED: [&str; 4] = ["ios", "android", "amazon", "web"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Now,
    At,
    /// At the same time of day everywhere.
    Local,
}

pub(crate) struct Draft {
    pub(crate) conditions: Conditions,
    pub(crate) title: Option<String>,
    pub(crate) text: Option<String>,
    url: Option<String>,
    name: Option<String>,
    pub(crate) when: When,
    at: Option<String>,
    expires: Option<u64>,
}

impl When {
    pub(crate) fn word(self) -> &'static str {
        match self {
            When::Now => "now",
            When::At => "at",
            When::Local => "local",
        }
    }
}

impl Draft {
    pub(crate) fn read(fields: &Fields) -> Self {
        let text = |name: &str| fields.text(name).map(str::to_owned);
        let when = match fields.text("when") {
            Some("at") => When::At,
            Some("local") => When::Local,
            _ => When::Now,
        };
        Self {
            conditions: Conditions::read(fields),
            title: text("title"),
            text: text("text"),
            url: text("url"),
            name: text("name"),
            when,
            at: text("at"),
            expires: fields.text("expires").and_then(|seconds| seconds.parse().ok()),
        }
    }

    pub(crate) fn audience(&self) -> Result<Value> {
        let wrong = |n: usize| {
            let words = format!("Condition {} is not complete: fill it in, or remove it.", n + 1);
            if self.conditions.rows.is_empty() {
                return Error::invalid("who", "Add a condition, or choose everybody.");
            }
            Error::invalid("who", &words)
        };
        self.conditions.audience().map_err(wrong)
    }

    /// The push, as `POST /api/push` takes it.
    pub(crate) fn push(&self) -> Result<Value> {
        let text = self.text.as_deref().ok_or_else(|| Error::invalid("text", "Write the text of the message."))?;
        let mut notification = Map::from_iter([("alert".to_owned(), json!(text))]);
        if let Some(title) = &self.title {
            notification.extend(TITLED.map(|platform| (platform.to_owned(), json!({"title": title}))));
        }
        if let Some(url) = &self.url {
            notification.insert("actions".to_owned(), json!({"open": {"type": "url", "content": url}}));
        }
        let mut push = json!({"audience": self.audience()?, "device_types": "all", "notification": notification});
        if let Some(name) = &self.name {
            push["name"] = json!(name);
        }
        if let Some(seconds) = self.expires {
            push["options"] = json!({"expiry": seconds});
        }
        Ok(push)
    }

    /// The call that sends or schedules it.
    pub(crate) fn call(&self) -> Result<(&'static str, Value)> {
        let key = match self.when {
            When::Now => return Ok(("/api/push", self.push()?)),
            When::At => "scheduled_time",
            When::Local => "local_scheduled_time",
        };
        let mut schedule = json!({"schedule": {key: self.time()?.to_api()}, "push": self.push()?});
        if let Some(name) = &self.name {
            schedule["name"] = json!(name);
        }
        Ok(("/api/schedules", schedule))
    }

    pub(crate) fn time(&self) -> Result<UtcMillis> {
        let at = self.at.as_deref().and_then(UtcMillis::parse_api);
        at.ok_or_else(|| Error::invalid("at", "Choose the time at which it is to be sent."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_becomes_a_push() {
        let fields = Fields::parse(
            "who=some&kind0=tag&value0=news&title=Hi&text=There&url=https%3A%2F%2Fa.example&expires=3600",
        );
        let expected = json!({
            "audience": {"tag": "news"}, "device_types": "all", "options": {"expiry": 3600},
            "notification": {"alert": "There", "actions": {"open": {"type": "url", "content": "https://a.example"}},
                             "ios": {"title": "Hi"}, "android": {"title": "Hi"}, "amazon": {"title": "Hi"}, "web": {"title": "Hi"}},
        });
        assert_eq!(Draft::read(&fields).call().unwrap(), ("/api/push", expected));
        let later = Draft::read(&Fields::parse("who=all&text=x&name=n&when=local&at=2030-01-31T12:00"));
        let (path, schedule) = later.call().unwrap();
        assert_eq!(
            (path, &schedule["schedule"]),
            ("/api/schedules", &json!({"local_scheduled_time": "2030-01-31T12:00:00"}))
        );
        assert!(Draft::read(&Fields::parse("who=all&when=at&text=x")).call().is_err());
        assert!(Draft::read(&Fields::parse("who=all")).call().is_err());
    }
}
