//! Periods and their buckets, against a naive way of counting.

use std::collections::BTreeMap;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;
use crate::report::parse_date;

const PRECISIONS: [Precision; 3] = [Precision::Hourly, Precision::Daily, Precision::Monthly];

fn at(text: &str) -> UtcMillis {
    parse_date(text).unwrap()
}

fn period(start: &str, end: &str, precision: Precision) -> Period {
    Period::new(at(start), at(end), precision).unwrap()
}

fn shown(buckets: &[i64]) -> Vec<String> {
    buckets.iter().map(|hour| UtcMillis::of_hour(*hour).to_report()).collect()
}

#[test]
fn buckets_are_hours_days_and_months_of_utc() {
    let table = [
        ("2024-02-28 22:00", "2024-02-29 01:00", Precision::Hourly, vec!["02-28 22", "02-28 23", "02-29 00"]),
        ("2024-02-28", "2024-03-02", Precision::Daily, vec!["02-28 00", "02-29 00", "03-01 00"]),
        ("2023-02-28", "2023-03-02", Precision::Daily, vec!["02-28 00", "03-01 00"]),
        ("2024-01-31 23:00", "2024-03-01 01:00", Precision::Monthly, vec!["01-01 00", "02-01 00", "03-01 00"]),
        // Hours count where they begin.
        ("2024-05-01 12:00:01", "2024-05-01 13:00", Precision::Hourly, vec![]),
        ("2024-05-01 12:00", "2024-05-01 12:00:01", Precision::Hourly, vec!["05-01 12"]),
        ("2024-05-01 23:30", "2024-05-02 00:30", Precision::Daily, vec!["05-02 00"]),
        ("2024-05-01", "2024-05-01", Precision::Daily, vec![]),
    ];
    for (start, end, precision, expected) in table {
        let page = period(start, end, precision).page(10);
        let year = &start[..4];
        let expected: Vec<String> = expected.iter().map(|bucket| format!("{year}-{bucket}:00:00")).collect();
        assert_eq!((shown(&page.buckets), page.rest), (expected, None), "{start} to {end}");
    }
    assert_eq!(Period::new(at("2024-05-02"), at("2024-05-01"), Precision::Daily), None);
}

#[test]
fn a_page_ends_where_the_next_begins() {
    let year = period("2024-01-15 10:30", "2025-01-15", Precision::Monthly);
    let page = year.page(5);
    assert_eq!(shown(&page.buckets)[4], "2024-05-01 00:00:00");
    let rest = page.rest.unwrap();
    assert_eq!((rest.start().to_report(), rest.end()), ("2024-06-01 00:00:00".to_owned(), year.end()));
    assert_eq!(page.hours.end, rest.hours().start);
    assert_eq!(rest.page(8).rest, None);
}

#[test]
fn the_time_before_has_the_same_cuts() {
    for (start, end, precision, n, expected) in [
        ("2024-05-08", "2024-05-15", Precision::Daily, 7, ("2024-05-01 00:00:00", "2024-05-08 00:00:00")),
        ("2024-05-02 10:00", "2024-05-02 12:00", Precision::Hourly, 2, ("2024-05-02 08:00:00", "2024-05-02 10:00:00")),
        ("2024-03-01", "2024-04-01", Precision::Monthly, 1, ("2024-02-01 00:00:00", "2024-03-01 00:00:00")),
        ("2024-03-01", "2024-03-31 10:00", Precision::Monthly, 1, ("2024-02-01 00:00:00", "2024-03-01 00:00:00")),
        ("2024-05-01 10:00", "2024-05-02", Precision::Daily, 1, ("2024-04-30 10:00:00", "2024-05-01 00:00:00")),
        ("2024-05-01", "2024-05-01", Precision::Daily, 0, ("2024-05-01 00:00:00", "2024-05-01 00:00:00")),
    ] {
        let before = period(start, end, precision).earlier(n);
        assert_eq!(
            (before.start().to_report(), before.end().to_report()),
            (expected.0.to_owned(), expected.1.to_owned())
        );
    }
}

