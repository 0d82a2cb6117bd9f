//! Time zones: every one counts as the nearest of those that have a tag, and some keep a clock of their own.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use jiff::tz::TimeZone;

use crate::tag::{Tag, TagGroup};
use crate::term::Term;

pub(super) const GROUP: &str = "timezone";

/// The tag of channels whose time zone is not known.
pub(super) const NO_TIME_ZONE: &str = "NO_TIME_ZONE";

/// A time zone of the table.
#[derive(Clone, Copy)]
struct KnownZone {
    name: &'static str,
    tag: &'static str,
    has_own_clock: bool,
}

/// By their names in lower case.
static ROWS: LazyLock<HashMap<String, KnownZone>> =
    LazyLock::new(|| rows().map(|row| (row.name.to_ascii_lowercase(), row)).collect());

static CLOCKS: LazyLock<Vec<DeviceClock>> = LazyLock::new(clocks);

/// The tag of a time zone, whatever the case of its name.
pub(super) fn time_zone(name: &str) -> Option<&'static str> {
    row(name).map(|row| row.tag)
}

/// The name of a time zone whose clock is not that of its tag.
pub(super) fn own_clock(name: &str) -> Option<&'static str> {
    row(name).filter(|row| row.has_own_clock).map(|row| row.name)
}

fn row(name: &str) -> Option<KnownZone> {
    ROWS.get(&name.trim().to_ascii_lowercase()).copied()
}

/// The tag that a selector means. Documentation prints some tags with a remark, as in `America/Denver (Mountain)`, and
/// misspells one.
pub(super) fn selected_time_zone(tag: &str) -> &str {
    match tag.split_once(" (").map_or(tag, |(name, _)| name) {
        "America/Sao_Paulo" => "America/Sao_Paolo",
        name => name,
    }
}

/// A clock that some devices have, and how to recognize those devices.
pub struct DeviceClock {
    pub zone: TimeZone,
    /// The name under which the clock is stored; never changed.
    pub name: &'static str,
    /// The term that those devices share.
    pub term: Term,
    /// The terms of devices that share `term` but have a clock of their own.
    pub exceptions: Vec<Term>,
}

/// Every clock that devices of known time zones can have. A device goes by exactly one of them.
pub fn device_clocks() -> &'static [DeviceClock] {
    &CLOCKS
}

fn clocks() -> Vec<DeviceClock> {
    let tags: BTreeSet<&'static str> = rows().map(|row| row.tag).collect();
    let listed = tags.into_iter().map(|tag| DeviceClock {
        zone: zone(tag),
        name: tag,
        term: Term::Tag { group: TagGroup::fixed(GROUP), tag: Tag::fixed(tag) },
        exceptions: own_clocks().filter(|row| row.tag == tag).map(|row| Term::OwnClock(row.name.to_owned())).collect(),
    });
    let own = own_clocks().map(|row| DeviceClock {
        zone: zone(row.name),
        name: row.name,
        term: Term::OwnClock(row.name.to_owned()),
        exceptions: Vec::new(),
    });
    listed.chain(own).collect()
}

fn own_clocks() -> impl Iterator<Item = KnownZone> {
    rows().filter(|row| row.has_own_clock)
}

/// The rules of a zone. They come with the program, and a test checks that all names exist.
fn zone(name: &str) -> TimeZone {
    let name = if name == "America/Sao_Paolo" { "America/Sao_Paulo" } else { name };
    TimeZone::get(name).unwrap_or(TimeZone::UTC)
}

fn rows() -> impl Iterator<Item = KnownZone> {
    include_str!("time_zones.tsv").lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (name, rest) = line.split_once('\t')?;
        let (tag, mark) = rest.split_once('\t').unwrap_or((rest, ""));
        Some(KnownZone { name, tag, has_own_clock: mark == "own" })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::{Timestamp, ToSpan};

    /// The offsets from UTC at every second hour of a year, and at every week of ten more.
    fn offsets(zone: &TimeZone) -> Vec<i32> {
        let start: Timestamp = "2026-07-01T00:00:00Z".parse().unwrap();
        let later: Timestamp = "2027-07-01T00:00:00Z".parse().unwrap();
        let hours = start.series(2.hours()).take_while(|hour| *hour < later);
        let weeks = later.series(168.hours()).take(520);
        hours.chain(weeks).map(|instant| zone.to_offset(instant).seconds()).collect()
    }

    #[test]
    fn the_table_says_which_clocks_differ() {
        let tags: HashMap<&str, Vec<i32>> = rows()
            .map(|row| row.tag)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|tag| (tag, offsets(&zone(tag))))
            .collect();
        let wrong = |row: &KnownZone| {
            let name = if row.name == "America/Sao_Paolo" { "America/Sao_Paulo" } else { row.name };
            let zone = TimeZone::get(name).unwrap_or_else(|_| panic!("{name} is not in the rules"));
            (row.name != row.tag && tags[row.tag] != offsets(&zone)) != row.has_own_clock
        };
        let wrong: Vec<_> = rows().filter(wrong).map(|row| row.name).collect();
        assert!(wrong.is_empty(), "the marks of these zones are wrong: {wrong:?}");
    }

    #[test]
    fn every_known_zone_has_exactly_one_clock() {
        for row in rows() {
            let mut terms = vec![Term::Tag { group: TagGroup::fixed(GROUP), tag: Tag::fixed(row.tag) }];
            terms.extend(own_clock(row.name).map(|name| Term::OwnClock(name.to_owned())));
            let goes_by = |clock: &&DeviceClock| {
                terms.contains(&clock.term) && !clock.exceptions.iter().any(|exception| terms.contains(exception))
            };
            let found: Vec<_> = device_clocks().iter().filter(goes_by).collect();
            assert_eq!(found.len(), 1, "{}", row.name);
            let summer: Timestamp = "2027-07-01T00:00:00Z".parse().unwrap();
            assert_eq!(found[0].zone.to_offset(summer), zone(row.name).to_offset(summer), "{}", row.name);
        }
    }
}
