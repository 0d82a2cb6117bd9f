//! When a schedule sends, in words.

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(crate) struct Schedule {
    scheduled_time: Option<String>,
    local_scheduled_time: Option<String>,
    best_time: Option<BestTime>,
    recurring: Option<Recurring>,
}

#[derive(Deserialize)]
struct BestTime {
    send_date: String,
}

#[derive(Deserialize)]
struct Recurring {
    cadence: Cadence,
    end_time: Option<String>,
    #[serde(default)]
    exclusions: Vec<Exclusion>,
    #[serde(default)]
    paused: bool,
}

#[derive(Deserialize)]
struct Cadence {
    r#type: String,
    #[serde(default)]
    count: Option<u64>,
    #[serde(default)]
    days_of_week: Vec<String>,
}

#[derive(Deserialize)]
struct Exclusion {
    hour_range: Option<Value>,
    date_range: Option<String>,
    #[serde(default)]
    days_of_week: Vec<String>,
}

/// The first time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start<'s> {
    /// In UTC.
    At(&'s str),
    Local(String),
    /// A day, whose hour is chosen.
    Best(&'s str),
}

impl Schedule {
    pub(crate) fn start(&self) -> Start<'_> {
        match (&self.scheduled_time, &self.local_scheduled_time, &self.best_time) {
            (Some(at), ..) => Start::At(at),
            (None, Some(at), _) => Start::Local(plain(at)),
            (None, None, Some(best)) => Start::Best(&best.send_date),
            (None, None, None) => Start::Local("a time that is not known here".to_owned()),
        }
    }

    pub(super) fn recurs(&self) -> bool {
        self.recurring.is_some()
    }

    pub(super) fn is_paused(&self) -> bool {
        self.recurring.as_ref().is_some_and(|recurring| recurring.paused)
    }

    pub(super) fn state(&self) -> &'static str {
        match (&self.recurring, self.is_paused()) {
            (None, _) => "once",
            (Some(_), true) => "paused",
            (Some(_), false) => "recurring",
        }
    }

    /// How often it is sent: `Every 2 weeks on Monday and Friday, until 2035-12-31 23:59`.
    pub(crate) fn rhythm(&self) -> Option<String> {
        let Recurring { cadence, end_time, .. } = self.recurring.as_ref()?;
        let unit = match cadence.r#type.as_str() {
            "hourly" => "hour",
            "daily" => "day",
            "weekly" => "week",
            "monthly" => "month",
            "yearly" => "year",
            other => other,
        };
        let mut words = match cadence.count.unwrap_or(1) {
            1 => format!("Every {unit}"),
            count => format!("Every {count} {unit}s"),
        };
        if !cadence.days_of_week.is_empty() {
            words.push_str(&format!(" on {}", days(&cadence.days_of_week)));
        }
        if let Some(end) = end_time {
            words.push_str(&format!(", until {}", plain(end)));
        }
        Some(words)
    }

    /// When it is not sent.
    pub(super) fn exceptions(&self) -> Vec<String> {
        let exclusions = self.recurring.iter().flat_map(|recurring| &recurring.exclusions);
        exclusions.map(Exclusion::words).collect()
    }
}

impl Exclusion {
    fn words(&self) -> String {
        let mut parts = Vec::new();
        if !self.days_of_week.is_empty() {
            parts.push(format!("on {}", days(&self.days_of_week)));
        }
        if let Some((from, to)) =
            self.hour_range.as_ref().and_then(Value::as_str).and_then(|range| range.split_once('-'))
        {
            parts.push(format!("from {from}:00 to {to}:59"));
        }
        if let Some((from, to)) = self.date_range.as_deref().and_then(|range| range.split_once('/')) {
            parts.push(format!("between {} and {}", plain(from), plain(to)));
        }
        format!("Not {}", parts.join(" "))
    }
}

/// `2035-01-01T09:00:00` as `2035-01-01 09:00`.
fn plain(time: &str) -> String {
    let time = time.replace('T', " ");
    time.strip_suffix(":00").unwrap_or(&time).to_owned()
}

/// `Monday, Tuesday and Friday`.
fn days(names: &[String]) -> String {
    let capital = |name: &String| {
        let mut letters = name.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect::<String>())
    };
    let names: Vec<String> = names.iter().map(capital).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_told_in_words() {
        let read = |value: Value| serde_json::from_str::<Schedule>(&value.to_string()).unwrap();
        let once = read(json!({"scheduled_time": "2035-01-01T00:00:00"}));
        assert_eq!((once.start(), once.rhythm(), once.state()), (Start::At("2035-01-01T00:00:00"), None, "once"));
        let best = read(json!({"best_time": {"send_date": "2030-01-31"}}));
        assert_eq!(best.start(), Start::Best("2030-01-31"));
        let recurring = read(json!({"local_scheduled_time": "2035-01-01T09:00:00", "recurring": {
            "cadence": {"type": "weekly", "count": 2, "days_of_week": ["monday", "tuesday", "friday"]},
            "end_time": "2035-12-31T23:59:59", "paused": true,
            "exclusions": [{"days_of_week": ["sunday"], "hour_range": "22-5"},
                {"date_range": "2035-08-01T00:00:00/2035-08-31T23:59:59"}]}}));
        assert_eq!(recurring.start(), Start::Local("2035-01-01 09:00".to_owned()));
        assert_eq!(
            recurring.rhythm().as_deref(),
            Some("Every 2 weeks on Monday, Tuesday and Friday, until 2035-12-31 23:59:59")
        );
        assert_eq!(
            recurring.exceptions(),
            ["Not on Sunday from 22:00 to 5:59", "Not between 2035-08-01 00:00 and 2035-08-31 23:59:59"]
        );
        assert_eq!(recurring.state(), "paused");
    }
}
