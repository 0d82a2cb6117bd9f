//! Records of the log that cannot be read. Readers that follow the log pass them over: trying again would not help, and one record
//! would keep all after it from being read.

use std::collections::HashMap;

use model::event::RecordKind;
use model::ids::{AppId, Offset};
use parking_lot::Mutex;
use serde_json::error::Category;

/// A record that was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadableRecord {
    offset: Offset,
    kind: RecordKind,
    /// Without the words of the parser, which quotes what it stumbles over: that may be personal.
    cause: &'static str,
}

impl UnreadableRecord {
    /// One that is not in the form that records of its kind have.
    pub const fn of_form(offset: Offset, kind: RecordKind) -> Self {
        Self { offset, kind, cause: "form" }
    }

    /// One whose JSON cannot be read.
    pub fn of_json(offset: Offset, kind: RecordKind, error: &serde_json::Error) -> Self {
        let cause = match error.classify() {
            Category::Syntax => "syntax",
            Category::Eof => "cut_off",
            Category::Data | Category::Io => "form",
        };
        Self { offset, kind, cause }
    }

    /// Says so in the log. To be called once the reader, of this name, is past it: what is read again is not said again.
    pub fn report(&self, app: &str, reader: &'static str) {
        let Self { offset, kind, cause } = *self;
        let position = offset.0;
        tracing::error!(
            event = "record.unreadable",
            app,
            reader,
            position,
            ?kind,
            cause,
            "a record of the log cannot be read and is passed over"
        );
    }
}

/// How far records that were passed over are told of, for readers that keep no position: they read some of the log again.
#[derive(Default)]
pub struct PassedOver(Mutex<HashMap<AppId, Offset>>);

impl PassedOver {
    /// Those of the records that are yet to be told of.
    pub fn news(&self, app: AppId, mut records: Vec<UnreadableRecord>) -> Vec<UnreadableRecord> {
        let Some(newest) = records.iter().map(|record| record.offset).max() else { return records };
        let mut told = self.0.lock();
        let told = told.entry(app).or_default();
        records.retain(|record| record.offset > *told);
        *told = newest.max(*told);
        records
    }

    /// For a log that is another one from now on, as after a restore.
    pub fn forget(&self, app: AppId) {
        self.0.lock().remove(&app);
    }
}

#[cfg(test)]
mod tests {
    use model::event::Event;
    use serde::de::IgnoredAny;

    use super::*;

    #[test]
    fn the_cause_quotes_nothing() {
        let cause = |body: &str| {
            let error = serde_json::from_str::<Event<IgnoredAny>>(body).unwrap_err();
            UnreadableRecord::of_json(Offset(1), RecordKind::Open, &error).cause
        };
        assert_eq!(["{", "open", r#"{"occurred":"kim@example.com"}"#].map(cause), ["cut_off", "syntax", "form"]);
    }

    #[test]
    fn what_is_read_again_is_no_news() {
        let (passed_over, app) = (PassedOver::default(), AppId(1));
        let records = |offsets: &[i64]| -> Vec<UnreadableRecord> {
            offsets.iter().map(|offset| UnreadableRecord::of_form(Offset(*offset), RecordKind::Terms)).collect()
        };
        assert_eq!(passed_over.news(app, records(&[4, 3])), records(&[4, 3]));
        assert_eq!(passed_over.news(app, records(&[3])), []);
        assert_eq!(passed_over.news(app, records(&[3, 4, 5])), records(&[5]));
        assert_eq!(passed_over.news(AppId(2), records(&[3])), records(&[3]));
        passed_over.forget(app);
        assert_eq!(passed_over.news(app, records(&[3])), records(&[3]));
    }
}
