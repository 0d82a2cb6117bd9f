//! Metrics of those who read the logs of apps: followers, which all nodes share, and the audience indexes of this node.

use std::collections::HashMap;

use model::app::AppKey;
use model::ids::AppId;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use store::followers::Lag;

/// How many series each metric has at most, whatever the number of apps: those that are furthest behind.
pub(super) const MOST_SHOWN: u32 = 100;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FollowerLabels {
    app: String,
    /// The kind of the follower's job, as in the metric of jobs.
    reader: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct IndexLabels {
    app: String,
}

#[derive(Default)]
pub(super) struct ReaderGauges {
    followers: Family<FollowerLabels, Gauge>,
    indexes: Family<IndexLabels, Gauge>,
}

impl ReaderGauges {
    pub(super) fn register(&self, registry: &mut Registry) {
        let text =
            "Log records that a reader of the log of an app has not got past, of the readers that are furthest behind";
        registry.register("log_records_behind", text, self.followers.clone());
        let text = "Log records that the audience index of an app in the memory of this process has not applied, of the indexes \
                    that are furthest behind";
        registry.register("audience_index_log_records_behind", text, self.indexes.clone());
    }

    /// Shows nothing until the next look.
    pub(super) fn forget(&self) {
        self.followers.clear();
        self.indexes.clear();
    }

    /// Replaces all series. An app without a key was deleted this moment.
    pub(super) fn set(&self, keys: &HashMap<AppId, AppKey>, followers: Vec<Lag>, indexes: Vec<(AppId, i64)>) {
        self.forget();
        let key = |app: &AppId| Some(keys.get(app)?.as_str().to_owned());
        for Lag { app, kind: reader, n_records } in furthest(followers, |lag| lag.n_records) {
            if let Some(app) = key(&app) {
                let gauge = self.followers.get_or_create(&FollowerLabels { app, reader });
                // An app may have several of a kind, such as webhooks.
                gauge.set(gauge.get().max(n_records));
            }
        }
        for (app, n_records) in furthest(indexes, |(_, n_records)| *n_records) {
            if let Some(app) = key(&app) {
                self.indexes.get_or_create(&IndexLabels { app }).set(n_records);
            }
        }
    }
}

fn furthest<T>(mut readers: Vec<T>, n_records: impl Fn(&T) -> i64) -> Vec<T> {
    readers.sort_by_key(|reader| std::cmp::Reverse(n_records(reader)));
    readers.truncate(MOST_SHOWN as usize);
    readers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_apps_have_a_hundred_series() {
        let (gauges, ids) = (ReaderGauges::default(), (1..=1000).map(AppId));
        let key = |id: AppId| AppKey::new(&format!("app-{:018}", id.0)).unwrap();
        let keys: HashMap<_, _> = ids.clone().map(|id| (id, key(id))).collect();
        let lag = |app: AppId| Lag { app, kind: "forward_events".to_owned(), n_records: app.0 };
        // Two of a kind, of which the one that is further behind counts; and one of an app that is gone.
        let more = [Lag { n_records: 950, ..lag(AppId(1000)) }, Lag { n_records: 5000, ..lag(AppId(1001)) }];
        let followers = ids.clone().map(lag).chain(more).collect();
        gauges.set(&keys, followers, ids.map(|app| (app, app.0)).collect());
        let mut registry = Registry::default();
        gauges.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode_registry(&mut text, &registry).unwrap();
        let of = |name: &str| text.lines().filter(|line| line.starts_with(&format!("{name}{{"))).count();
        assert_eq!((of("log_records_behind"), of("audience_index_log_records_behind")), (98, 100));
        let key = |n: i64| keys[&AppId(n)].as_str();
        let first = format!(r#"log_records_behind{{app="{}",reader="forward_events"}} 1000"#, key(1000));
        assert!(text.lines().any(|line| line == first), "{text}");
        assert!(!text.contains(key(900)) && text.contains(key(901)), "{text}");
    }
}