#[test]
fn time_ends_without_an_accident() {
    for precision in PRECISIONS {
        let page = period("9999-12-31 00:00", "9999-12-31T23:59:59-23:59", precision).page(1000);
        assert!(!page.buckets.is_empty() && page.rest.is_none(), "{precision:?} {page:?}");
        let long = period("0001-01-01", "9999-12-31", precision);
        let page = long.page(1000);
        assert_eq!(page.buckets.len(), 1000);
        assert!(page.rest.is_some());
    }
}

#[test]
fn a_series_begins_with_the_bucket_of_an_instant() {
    for (precision, n_buckets, start, end) in [
        (Precision::Hourly, 12, "2024-01-31 22:00:00", "2024-02-01 10:00:00"),
        (Precision::Daily, 7, "2024-01-31 00:00:00", "2024-02-07 00:00:00"),
        (Precision::Monthly, 3, "2024-01-01 00:00:00", "2024-04-01 00:00:00"),
    ] {
        let series = Period::around(at("2024-01-31 22:45"), n_buckets, precision);
        assert_eq!((series.start().to_report().as_str(), series.end().to_report().as_str()), (start, end));
        assert_eq!(series.page(100).buckets.len(), usize::try_from(n_buckets).unwrap());
    }
}

/// The report for hours that have counts, computed bucket by bucket from the calendar.
fn naive(counts: &[(i64, u64)], period: Period) -> BTreeMap<String, u64> {
    let mut buckets = BTreeMap::new();
    let (mut hour, millis) = (period.start().0.div_euclid(HOUR_MILLIS) - 1, HOUR_MILLIS);
    while hour * millis < period.end().0 {
        if hour * millis >= period.start().0 {
            let text = UtcMillis(hour * millis).to_report();
            let kept = match period.precision {
                Precision::Hourly => 13,
                Precision::Daily => 10,
                Precision::Monthly => 7,
            };
            let n: u64 = counts.iter().filter(|(counted, _)| *counted == hour).map(|(_, n)| n).sum();
            *buckets.entry(text[..kept].to_owned()).or_default() += n;
        }
        hour += 1;
    }
    buckets
}

/// The counts in the buckets of a period and of all its pages.
fn evaluated(counts: &[(i64, u64)], period: Period, page_size: usize) -> BTreeMap<String, u64> {
    let mut buckets = BTreeMap::new();
    let mut left = Some(period);
    while let Some(period) = left {
        let page = period.page(page_size);
        for bucket in &page.buckets {
            buckets.insert(*bucket, 0);
        }
        for (hour, n) in counts.iter().filter(|(hour, _)| page.hours.contains(hour)) {
            *buckets.get_mut(&period.precision.bucket(*hour)).unwrap() += n;
        }
        left = page.rest;
    }
    let kept = match period.precision {
        Precision::Hourly => 13,
        Precision::Daily => 10,
        Precision::Monthly => 7,
    };
    buckets.into_iter().map(|(hour, n)| (UtcMillis::of_hour(hour).to_report()[..kept].to_owned(), n)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn parts_add_up_to_the_whole(
        // Half a year around a leap day, cut anywhere.
        counts in vec((473_000..477_400_i64, 0..1000_u64), 0..40),
        cuts in btree_set(1_702_800_000_000..1_718_640_000_000_i64, 2..6),
        page_size in 1..200_usize,
    ) {
        let cuts: Vec<UtcMillis> = cuts.into_iter().map(UtcMillis).collect();
        for precision in PRECISIONS {
            let whole = Period::new(cuts[0], cuts[cuts.len() - 1], precision).unwrap();
            let expected = naive(&counts, whole);
            prop_assert_eq!(&evaluated(&counts, whole, page_size), &expected);
            let mut sums: BTreeMap<String, u64> = BTreeMap::new();
            for part in cuts.windows(2) {
                let part = Period::new(part[0], part[1], precision).unwrap();
                for (bucket, n) in evaluated(&counts, part, page_size) {
                    *sums.entry(bucket).or_default() += n;
                }
            }
            prop_assert_eq!(&sums, &expected);
        }
    }
}
