//! Sums of counts: of any range of hours, by hour and by day, whatever days and hours they are read from.

use std::collections::BTreeMap;
use std::ops::Range;

use model::device_type::DeviceType;
use model::ids::{AppId, PushId};
use model::origin::{Origin, Provenance};
use model::time::UtcMillis;
use proptest::collection::{btree_set, vec};
use proptest::prop_assert_eq;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use store::counters::{self, Grain, Metric, Pushes, Sum, Total};
use store::event_counters::{self, Conversion, Counted, EventTotal};
use store::{Store, Tx, origins};
use testkit::store::{Home, databases};

use crate::sample::id;
use crate::{make_apps, with_apps};

const APP: AppId = AppId(1);
const OTHER: AppId = AppId(2);
const METRICS: [Metric; 3] = [Metric::Sends, Metric::Opens, Metric::Created];
const PLATFORMS: [&str; 3] = ["ios", "android", "open::kiosk"];
const DAYS: i64 = 6;

/// One thing counted: which metric, in which hour, on which platform, how often.
type Count = (usize, i64, usize, u64);
/// Sums by metric, slot and device type.
type Sums = BTreeMap<(Metric, i64, DeviceType), i64>;

#[test]
fn sums_of_parts_are_the_sums_of_the_whole() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let homes: Vec<_> = databases().into_iter().map(Home::new).collect();
    let stores: Vec<_> = homes.iter().map(|home| runtime.block_on(home.open())).collect();
    stores.iter().for_each(|store| runtime.block_on(make_apps(store)));
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(32) });
    let counts = vec((0..METRICS.len(), 0..DAYS * 24, 0..PLATFORMS.len(), 0..1_000_000_u64), 0..60);
    let cuts = btree_set(0..=DAYS * 24, 2..5);
    let ran = runner.run(&(counts, cuts), |(counts, cuts)| {
        let cuts: Vec<i64> = cuts.into_iter().collect();
        stores.iter().try_for_each(|store| runtime.block_on(check(store, &counts, &cuts)))
    });
    for store in stores {
        runtime.block_on(store.close());
    }
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}

async fn check(store: &Store, counts: &[Count], cuts: &[i64]) -> Result<(), TestCaseError> {
    let counted = counts.to_vec();
    let write = store.write(APP, move |tx| {
        for table in ["counter", "counter_day", "push_origin", "push_counter", "group_counter", "group_counter_day"] {
            tx.execute(&format!("delete from {table}"), &[])?;
        }
        for (app, push) in [(APP, 0), (APP, 1), (APP, 2), (OTHER, 0)] {
            origins::insert(tx, app, id(push), &Provenance::of(Origin::Pipeline(id(100))))?;
        }
        // In two halves, so that counts are raised that are stored already and that are not.
        counted.iter().try_for_each(|count| add(tx, count, 1))
    });
    write.await.unwrap();
    let counted = counts.to_vec();
    store.write(APP, move |tx| counted.iter().try_for_each(|count| add(tx, count, 2))).await.unwrap();

    let whole = cuts[0]..cuts[cuts.len() - 1];
    for (grain, hours_per_slot) in [(Grain::Hour, 1), (Grain::Day, 24)] {
        let expected = naive(counts, &whole, hours_per_slot);
        prop_assert_eq!(&sums(store, &METRICS, whole.clone(), grain).await, &expected);
        let mut of_parts = Sums::new();
        for part in cuts.windows(2) {
            for (key, n) in sums(store, &METRICS, part[0]..part[1], grain).await {
                *of_parts.entry(key).or_default() += n;
            }
        }
        prop_assert_eq!(&of_parts, &expected);
        prop_assert_eq!(&sums_of_group(store, whole.clone(), grain).await, &expected);
        let opens = sums(store, &[Metric::Opens], whole.clone(), grain).await;
        let only = expected.into_iter().filter(|((metric, ..), _)| *metric == Metric::Opens).collect();
        prop_assert_eq!(opens, only);
    }
    let day = whole.end / 24;
    let until = store.read(move |tx| counters::totals_until(tx, APP, &METRICS, day)).await.unwrap();
    let until: Sums = until.into_iter().map(|Total { metric, device_type, n }| ((metric, 0, device_type), n)).collect();
    prop_assert_eq!(until, naive(counts, &(0..(day + 1) * 24), i64::MAX));
    Ok(())
}

