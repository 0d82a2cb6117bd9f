//! How schedules are read, refused and printed, and at which instants they send.

use jiff::civil::date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use proptest::prelude::*;

use super::*;
use crate::json;
use crate::time::UtcMillis;

fn read(body: &str) -> Schedule {
    json::parse(body.as_bytes(), Schedule::parse).unwrap_or_else(|problems| panic!("{body}: {problems}"))
}

fn refused(body: &str) -> String {
    let problems = json::parse(body.as_bytes(), Schedule::parse).expect_err(body);
    problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>().join(" ")
}

fn utc(text: &str) -> UtcMillis {
    UtcMillis::parse_api(text).unwrap()
}

/// The first instants of a schedule after its first time was set, in UTC.
fn instants(body: &str, n: usize) -> Vec<String> {
    let schedule = read(body);
    let mut after = utc("2020-01-01T00:00:00");
    let mut found = Vec::new();
    while let Some(next) = schedule.next_after(after).filter(|_| found.len() < n) {
        found.push(next.to_api());
        after = next;
    }
    found
}

fn every(unit: &str, count: u32, rest: &str) -> String {
    format!(
        r#"{{"scheduled_time":"2024-01-31T10:00:00","recurring":{{"cadence":{{"type":"{unit}","count":{count}}}{rest},"paused":false}}}}"#
    )
}

