//! The parameters of reports: dates in all the forms clients write them in, precisions, and periods cut into buckets.

mod date;
mod period;

pub use date::parse_date;
pub use period::{Page, Period, Precision};

use crate::ids::PushId;
use crate::json::body::Body;
use crate::limits;

/// The body of a request for the details of several pushes.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct PushIds(#[body(rename = "push_ids", length = 1..=limits::PUSHES_PER_REPORT)] pub Vec<PushId>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn one_to_a_hundred_pushes_are_named() {
        let id = "\"9c36e8c7-5a73-47c0-9716-99fd3d4197d5\"";
        let body = |n: usize| format!("{{\"push_ids\": [{}]}}", vec![id; n].join(","));
        let read = |body: &str| json::parse(body.as_bytes(), PushIds::parse);
        assert_eq!(read(&body(100)).map(|ids| ids.0.len()), Ok(100));
        for (body, path) in [
            (body(0), "push_ids"),
            (body(101), "push_ids"),
            ("{}".to_owned(), "push_ids"),
            ("{\"push_ids\": [\"x\"]}".to_owned(), "push_ids[0]"),
            (format!("{{\"push_ids\": [{id}], \"ids\": []}}"), "ids"),
        ] {
            assert_eq!(read(&body).unwrap_err().first().path, path, "{body}");
        }
    }
}