/// Counts of another app are in the way of everything.
fn add(tx: &mut Tx<'_>, (metric, hour, platform, n): &Count, part: u64) -> store::Result<()> {
    let (metric, at, device_type) = (METRICS[*metric], UtcMillis::of_hour(*hour), &device_type(*platform));
    let n = if part == 1 { n / 2 } else { n - n / 2 };
    counters::add(tx, OTHER, metric, at, device_type, 7)?;
    counters::add_of_push(tx, OTHER, id(0), metric, at, device_type, 7)?;
    // What the app counts is due to three pushes of a group, and something is due to a push of none.
    let push = id(u32::try_from(hour % 3).unwrap());
    counters::add_of_push(tx, APP, push, metric, at, device_type, n)?;
    counters::add_of_push(tx, APP, id(7), metric, at, device_type, n)?;
    counters::add(tx, APP, metric, at, device_type, n)
}

async fn sums(store: &Store, metrics: &'static [Metric], hours: Range<i64>, grain: Grain) -> Sums {
    told_once(store.read(move |tx| counters::sums(tx, APP, metrics, &hours, grain)).await.unwrap())
}

async fn sums_of_group(store: &Store, hours: Range<i64>, grain: Grain) -> Sums {
    let group = Pushes::Group(id::<()>(100).uuid());
    let read = store.read(move |tx| counters::sums_of_pushes(tx, APP, group, &METRICS, &hours, grain));
    told_once(read.await.unwrap())
}

fn told_once(read: Vec<Sum>) -> Sums {
    let n_sums = read.len();
    let sums: Sums =
        read.into_iter().map(|Sum { metric, slot, device_type, n }| ((metric, slot, device_type), n)).collect();
    assert_eq!(sums.len(), n_sums, "every sum is told once");
    sums
}

fn device_type(platform: usize) -> DeviceType {
    DeviceType::from_name(PLATFORMS[platform]).unwrap()
}

fn naive(counts: &[Count], hours: &Range<i64>, hours_per_slot: i64) -> Sums {
    let mut sums = Sums::new();
    for (metric, hour, platform, n) in counts.iter().filter(|(_, hour, ..)| hours.contains(hour)) {
        let key = (METRICS[*metric], hour / hours_per_slot, device_type(*platform));
        *sums.entry(key).or_default() += i64::try_from(*n).unwrap();
    }
    sums
}

