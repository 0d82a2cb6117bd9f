//! Who waits for pipelines, whom they have sent something, and whom the pushes are for that they send.

use std::time::Duration;

use model::ids::{AppId, PipelineId};
use model::time::UtcMillis;
use store::jobs::{self, Lane, NewJob};
use store::pipeline_sent::{self, SentKey};
use store::pipeline_spans::{self, SpanKey, Width};
use store::pipeline_timers::{self, TimerPart};
use store::{Error, push_audience, push_causes};

use crate::sample::{id, job_depth};
use crate::with_apps;

const APP: AppId = AppId(1);
const OTHER: AppId = AppId(2);

fn part(due: i64, block: u16, members: &[u8]) -> TimerPart {
    TimerPart { due: UtcMillis(due), block, members: members.to_vec(), causes: None }
}

#[tokio::test]
async fn those_who_wait_are_taken_out_by_instant() {
    with_apps(async |store, _| {
        let pipeline: PipelineId = id(7);
        let checked = store.write(APP, move |tx| {
            for part in [part(20, 1, &[1]), part(10, 1, &[2]), part(10, 0, &[3]), part(10, 0, &[4])] {
                pipeline_timers::put(tx, APP, pipeline, &part)?;
            }
            pipeline_timers::put(tx, OTHER, pipeline, &part(10, 0, &[9]))?;
            pipeline_timers::put(tx, APP, id(8), &part(10, 0, &[8]))?;
            let always = (UtcMillis(0), UtcMillis(i64::MAX));
            let waiting = pipeline_timers::between;
            assert_eq!(waiting(tx, APP, pipeline, 0, always)?, [part(10, 0, &[4])]);
            assert_eq!(waiting(tx, APP, pipeline, 1, always)?, [part(10, 1, &[2]), part(20, 1, &[1])]);
            assert_eq!(waiting(tx, APP, pipeline, 1, (UtcMillis(11), UtcMillis(20)))?, [part(20, 1, &[1])]);
            assert_eq!(waiting(tx, APP, pipeline, 1, (UtcMillis(10), UtcMillis(19)))?, [part(10, 1, &[2])]);
            assert_eq!(pipeline_timers::first_due(tx, APP, pipeline)?, Some(UtcMillis(10)));
            assert_eq!(pipeline_timers::get(tx, APP, pipeline, UtcMillis(20), 1)?, Some(part(20, 1, &[1])));
            let caused = TimerPart { causes: Some(vec![7]), ..part(10, 1, &[2]) };
            pipeline_timers::put(tx, APP, pipeline, &caused)?;
            assert_eq!(pipeline_timers::take(tx, APP, pipeline, UtcMillis(10))?, [part(10, 0, &[4]), caused]);
            assert_eq!(pipeline_timers::take(tx, APP, pipeline, UtcMillis(10))?, []);
            pipeline_timers::delete_part(tx, APP, pipeline, UtcMillis(20), 1)?;
            assert_eq!(pipeline_timers::get(tx, APP, pipeline, UtcMillis(20), 1)?, None);
            assert_eq!(pipeline_timers::delete_some(tx, APP, id(8), 9)?.len(), 1);
            assert_eq!(waiting(tx, APP, id(8), 0, always)?, []);
            assert_eq!(pipeline_timers::first_due(tx, APP, id(8))?, None);
            assert_eq!(waiting(tx, OTHER, pipeline, 0, always)?, [part(10, 0, &[9])]);
            Ok::<_, Error>(())
        });
        checked.await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn spans_are_found_by_time_and_forgotten() {
    with_apps(async |store, _| {
        let pipeline: PipelineId = id(7);
        let checked = store.write(APP, move |tx| {
            let width = Width(Duration::from_millis(100));
            let key = |block, number| SpanKey { block, width, number };
            assert_eq!(key(0, width.number(UtcMillis(199))).instants(), (UtcMillis(100), UtcMillis(199)));
            for (key, members) in [(key(0, 1), [1]), (key(0, 2), [2]), (key(1, 2), [3]), (key(0, 2), [4])] {
                pipeline_spans::put(tx, APP, pipeline, &key, members.to_vec())?;
            }
            pipeline_spans::put(tx, OTHER, pipeline, &key(0, 1), vec![9])?;
            let between = |tx: &mut store::Tx<'_>, app, first, last| {
                pipeline_spans::between(tx, app, pipeline, (0, width), (UtcMillis(first), UtcMillis(last)))
            };
            assert_eq!(between(tx, APP, 199, 200)?, [(key(0, 1), vec![1]), (key(0, 2), vec![4])]);
            assert_eq!(between(tx, APP, 200, 900)?, [(key(0, 2), vec![4])]);
            assert_eq!(pipeline_spans::get(tx, APP, pipeline, &key(1, 2))?, Some(vec![3]));
            // Those who wait are not known any more, whoever was.
            pipeline_timers::put(tx, APP, pipeline, &part(250, 0, &[1]))?;
            pipeline_timers::put(tx, APP, pipeline, &part(260, 0, &[1]))?;
            pipeline_timers::put(tx, APP, id(8), &part(300, 0, &[1]))?;
            pipeline_spans::put_unknown(tx, APP, pipeline, width)?;
            assert_eq!(between(tx, APP, 0, 900)?, [(key(0, 1), vec![1]), (key(0, 2), vec![])]);
            pipeline_spans::forget_before(tx, APP, pipeline, width, UtcMillis(200))?;
            assert_eq!(between(tx, APP, 0, 900)?, [(key(0, 2), vec![])]);
            pipeline_spans::delete(tx, APP, pipeline, &key(0, 2))?;
            assert_eq!(between(tx, APP, 0, 900)?, []);
            assert_eq!(pipeline_spans::delete_some(tx, APP, pipeline, 9)?, 1);
            assert_eq!(pipeline_spans::get(tx, APP, pipeline, &key(1, 2))?, None);
            assert_eq!(between(tx, OTHER, 0, 900)?, [(key(0, 1), vec![9])]);
            Ok::<_, Error>(())
        });
        checked.await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn what_was_sent_is_found_by_time_and_forgotten() {
    with_apps(async |store, _| {
        let pipeline: PipelineId = id(7);
        let checked = store.write(APP, move |tx| {
            let key = |slice, layer, block| SentKey { pipeline, slice, layer, block };
            for (n, key) in [key(-1, 0, 0), key(5, 0, 0), key(5, 1, 0), key(6, 0, 0), key(6, 0, 1)].iter().enumerate() {
                pipeline_sent::put(tx, APP, key, vec![u8::try_from(n).unwrap()])?;
            }
            pipeline_sent::put(tx, APP, &key(6, 0, 0), vec![9])?;
            assert_eq!(pipeline_sent::get(tx, APP, &key(6, 0, 0))?, Some(vec![9]));
            assert_eq!(pipeline_sent::get(tx, OTHER, &key(6, 0, 0))?, None);
            let within = |tx: &mut store::Tx<'_>, first, last| {
                let mut found = Vec::new();
                pipeline_sent::visit(tx, APP, pipeline, (first, last), 0, |slice, members| {
                    assert!((first..=last).contains(&slice));
                    found.push(members.to_vec());
                    Ok(())
                })?;
                found.sort();
                Ok::<_, Error>(found)
            };
            assert_eq!(within(tx, 5, 6)?, [vec![1], vec![2], vec![9]]);
            assert_eq!(within(tx, -1, -1)?, [vec![0]]);
            let mut between =
                |first, end, width| pipeline_sent::first_between(tx, APP, (pipeline, 0), (first, end), width);
            assert_eq!([between(0, 7, 6)?, between(0, 7, 5)?, between(0, 7, 4)?], [Some(5), Some(6), Some(5)]);
            assert_eq!([between(0, 5, 6)?, between(6, 9, 6)?], [None, None]);
            assert_eq!(pipeline_sent::forget_in_block(tx, APP, pipeline, 1, (0, 6))?, 0);
            let mut forget = |at_most| pipeline_sent::forget_slices(tx, APP, (0, 6), at_most);
            assert_eq!([forget(1)?, forget(9)?, forget(9)?], [1, 1, 0]);
            assert_eq!(within(tx, -1, 9)?.len(), 2);
            let mut forget = |at_most| pipeline_sent::forget_some(tx, APP, pipeline, at_most);
            assert_eq!([forget(2)?, forget(2)?, forget(2)?], [2, 1, 0]);
            assert!(within(tx, -1, 9)?.is_empty());
            Ok::<_, Error>(())
        });
        checked.await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_push_knows_whom_it_is_for_until_that_is_deleted() {
    with_apps(async |store, _| {
        let checked = store.write(APP, |tx| {
            for (app, push, block) in [(APP, 1, 2), (APP, 1, 0), (APP, 2, 0), (OTHER, 1, 0)] {
                push_audience::insert(tx, app, id(push), block, vec![u8::try_from(block).unwrap()])?;
            }
            assert_eq!(push_audience::parts(tx, APP, id(1))?, [vec![0], vec![2]]);
            push_audience::delete(tx, APP, id(1))?;
            assert!(push_audience::parts(tx, APP, id(1))?.is_empty());
            assert_eq!(
                (push_audience::parts(tx, APP, id(2))?.len(), push_audience::parts(tx, OTHER, id(1))?.len()),
                (1, 1)
            );
            Ok::<_, Error>(())
        });
        checked.await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn what_set_pushes_off_is_kept_with_them_until_they_are_old() {
    with_apps(async |store, _| {
        let checked = store.write(APP, |tx| {
            for (app, push, block) in [(APP, 1, 2), (APP, 1, 0), (APP, 2, 0), (OTHER, 1, 0)] {
                push_causes::insert(tx, app, id(push), block, vec![u8::try_from(block).unwrap()])?;
            }
            assert_eq!(push_causes::of(tx, APP, id(1), 2)?, Some(vec![2]));
            assert_eq!(push_causes::of(tx, APP, id(1), 1)?, None);
            assert_eq!(push_causes::of_all(tx, APP, [(id(1), 1), (id(1), 2)])?, [(id(1), vec![2])]);
            assert_eq!(push_causes::delete_before(tx, APP, id(2), 1)?, 1);
            assert_eq!(push_causes::delete_before(tx, APP, id(2), 9)?, 1);
            for (app, push, block, is_kept) in
                [(APP, 1, 0, false), (APP, 1, 2, false), (APP, 2, 0, true), (OTHER, 1, 0, true)]
            {
                assert_eq!(push_causes::of(tx, app, id(push), block)?.is_some(), is_kept);
            }
            Ok::<_, Error>(())
        });
        checked.await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_lane_is_called_off_together() {
    with_apps(async |store, _| {
        let checked = store.write(APP, |tx| {
            for (app, n, lane) in [(APP, 1, "a"), (APP, 2, "a"), (APP, 3, "b"), (OTHER, 1, "a")] {
                let (due, lane, payload) = (UtcMillis(1), lane.to_owned(), Vec::new());
                jobs::enqueue(tx, app, NewJob { id: id(n), kind: "test", lane, due, turn: 0, push: None, payload })?;
            }
            let lane = Lane { app: APP, name: "a".to_owned() };
            let n_canceled = [jobs::cancel_some(tx, &lane, 1)?, jobs::cancel_some(tx, &lane, 9)?];
            assert_eq!((n_canceled, job_depth(tx)?), ([1, 1], (2, 0)));
            Ok::<_, Error>(())
        });
        checked.await.unwrap();
    })
    .await;
}