#[test]
fn times_print_in_one_form() {
    for (sent, printed) in [
        (r#"{"scheduled_time":"2030-01-31T1205"}"#, r#"{"scheduled_time":"2030-01-31T12:05:00"}"#),
        (r#"{"scheduled_time":"2030-01-31 12:05:06.7Z"}"#, r#"{"scheduled_time":"2030-01-31T12:05:07"}"#),
        (
            r#"{"scheduled_time":"2030-01-31T12:05","recurring":{"cadence":{"type":"daily","count":1},
                "end_time":"2030-12-31T12:05:06.7","exclusions":[{"date_range":"2030-03-01T00:00:00.5/2030-04-01T00:00:00.5"}]}}"#,
            r#"{"scheduled_time":"2030-01-31T12:05:00","recurring":{"cadence":{"type":"daily","count":1},"end_time":"2030-12-31T12:05:06","exclusions":[{"date_range":"2030-03-01T00:00:01/2030-04-01T00:00:00"}],"paused":false}}"#,
        ),
        (r#"{"local_scheduled_time":"2030-01-31T12:05"}"#, r#"{"local_scheduled_time":"2030-01-31T12:05:00"}"#),
        (r#"{"scheduled_time":"2030-01-31T12:05","recurring":null}"#, r#"{"scheduled_time":"2030-01-31T12:05:00"}"#),
        (
            r#"{"local_scheduled_time":"2030-01-31T12:05","recurring":{"cadence":{"type":"weekly","count":2,
                "days_of_week":["sunday","monday","sunday"]},"end_time":"2031-01-01T0000","exclusions":[
                {"hour_range":"22-5","date_range":"2030-12-24T00:00:00/2030-12-26T23:59:59"},{"days_of_week":["friday"]}]}}"#,
            r#"{"local_scheduled_time":"2030-01-31T12:05:00","recurring":{"cadence":{"type":"weekly","count":2,"days_of_week":["monday","sunday"]},"end_time":"2031-01-01T00:00:00","exclusions":[{"hour_range":"22-5","date_range":"2030-12-24T00:00:00/2030-12-26T23:59:59"},{"days_of_week":["friday"]}],"paused":false}}"#,
        ),
        (r#"{"best_time":{"send_date":"2030-01-31T12:05:00"}}"#, r#"{"best_time":{"send_date":"2030-01-31"}}"#),
        (
            r#"{"scheduled_time":"2030-01-31T12:05","recurring":{"cadence":{"type":"daily","count":1,"days_of_week":null},
                "end_time":null,"exclusions":null,"paused":true}}"#,
            r#"{"scheduled_time":"2030-01-31T12:05:00","recurring":{"cadence":{"type":"daily","count":1},"paused":true}}"#,
        ),
    ] {
        let schedule = read(sent);
        assert_eq!(serde_json::to_string(&schedule).unwrap(), printed);
        assert_eq!(read(printed), schedule);
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (body, path) in [
        ("{}", "scheduled_time"),
        (r#"{"scheduled_time":"2030-01-31T12:00","local_scheduled_time":"2030-01-31T12:00"}"#, ""),
        (r#"{"scheduled_time":"2030-01-31T12:00+02:00"}"#, "scheduled_time"),
        (r#"{"scheduled_time":"tomorrow"}"#, "scheduled_time"),
        (r#"{"local_scheduled_time":1}"#, "local_scheduled_time"),
        (r#"{"best_time":{"send_date":"31.01.2030"}}"#, "best_time.send_date"),
        (r#"{"best_time":{"send_date":"2030-01-311"}}"#, "best_time.send_date"),
        (r#"{"best_time":{"send_date":"2030-01-31"},"scheduled_time":"2030-01-31T12:00"}"#, ""),
        (r#"{"best_time":{"send_date":"2030-01-31"},"recurring":{"cadence":{"type":"daily","count":1}}}"#, "recurring"),
        (r#"{"scheduled_time":"2030-01-31T12:00","when":1}"#, "when"),
        (r#"{"scheduled_time":"2030-01-31T12:00","recurring":{}}"#, "recurring.cadence"),
        (&every("fortnightly", 1, ""), "recurring.cadence.type"),
        (&every("daily", 0, ""), "recurring.cadence.count"),
        (&every("daily", 1001, ""), "recurring.cadence.count"),
        (&every("daily", 1, r#","end_time":"2024-01-30T00:00:00""#), "recurring.end_time"),
        (&every("daily", 1, r#","exclusions":[{}]"#), "recurring.exclusions[0]"),
        (&every("daily", 1, r#","exclusions":[{"hour_range":"12"}]"#), "recurring.exclusions[0].hour_range"),
        (&every("daily", 1, r#","exclusions":[{"hour_range":"12-24"}]"#), "recurring.exclusions[0].hour_range"),
        (&every("daily", 1, r#","exclusions":[{"days_of_week":["Mon"]}]"#), "recurring.exclusions[0].days_of_week[0]"),
        (
            &every("daily", 1, r#","exclusions":[{"date_range":"2030-01-02T00:00:00/2030-01-01T00:00:00"}]"#),
            "recurring.exclusions[0].date_range",
        ),
        (&every("daily", 1, r#","exclusions":[{"hour_range":"0-23"}]"#), "recurring"),
        (
            r#"{"scheduled_time":"2030-01-31T12:00","recurring":{"cadence":{"type":"daily","count":1,"days_of_week":["monday"]}}}"#,
            "recurring.cadence.days_of_week",
        ),
    ] {
        assert_eq!(refused(body), path, "{body}");
    }
}

#[test]
fn best_times() {
    let body = r#"{"best_time":{"send_date":"2030-01-31"}}"#;
    let schedule = read(body);
    assert_eq!(schedule.first.wall_time().to_string(), "2030-01-31T18:00:00");
    // Hours of several days, some of them before 1970.
    let hour = DayHour::with_most([(-17, 40), (7, 30), (24 * 9 + 7, 30), (24 + 8, 99)]);
    let chosen = Schedule { first: schedule.first.at_best_hour(hour), ..schedule };
    assert_eq!(chosen.first.wall_time().to_string(), "2030-01-31T07:00:00");
    assert_eq!(serde_json::to_string(&chosen).unwrap(), body);
    assert_eq!(chosen.next_after(utc("2030-01-01T00:00")), Some(utc("2030-01-30T17:00")), "UTC+14 comes first");
    assert_eq!(DayHour::with_most([(7, 99)]), DayHour::USUAL, "a few openings say nothing");
    assert_eq!(DayHour::with_most([(9, 50), (7, 50)]), DayHour::with_most([(7, 100)]), "the first of several");
}

#[test]
fn cadences() {
    let hourly = instants(&every("hourly", 7, ""), 4);
    assert_eq!(hourly, ["2024-01-31T10:00:00", "2024-01-31T17:00:00", "2024-02-01T00:00:00", "2024-02-01T07:00:00"]);
    let daily = instants(&every("daily", 10, r#","end_time":"2024-02-20T10:00:00""#), 9);
    assert_eq!(daily, ["2024-01-31T10:00:00", "2024-02-10T10:00:00", "2024-02-20T10:00:00"], "the end is included");
    let monthly = instants(&every("monthly", 1, ""), 4);
    let ends = ["2024-01-31T10:00:00", "2024-02-29T10:00:00", "2024-03-31T10:00:00", "2024-04-30T10:00:00"];
    assert_eq!(monthly, ends, "a short month does not shorten those after it");
    let yearly = every("yearly", 1, "").replace("2024-01-31", "2024-02-29");
    assert_eq!(instants(&yearly, 2), ["2024-02-29T10:00:00", "2025-02-28T10:00:00"]);
    assert_eq!(instants(&every("weekly", 2, ""), 2), ["2024-01-31T10:00:00", "2024-02-14T10:00:00"]);
    // 2024-01-31 is a Wednesday: the Monday of its week has passed, its Friday has not.
    let days = r#"{"scheduled_time":"2024-01-31T10:00:00","recurring":{"cadence":{"type":"weekly","count":2,"days_of_week":["friday","monday"]}}}"#;
    assert_eq!(instants(days, 3), ["2024-02-02T10:00:00", "2024-02-12T10:00:00", "2024-02-16T10:00:00"]);
    assert_eq!(instants(r#"{"scheduled_time":"2024-01-31T10:00:00"}"#, 3), ["2024-01-31T10:00:00"]);
}

#[test]
fn exclusions() {
    let night = every("hourly", 6, r#","exclusions":[{"hour_range":"22-4"}]"#);
    assert_eq!(instants(&night, 3), ["2024-01-31T10:00:00", "2024-01-31T16:00:00", "2024-02-01T10:00:00"]);
    let weekend = every("daily", 1, r#","exclusions":[{"days_of_week":["saturday","sunday"]}]"#);
    assert_eq!(instants(&weekend, 4)[2..], ["2024-02-02T10:00:00", "2024-02-05T10:00:00"]);
    let range = r#","exclusions":[{"date_range":"2024-02-01T00:00:00/2024-02-03T10:00:00"}]"#;
    assert_eq!(instants(&every("daily", 1, range), 2), ["2024-01-31T10:00:00", "2024-02-04T10:00:00"]);
    let long = r#","exclusions":[{"date_range":"2024-02-01T00:00:00/2094-02-03T09:30:00"}]"#;
    assert_eq!(instants(&every("hourly", 1, long), 20)[14..16], ["2094-02-03T10:00:00", "2094-02-03T11:00:00"]);
    for hours in ["0-23", "14-13"] {
        let all_day = long.replace(r#"{"date"#, &format!(r#"{{"hour_range":"{hours}","date"#));
        assert_eq!(instants(&every("hourly", 1, &all_day), 20)[14..15], ["2094-02-03T10:00:00"]);
    }
    let halves = r#","exclusions":[{"hour_range":"0-11","date_range":"2024-02-01T00:00:00/2025-02-03T09:30:00"},
        {"hour_range":"12-23","date_range":"2024-02-01T00:00:00/2025-02-03T09:30:00"}]"#;
    assert_eq!(instants(&every("hourly", 1, halves), 20)[14..15], ["2025-02-03T10:00:00"], "a year of half days");
    let both =
        r#","exclusions":[{"days_of_week":["thursday"],"date_range":"2024-02-01T00:00:00/2024-02-03T10:00:00"}]"#;
    assert_eq!(instants(&every("daily", 1, both), 2)[1], "2024-02-02T10:00:00", "both have to apply");
}

/// Zones of both hemispheres, with and without daylight saving, with odd offsets, and with a gap at midnight.
const ZONES: [&str; 10] = [
    "America/New_York",
    "America/Santiago",
    "America/St_Johns",
    "Europe/London",
    "Europe/Athens",
    "Africa/Cairo",
    "Asia/Kathmandu",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Pacific/Auckland",
];

/// When a clock shows a time, found by looking at it every quarter of an hour. A time it never shows is counted from the last
/// look before it.
fn seen_on(zone: &TimeZone, time: jiff::civil::DateTime) -> Timestamp {
    let guess = time.to_zoned(TimeZone::UTC).unwrap().timestamp();
    let looks = (-64..64).map(|n| guess + SignedDuration::from_mins(15 * n));
    let shown: Vec<_> = looks.map(|look| (look, zone.to_datetime(look))).collect();
    if let Some((look, _)) = shown.iter().find(|(_, shown)| *shown == time) {
        return *look;
    }
    let (look, shown) = shown.iter().take_while(|(_, shown)| *shown < time).last().unwrap();
    *look + time.duration_since(*shown)
}

#[test]
fn local_times_of_a_year_in_ten_zones() {
    for (name, at) in ZONES.iter().flat_map(|name| ["00:00", "01:30", "02:00", "02:45"].map(|at| (*name, at))) {
        let zone = TimeZone::get(name).unwrap();
        let body = format!(
            r#"{{"local_scheduled_time":"2026-01-01T{at}","recurring":{{"cadence":{{"type":"daily","count":1}},"end_time":"2026-12-31T23:59"}}}}"#
        );
        let schedule = read(&body);
        let mut after = utc("2025-12-30T00:00:00");
        let mut day = date(2026, 1, 1).at(0, 0, 0, 0) + time_of_day(at);
        let mut n_days = 0;
        while let Some(moment) = schedule.next_by(&zone, after) {
            assert_eq!(moment.time.0, day, "{name}: no day is passed over, and none comes twice");
            assert_eq!(moment.at.0, seen_on(&zone, day).as_millisecond(), "{name} {day}");
            assert!(moment.at > after);
            (after, day, n_days) = (moment.at, day + 1.day(), n_days + 1);
        }
        assert_eq!(n_days, 365, "{name}");
    }
}

fn time_of_day(text: &str) -> jiff::Span {
    let (hour, minute) = text.split_once(':').unwrap();
    hour.parse::<i64>().unwrap().hours().minutes(minute.parse::<i64>().unwrap())
}

#[test]
fn times_that_are_skipped_and_times_that_come_twice() {
    let by = |zone: &str, time: &str| {
        let time = WallTime::from_api(time).unwrap();
        time.in_zone(&TimeZone::get(zone).unwrap()).unwrap().to_api()
    };
    // Clocks go from 02:00 to 03:00.
    assert_eq!(by("Europe/Paris", "2026-03-29T01:59"), "2026-03-29T00:59:00");
    assert_eq!(by("Europe/Paris", "2026-03-29T02:30"), "2026-03-29T01:30:00", "half past three by then");
    assert_eq!(by("Europe/Paris", "2026-03-29T03:00"), "2026-03-29T01:00:00");
    // Clocks go from 03:00 back to 02:00.
    assert_eq!(by("Europe/Paris", "2026-10-25T02:30"), "2026-10-25T00:30:00", "the first of the two");
    assert_eq!(by("Europe/Paris", "2026-10-25T03:00"), "2026-10-25T02:00:00");
    // Every hour by local time: the skipped hour and the one after it are the same moment, which comes once.
    let hourly = read(
        r#"{"local_scheduled_time":"2026-03-29T00:30","recurring":{"cadence":{"type":"hourly","count":1},"end_time":"2026-03-29T05:00"}}"#,
    );
    let zone = TimeZone::get("Europe/Paris").unwrap();
    let mut after = utc("2026-03-28T00:00");
    let mut found = Vec::new();
    while let Some(moment) = hourly.next_by(&zone, after) {
        found.push(moment.at.to_api());
        after = moment.at;
    }
    assert_eq!(found, ["2026-03-28T23:30:00", "2026-03-29T00:30:00", "2026-03-29T01:30:00", "2026-03-29T02:30:00"]);
}

#[test]
fn waves_go_around_the_world_once() {
    let schedule = read(r#"{"local_scheduled_time":"2026-07-01T12:00"}"#);
    let (mut after, mut n_waves) = (utc("2026-06-30T00:00"), 0);
    let mut seen = Vec::new();
    while let Some(next) = schedule.next_after(after) {
        let waves = schedule.waves(after, next);
        assert_eq!(waves.len(), 1, "a time that comes once makes one wave at a time");
        assert_eq!(waves[0].time.to_string(), "2026-07-01T12:00:00");
        assert!(schedule.waves(next, UtcMillis(next.0 + 60_000 * 14)).is_empty());
        seen.extend(waves[0].clocks.iter().flatten().map(|clock| clock.name));
        (after, n_waves) = (next, n_waves + 1);
        let last = after == utc("2026-07-02T00:00");
        assert_eq!(schedule.waiting(waves[0].time, after).next().is_none(), last);
    }
    assert_eq!(after, utc("2026-07-02T00:00"), "UTC-12 comes last");
    assert_eq!(seen.len(), crate::property::device_clocks().len());
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), crate::property::device_clocks().len(), "nobody's time comes twice");
    assert!((25..45).contains(&n_waves), "{n_waves}");
    // All missed times come at once.
    let late = schedule.waves(utc("2026-06-30T00:00"), utc("2026-08-01T00:00"));
    assert_eq!(late[0].clocks.as_ref().unwrap().len(), seen.len());
}

#[test]
fn missed_times_are_made_up_for_once() {
    let schedule = read(&every("daily", 1, ""));
    let waves = schedule.waves(utc("2024-01-31T09:00"), utc("2024-02-05T11:00"));
    assert_eq!(waves.iter().map(|wave| wave.time.to_string()).collect::<Vec<_>>(), ["2024-02-05T10:00:00"]);
    assert_eq!(schedule.next_after(utc("2024-02-05T11:00")), Some(utc("2024-02-06T10:00")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Looking from any moment finds the same times as going through all of them from the first.
    #[test]
    fn any_start_finds_the_next_time(
        unit in prop::sample::select(vec!["hourly", "daily", "weekly", "monthly", "yearly"]),
        count in 1_u32..40,
        days in prop::collection::btree_set(prop::sample::select(vec!["monday", "tuesday", "friday", "sunday"]), 0..4),
        from_hours in 0_i64..30_000,
        first_day in 1_i64..366,
    ) {
        let days = if unit == "weekly" && !days.is_empty() {
            format!(r#","days_of_week":{:?}"#, days)
                .replace('{', "[").replace('}', "]")
        } else {
            String::new()
        };
        let first = WallTime(date(2024, 1, 1).at(10, 15, 0, 0) + first_day.days());
        let schedule = read(&format!(
            r#"{{"scheduled_time":"{first}","recurring":{{"cadence":{{"type":"{unit}","count":{count}{days}}}}}}}"#
        ));
        let from = WallTime(date(2024, 1, 1).at(0, 0, 0, 0) + from_hours.hours());
        let all: Vec<_> = schedule.times_from(first).skip_while(|time| *time < from).take(3).collect();
        let found: Vec<_> = schedule.times_from(from).take(3).collect();
        prop_assert_eq!(found, all);
    }

    /// Skipping whole stretches finds the same times as looking at every single one.
    #[test]
    fn stretches_that_are_passed_over_have_no_time_that_counts(
        unit in prop::sample::select(vec!["hourly", "daily", "weekly"]),
        count in 1_u32..9,
        exclusions in prop::collection::vec(exclusion(), 1..4),
        from_hours in 0_i64..2_000,
    ) {
        let every = |rest: &str| every(unit, count, rest);
        let Ok(schedule) = json::parse(every(&format!(r#","exclusions":[{}]"#, exclusions.join(","))).as_bytes(), Schedule::parse)
        else {
            return Ok(());
        };
        let all = read(&every(""));
        let excluded = schedule.recurring.clone().unwrap();
        let from = WallTime(date(2024, 1, 31).at(0, 0, 0, 0) + from_hours.hours());
        let expected: Vec<_> =
            all.times_from(from).take(2_000).filter(|time| excluded.exclusion_of(*time).is_none()).take(5).collect();
        let found: Vec<_> = schedule.times_from(from).take(expected.len()).collect();
        prop_assert_eq!(found, expected);
    }
}

fn exclusion() -> impl Strategy<Value = String> {
    let hours = (0..24, 0..24).prop_map(|(first, last)| format!(r#""hour_range":"{first}-{last}""#));
    let days = prop::sample::subsequence(vec!["monday", "tuesday", "wednesday", "saturday", "sunday"], 1..=5)
        .prop_map(|days| format!(r#""days_of_week":{days:?}"#));
    let dates = (1..28, 1..28).prop_map(|(first, n_days)| {
        let start = date(2024, 2, 1).at(7, 30, 0, 0) + i64::from(first).days();
        format!(r#""date_range":"{}/{}""#, WallTime(start), WallTime(start + i64::from(n_days).days()))
    });
    let parts = (prop::option::of(hours), prop::option::of(days), prop::option::of(dates));
    parts.prop_filter_map("an exclusion has a part", |(hours, days, dates)| {
        let parts: Vec<String> = [hours, days, dates].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{{{}}}", parts.join(",")))
    })
}
