//! The forms of experiments, the fair division of channels, and intervals against those of the literature.

use serde_json::{Value, json};

use super::*;
use crate::ids::{ExperimentId, Ordinal};
use crate::json::parse;

fn read(body: &Value) -> Result<Experiment, Vec<String>> {
    let parsed = parse(body.to_string().as_bytes(), Experiment::parse);
    parsed.map_err(|problems| problems.iter().map(|problem| problem.path.clone()).collect())
}

fn two() -> Value {
    json!({
        "name": "Colors", "audience": {"tag": "news"}, "device_types": ["ios", "android"], "control": 0.25,
        "campaigns": {"categories": ["spring"]},
        "variants": [
            {"id": 0, "name": "Red", "weight": 2, "push": {"notification": {"alert": "Red"}},
             "schedule": {"scheduled_time": "2030-01-01T00:00:00"}},
            {"id": 1, "push": {"notification": {"alert": "Blue"}, "options": {"expiry": 60}}},
        ],
    })
}

fn with(path: &str, value: Value) -> Value {
    let mut body = two();
    *body.pointer_mut(path).unwrap() = value;
    body
}

#[test]
fn an_experiment_is_printed_as_it_came() {
    let experiment = read(&two()).unwrap();
    assert_eq!(serde_json::to_value(&experiment).unwrap(), two());
    let weights: Vec<u32> = experiment.variants.iter().map(Variant::weight).collect();
    assert_eq!(weights, [2, 1]);
    assert_eq!(experiment.variants.iter().map(Variant::title).collect::<Vec<_>>(), ["Red", "B"]);
    let pushes: Vec<Value> = experiment.pushes().map(|push| serde_json::to_value(push).unwrap()).collect();
    assert_eq!(
        pushes[1],
        json!({
            "audience": {"tag": "news"}, "device_types": ["ios", "android"], "campaigns": {"categories": ["spring"]},
            "notification": {"alert": "Blue"}, "options": {"expiry": 60},
        })
    );
    let mut alone = two();
    alone["variants"].as_array_mut().unwrap().pop();
    assert!(read(&alone).is_ok(), "a variant can be compared with the control group");
}

