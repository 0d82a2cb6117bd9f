//! Reports: the API's view of counts over time, of pushes and of devices.

pub(super) mod activity;
pub(super) mod buckets;
pub(super) mod details;
pub(super) mod devices;
pub(super) mod events;
pub(super) mod lines;
pub(super) mod mappings;
pub(super) mod responses;
pub(super) mod retention;
pub(super) mod series;
pub(super) mod statistics;

pub(super) use activity::activity;
pub(super) use buckets::{count_of, devices_of, responses, time_in_app, web_interaction};
pub(super) use details::{group_detail, push_body, push_detail, push_details};
pub(super) use devices::{active_users, devices};
pub(super) use events::{events, events_of_group, events_of_push};
pub(super) use lines::lines;
pub(super) use mappings::{push_of_message, push_of_send};
pub(super) use responses::{list, of_push};
pub(super) use retention::retention;
pub(super) use series::{group_series, push_series};
pub(super) use statistics::push_stats;

use std::collections::{BTreeMap, BTreeSet};

use ::events::Counts;
use model::ids::PushId;
use model::report::{Period, Precision};
use model::time::UtcMillis;
use providers::percent_encoded;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::links::Links;
use crate::query::Params;

/// Buckets on one page, where there are pages; and the most there may be where there are none.
const MOST_BUCKETS: usize = 1000;

/// The platforms that every report has a figure for.
const ALWAYS: [&str; 2] = ["android", "ios"];

/// Figures by platform: the fixed ones, and others on which something was counted.
type ByPlatform<T> = BTreeMap<&'static str, T>;

/// Rows under the name of the report.
struct Report<T> {
    name: &'static str,
    rows: Vec<T>,
    next_page: Option<String>,
}

impl<T: Serialize> Serialize for Report<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.name, &self.rows)?;
        if let Some(next_page) = &self.next_page {
            map.serialize_entry("next_page", next_page)?;
        }
        map.end()
    }
}

fn by_platform<T>(counts: &Counts, figure: impl Fn(&'static str) -> T) -> ByPlatform<T> {
    figures(counts.families(), figure)
}

/// As [`by_platform`], without open platforms, which are listed separately.
fn by_device_platform<T>(counts: &Counts, figure: impl Fn(&'static str) -> T) -> ByPlatform<T> {
    figures(counts.device_families(), figure)
}

fn figures<T>(families: BTreeSet<&'static str>, figure: impl Fn(&'static str) -> T) -> ByPlatform<T> {
    families.into_iter().chain(ALWAYS).map(|family| (family, figure(family))).collect()
}

fn period(mut params: Params, usual: Precision) -> Result<Period> {
    let dates = params.dates();
    let precision = params.choice("precision", &Precision::NAMED).unwrap_or(usual);
    params.finish_with(dates.and_then(|dates| Period::new(dates.start, dates.end, precision)))
}

/// Where the rest of a report is.
fn rest_of(links: &Links, path: &str, rest: &Period) -> String {
    let value = |at: UtcMillis| percent_encoded(&at.to_iso());
    let (start, end, precision) = (value(rest.start()), value(rest.end()), rest.precision.name());
    links.to(&format!("/api/reports/{path}?start={start}&end={end}&precision={precision}"))
}

/// A figure that is left out where there is nothing to count: client libraries that are strict do not know it.
fn if_any(n: u64) -> Option<u64> {
    (n > 0).then_some(n)
}

fn push_id(text: &str) -> Result<PushId> {
    text.parse().map_err(|_| not_a_uuid("push_id"))
}

fn group_id(text: &str) -> Result<Uuid> {
    text.parse().map_err(|_| not_a_uuid("group_id"))
}

fn not_a_uuid(name: &str) -> Error {
    Error::invalid(name, "This must be a UUID, such as 9c36e8c7-5a73-47c0-9716-99fd3d4197d5.")
}