#[tokio::test]
async fn pushes_are_counted_alone_and_in_groups() {
    with_apps(async |store, _| {
        let schedule = Origin::Schedule(id(100));
        let group = schedule.group().unwrap();
        let write = store.write(APP, move |tx| {
            for push in [1, 2] {
                origins::insert(tx, APP, id(push), &Provenance::of(schedule))?;
            }
            origins::insert(tx, APP, id(3), &Provenance::of(Origin::Template(id(101))))?;
            origins::insert(tx, OTHER, id(1), &Provenance::of(schedule))?;
            for (app, push, hour, n) in
                [(APP, 1, 3, 1), (APP, 1, 30, 2), (APP, 2, 3, 4), (APP, 3, 3, 8), (OTHER, 1, 3, 16)]
            {
                let (push, at): (PushId, _) = (id(push), UtcMillis::of_hour(hour));
                counters::add_of_push(tx, app, push, Metric::Sends, at, &DeviceType::Ios, n)?;
            }
            Ok::<_, store::Error>(())
        });
        write.await.unwrap();
        let read = store.read(move |tx| {
            let metrics = [Metric::Sends, Metric::DirectResponses];
            let total = |n| vec![Total { metric: Metric::Sends, device_type: DeviceType::Ios, n }];
            let one = Pushes::One(id(1));
            assert_eq!(counters::totals_of_pushes(tx, APP, one, &metrics)?, total(3));
            assert_eq!(counters::totals_of_pushes(tx, APP, Pushes::Group(group), &metrics)?, total(7));
            assert_eq!(counters::totals_of_pushes(tx, OTHER, Pushes::Group(group), &metrics)?, total(16));
            assert_eq!(counters::totals_of_pushes(tx, APP, one, &[Metric::Opens])?, []);
            let each = counters::totals_of_each(tx, APP, &[id(3), id(9), id(2)], &metrics)?;
            let each: Vec<_> = each.into_iter().map(|found| (found.push, found.total.n)).collect();
            assert_eq!(each, [(id(3), 8), (id(2), 4)]);
            let sum = |slot, n| Sum { metric: Metric::Sends, slot, device_type: DeviceType::Ios, n };
            let days = counters::sums_of_pushes(tx, APP, Pushes::Group(group), &metrics, &(3..31), Grain::Day)?;
            assert_eq!(sorted(days), [sum(0, 5), sum(1, 2)]);
            let hours = counters::sums_of_pushes(tx, APP, one, &metrics, &(4..31), Grain::Hour)?;
            assert_eq!(hours, [sum(30, 2)]);
            assert_eq!(origins::first_of_group(tx, APP, group)?, Some((id(1), schedule)));
            let template = Origin::Template(id(101)).id().unwrap();
            assert_eq!(origins::first_of_group(tx, APP, template)?, None, "pushes of a template are no group");
            Ok::<_, store::Error>(())
        });
        read.await.unwrap();
    })
    .await;
}

fn sorted(mut sums: Vec<Sum>) -> Vec<Sum> {
    sums.sort_by_key(|sum| sum.slot);
    sums
}