#[test]
fn problems_are_where_they_can_be_solved() {
    let variant = json!({"push": {"notification": {"alert": "x"}}});
    let recurring =
        json!({"scheduled_time": "2030-01-01T00:00", "recurring": {"cadence": {"type": "daily", "count": 1}}});
    for (body, paths) in [
        (with("/variants", json!([])), vec!["variants"]),
        (with("/variants", json!(vec![variant.clone(); 27])), vec!["variants"]),
        (with("/control", json!(1.5)), vec!["control"]),
        (with("/control", json!("half")), vec!["control"]),
        (with("/audience", json!("none")), vec!["audience"]),
        (
            with("/audience", json!({"amazon_channel": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5"})),
            vec!["audience.amazon_channel"],
        ),
        (
            with("/device_types", json!(["open::kiosk", "email"])),
            vec!["variants[0].push.notification.email", "variants[1].push.notification.email"],
        ),
        (with("/variants/0/push", json!({"notification": {"android": {"alert": "x"}}})), vec!["variants[0].push"]),
        (with("/variants/1/push", json!({})), vec!["variants[1].push.notification"]),
        (
            with("/variants/1/push/notification", json!({"alert": 1, "colour": 2})),
            vec!["variants[1].push.notification.alert", "variants[1].push.notification.colour"],
        ),
        (
            with("/variants/1/push/options", json!({"redact_payload": true})),
            vec!["variants[1].push.options.redact_payload"],
        ),
        (with("/variants/0/weight", json!(0)), vec!["variants[0].weight"]),
        (with("/variants/0/weight", json!(0.5)), vec!["variants[0].weight"]),
        (with("/variants/0/schedule", recurring), vec!["variants[0].schedule.recurring"]),
        (
            with("/variants/0/schedule", json!({"best_time": {"send_date": "2030-01-01"}})),
            vec!["variants[0].schedule.best_time"],
        ),
        (
            with("/variants/0", json!({"push": {"notification": {"alert": "x"}}, "wieght": 1})),
            vec!["variants[0].wieght"],
        ),
        (with("/campaigns", json!({})), vec!["campaigns.categories"]),
    ] {
        assert_eq!(read(&body).unwrap_err(), paths, "{body}");
    }
    for key in ["audience", "device_types", "campaigns", "message", "localizations"] {
        let mut body = two();
        body["variants"][0]["push"][key] = json!("all");
        assert_eq!(read(&body).unwrap_err(), [format!("variants[0].push.{key}")]);
    }
    let mut alone = with("/control", json!(0.0));
    alone["variants"].as_array_mut().unwrap().pop();
    assert_eq!(read(&alone).unwrap_err(), ["variants"]);
    let mut bare = two();
    for key in ["audience", "device_types", "variants"] {
        bare.as_object_mut().unwrap().remove(key);
    }
    assert_eq!(read(&bare).unwrap_err(), ["audience", "device_types", "variants"]);
}

#[test]
fn shares_cover_everything_once() {
    for (control, weights) in
        [(0.0, vec![1, 1]), (0.25, vec![2, 1]), (1.0, vec![1]), (0.1, vec![1; 26]), (0.5, vec![1_000_000, 1])]
    {
        let shares = Shares::new(control, &weights);
        let all: Vec<Share> = std::iter::once(shares.control).chain(shares.variants.clone()).collect();
        assert_eq!((all[0].from, all.last().unwrap().to), (0, assignment_end()));
        assert!(all.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert!((shares.control.fraction() - control).abs() < 1e-9);
        let whole: u32 = weights.iter().sum();
        for (share, weight) in shares.variants.iter().zip(&weights) {
            let wanted = (1.0 - control) * f64::from(*weight) / f64::from(whole);
            assert!((share.fraction() - wanted).abs() < 1e-9);
            assert_eq!(share.is_empty(), control >= 1.0);
        }
    }
}

fn assignment_end() -> u64 {
    Shares::new(1.0, &[]).control.to
}

/// Which of ten parts each ordinal is in.
fn tenths(experiment: u128, n: u32) -> Vec<usize> {
    let assignment = Assignment::of(ExperimentId::from_uuid(uuid::Uuid::from_u128(experiment)));
    let shares = Shares::new(0.0, &[1; 10]);
    let tenth =
        |ordinal| shares.variants.iter().position(|share| share.contains(assignment.position(Ordinal(ordinal))));
    (0..n).map(|ordinal| tenth(ordinal).unwrap()).collect()
}

fn chi_square(counts: &[f64]) -> f64 {
    let wanted = counts.iter().sum::<f64>() / counts.len() as f64;
    counts.iter().map(|count| (count - wanted).powi(2) / wanted).sum()
}

#[test]
fn channels_are_divided_uniformly() {
    // For nine degrees of freedom, 27.88 is exceeded by chance once in a thousand; the experiments are fixed, so this is no gamble.
    for experiment in [1, 2, 3, u128::MAX, 0x018f_3f5b_0000_7000_8000_0000_0000_0001] {
        let mut counts = [0.0; 10];
        tenths(experiment, 100_000).into_iter().for_each(|tenth| counts[tenth] += 1.0);
        assert!(chi_square(&counts) < 27.88, "{experiment:x}: {counts:?}");
    }
}

#[test]
fn experiments_have_nothing_to_do_with_each_other() {
    // Ids that differ by as little as ids can. For 99 degrees of freedom, 148.23 is exceeded by chance once in a thousand.
    for (one, other) in [(1, 2), (7 << 64, 8 << 64), (1, 1 << 64), (0xabcd, 0xabcd ^ (1 << 127))] {
        let mut counts = [0.0; 100];
        for (a, b) in tenths(one, 100_000).into_iter().zip(tenths(other, 100_000)) {
            counts[a * 10 + b] += 1.0;
        }
        assert!(chi_square(&counts) < 148.23, "{one:x} and {other:x}: {counts:?}");
    }
}

#[test]
fn places_never_change() {
    let assignment = Assignment::of(ExperimentId::from_uuid(uuid::Uuid::from_u128(7)));
    let positions: Vec<u64> = [0, 1, 65_536, u32::MAX].into_iter().map(|n| assignment.position(Ordinal(n))).collect();
    assert_eq!(positions, POSITIONS_OF_SEVEN);
}

/// Running experiments depend on these.
const POSITIONS_OF_SEVEN: [u64; 4] =
    [2_958_203_587_492_184, 2_122_474_289_876_450, 8_976_421_587_470_304, 3_049_279_307_696_783];

fn close(actual: f64, wanted: f64) -> bool {
    (actual - wanted).abs() < 0.000_05
}

#[test]
fn intervals_are_those_of_the_books() {
    // Newcombe (1998), "Two-sided confidence intervals for the single proportion", method 3.
    for (responded, sent, low, high) in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ] {
        let found = interval(Outcome::new(sent, responded)).unwrap();
        assert!(close(found.low, low) && close(found.high, high), "{responded} of {sent}: {found:?}");
    }
    assert_eq!(interval(Outcome::new(0, 0)), None);
    assert_eq!(Outcome::new(10, 12).responded(), 10);
}

#[test]
fn differences_are_those_of_the_books() {
    // Newcombe (1998), "Interval estimation for the difference between independent proportions", method 10.
    for (one, other, low, high) in [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ] {
        let found = difference(Outcome::new(one.1, one.0), Outcome::new(other.1, other.0)).unwrap();
        assert!(close(found.interval.low, low) && close(found.interval.high, high), "{one:?} {other:?}: {found:?}");
        assert_eq!(found.is_clear(), low > 0.0 || high < 0.0);
    }
    assert_eq!(difference(Outcome::new(0, 0), Outcome::new(5, 1)), None);
}

#[test]
fn verdicts_say_what_is_known() {
    let named = |outcomes: &[(u64, u64)]| -> Vec<(String, Outcome)> {
        let each = ["A", "B", "C"].into_iter().zip(outcomes);
        each.map(|(name, (sent, responded))| (name.to_owned(), Outcome::new(*sent, *responded))).collect()
    };
    let control = |sent, responded| Some(Outcome::new(sent, responded));
    for (outcomes, control, wanted) in [
        (vec![(0, 0), (0, 0)], None, vec!["Nothing has been sent yet."]),
        (vec![(100, 5), (0, 0)], None, vec!["There is nothing to compare yet."]),
        (
            vec![(70, 56), (80, 48)],
            None,
            vec!["Variant A is better than B: 80.0 % of", "against 60.0 %", "between 5.2 and 33.4 percentage points."],
        ),
        (
            vec![(10, 1), (20, 9), (1000, 300)],
            None,
            vec!["There is no clear difference yet: 45.0 %", "30.0 %", "chosen for C"],
        ),
        (vec![(10, 5), (10, 5)], None, vec!["There is no clear difference yet: 50.0 % of those chosen for A"]),
        (
            vec![(70, 56)],
            control(80, 48),
            vec!["Variant A is better than sending nothing: 80.0 %", "60.0 % of those who got nothing"],
        ),
        (vec![(80, 48)], control(70, 56), vec!["Sending nothing is better than variant A:", "between -33.4 and -5.2"]),
        (
            vec![(80, 48)],
            control(80, 48),
            vec!["It is not clear yet whether variant A is better than sending nothing:"],
        ),
        (vec![(70, 56), (80, 48)], control(0, 0), vec!["Variant A is better than B"]),
    ] {
        let said = verdict(&named(&outcomes), control);
        assert!(wanted.iter().all(|part| said.contains(part)) && said.ends_with('.'), "{said}");
    }
}
