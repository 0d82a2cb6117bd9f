//! A part of all events, for readers that sample or share the work: every channel is in it with all of its events, or with none.

use schemars::json_schema;

use crate::json::At;
use crate::json::body::Read;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Read)]
#[body(schema = json_schema!({
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["SAMPLE", "PARTITION"]},
        "proportion": {"type": "number", "minimum": 0, "maximum": 1, "description": "Of SAMPLE: the part of the channels."},
        "count": {"type": "integer", "minimum": 1, "maximum": MOST_PARTITIONS, "description": "Of PARTITION: how many there are."},
        "selection": {"type": "integer", "minimum": 0, "description": "Of PARTITION: which one, counted from 0."},
    },
    "required": ["type"],
    "additionalProperties": false,
}))]
pub enum EventSubset {
    /// So many of a million channels.
    Sample { millionths: u32 },
    /// One of several parts that are about as large and together have every event.
    Partition { count: u32, selection: u32 },
}

#[derive(Clone, Copy)]
enum Kind {
    Sample,
    Partition,
}

const MOST_PARTITIONS: i64 = 1000;
const MILLION: u32 = 1_000_000;

impl EventSubset {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let kind = fields.required("type", |at| at.choice(&[("SAMPLE", Kind::Sample), ("PARTITION", Kind::Partition)]));
        let subset = match kind {
            Some(Kind::Sample) => {
                let proportion = fields.required("proportion", |at| at.number(0.0..=1.0));
                proportion.and_then(millionths).map(|millionths| EventSubset::Sample { millionths })
            }
            Some(Kind::Partition) => {
                let count = fields.required("count", |at| at.integer(1..=MOST_PARTITIONS));
                let last = count.unwrap_or(MOST_PARTITIONS) - 1;
                let selection = fields.required("selection", |at| at.integer(0..=last));
                let number = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
                number(count).zip(number(selection)).map(|(count, selection)| Self::Partition { count, selection })
            }
            None => fields.pass_over_rest(),
        };
        fields.finish();
        subset
    }

    /// Whether events with this number are in it: the number of their channel, or else their own.
    pub fn has(self, number: u32) -> bool {
        let mixed = mix(number);
        match self {
            EventSubset::Sample { millionths } => mixed % MILLION < millionths,
            EventSubset::Partition { count, selection } => mixed % count == selection,
        }
    }
}

fn millionths(proportion: f64) -> Option<u32> {
    format!("{:.0}", proportion * f64::from(MILLION)).parse().ok()
}

/// Neighbors become strangers, the same at all times and on all nodes. Each step can be undone, so no two numbers become the same.
fn mix(number: u32) -> u32 {
    let mut mixed = number;
    for factor in [0x7feb_352d, 0x846c_a68b] {
        mixed = (mixed ^ (mixed >> 16)).wrapping_mul(factor);
    }
    mixed ^ (mixed >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn subset(body: &str) -> Result<EventSubset, String> {
        parse(body.as_bytes(), EventSubset::parse).map_err(|problems| problems.to_string())
    }

    #[test]
    fn partitions_share_all_numbers_about_evenly() {
        let parts: Vec<EventSubset> = (0..4)
            .map(|selection| subset(&format!(r#"{{"type":"PARTITION","count":4,"selection":{selection}}}"#)).unwrap())
            .collect();
        let mut sizes = [0; 4];
        for number in 0..10_000 {
            let of: Vec<usize> = (0..4).filter(|place| parts[*place].has(number)).collect();
            let [place] = of[..] else { panic!("{number} is in {of:?}") };
            sizes[place] += 1;
        }
        assert!(sizes.iter().all(|size| (2_300..2_700).contains(size)), "{sizes:?}");
    }

    #[test]
    fn a_sample_has_its_proportion() {
        let sample = |proportion: &str| subset(&format!(r#"{{"type":"SAMPLE","proportion":{proportion}}}"#)).unwrap();
        let count = |sample: EventSubset| (0..10_000).filter(|number| sample.has(*number)).count();
        assert_eq!((count(sample("0")), count(sample("1"))), (0, 10_000));
        assert!((900..1_100).contains(&count(sample("0.1"))), "{}", count(sample("0.1")));
    }

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        for (body, path) in [
            ("{}", "type: "),
            (r#"{"type":"HALF"}"#, "type: "),
            (r#"{"type":"SAMPLE"}"#, "proportion: "),
            (r#"{"type":"SAMPLE","proportion":1.5}"#, "proportion: "),
            (r#"{"type":"PARTITION","count":0,"selection":0}"#, "count: "),
            (r#"{"type":"PARTITION","count":3,"selection":3}"#, "selection: "),
            (r#"{"type":"SAMPLE","proportion":0.5,"count":3}"#, "count: "),
        ] {
            let said = subset(body).unwrap_err();
            assert!(said.starts_with(path), "{body}: {said}");
        }
    }
}