#[tokio::test]
async fn custom_events_are_added_up_by_name() {
    with_apps(async |store, _| {
        let sum = |n: u64, millionths: f64| event_counters::Sum { n, millionths };
        for (hour, name, conversion, push, n) in [
            (5, "buy", Conversion::Direct, Some(id(1)), 1),
            (5, "buy", Conversion::Direct, Some(id(2)), 2),
            (30, "buy", Conversion::Unattributed, None, 4),
            (30, "buy", Conversion::Direct, Some(id(1)), 8),
            (71, "add", Conversion::Indirect, Some(id(1)), 16),
        ] {
            let counted = Counted::at(UtcMillis::of_hour(hour), name, conversion, push);
            let write =
                store.write(APP, move |tx| event_counters::add(tx, APP, counted.clone(), sum(n, n as f64 * 500.0)));
            write.await.unwrap();
        }
        let total = |name: &str, conversion, n: u64| EventTotal {
            name: name.to_owned(),
            conversion,
            sum: sum(n, n as f64 * 500.0),
        };
        let (direct, unattributed) = (Conversion::Direct, Conversion::Unattributed);
        let add = total("add", Conversion::Indirect, 16);
        let table = [
            (0..72, vec![add.clone(), total("buy", direct, 11), total("buy", unattributed, 4)]),
            (0..71, vec![total("buy", direct, 11), total("buy", unattributed, 4)]),
            (5..30, vec![total("buy", direct, 3)]),
            (6..72, vec![add.clone(), total("buy", direct, 8), total("buy", unattributed, 4)]),
            (25..29, vec![]),
            (70..72, vec![add.clone()]),
        ];
        for (hours, expected) in table {
            let range = hours.clone();
            let found = store.read(move |tx| event_counters::totals(tx, APP, &range)).await.unwrap();
            assert_eq!(found, expected, "{hours:?}");
        }
        let of_push = store.read(|tx| event_counters::totals_of_pushes(tx, APP, Pushes::One(id(1)))).await.unwrap();
        assert_eq!(of_push, [add, total("buy", direct, 9)]);
        assert_eq!(store.read(|tx| event_counters::totals(tx, OTHER, &(0..72))).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn groups_have_what_their_pushes_counted() {
    with_apps(async |store, _| {
        let origins = [Origin::Schedule(id(100)), Origin::Experiment(id(101)), Origin::Pipeline(id(102))];
        let write = store.write(APP, move |tx| {
            for (n, origin) in (0..).zip(origins) {
                for push in [n, n + 10] {
                    origins::insert(tx, APP, id(push), &Provenance::of(origin))?;
                    for hour in [5, 6, 30] {
                        let at = UtcMillis::of_hour(hour);
                        counters::add_of_push(
                            tx,
                            APP,
                            id(push),
                            Metric::Sends,
                            at,
                            &DeviceType::Ios,
                            u64::from(push + 1),
                        )?;
                        let counted = Counted::at(at, "buy", Conversion::Direct, Some(id(push)));
                        event_counters::add(tx, APP, counted, event_counters::Sum { n: 2, millionths: 3.0 })?;
                    }
                }
            }
            origins::insert(tx, APP, id(50), &Provenance::of(Origin::Template(id(103))))?;
            counters::add_of_push(tx, APP, id(50), Metric::Sends, UtcMillis::of_hour(5), &DeviceType::Ios, 1)
        });
        write.await.unwrap();
        let group = Pushes::Group(origins[0].group().unwrap());
        let read = store.read(move |tx| {
            let hours = counters::sums_of_pushes(tx, APP, group, &METRICS, &(0..99), Grain::Hour)?;
            let days = counters::sums_of_pushes(tx, APP, group, &METRICS, &(0..96), Grain::Day)?;
            let events = event_counters::totals_of_pushes(tx, APP, group)?;
            Ok::<_, store::Error>((sorted(hours), sorted(days), events))
        });
        let (hours, days, events) = read.await.unwrap();
        assert_eq!(hours.iter().map(|sum| sum.n).collect::<Vec<_>>(), [12, 12, 12]);
        assert_eq!(days.iter().map(|sum| sum.n).collect::<Vec<_>>(), [24, 12]);
        assert_eq!(events[0].sum, event_counters::Sum { n: 12, millionths: 18.0 });
    })
    .await;
}

#[tokio::test]
async fn a_group_is_forgotten_in_steps() {
    with_apps(async |store, _| {
        let (one, other) = (Origin::Pipeline(id(100)), Origin::Pipeline(id(101)));
        let write = store.write(APP, move |tx| {
            for (app, push, origin) in [(APP, 1, one), (APP, 2, other), (OTHER, 1, one)] {
                origins::insert(tx, app, id(push), &Provenance::of(origin))?;
                for hour in 0..4 {
                    let at = UtcMillis::of_hour(hour);
                    counters::add_of_push(tx, app, id(push), Metric::Sends, at, &DeviceType::Ios, 1)?;
                }
                let counted = Counted::at(UtcMillis(0), "buy", Conversion::Direct, Some(id(push)));
                event_counters::add(tx, app, counted, event_counters::Sum { n: 2, millionths: 3.0 })?;
            }
            Ok::<_, store::Error>(())
        });
        write.await.unwrap();
        let group = one.group().unwrap();
        for n_forgotten in [3, 3, 0] {
            let forget = store.write(APP, move |tx| counters::forget_group(tx, APP, group, 3));
            assert_eq!(forget.await.unwrap(), n_forgotten);
        }
        for table in ["group_counter", "group_counter_day", "group_event"] {
            let n = if table == "group_counter" { 4 } else { 1 };
            for app in [APP, OTHER] {
                assert_eq!(crate::schema::count(store, table, app).await, n, "{table}");
            }
        }
    })
    .await;
}
