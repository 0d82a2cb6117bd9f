//! The meaning of an experiment's figures, in plain words.

use super::{Difference, Outcome, difference};

/// Says which variant is better, and whether it is better than nothing, as far as that is known. Variants are given with
/// their titles.
pub fn verdict(variants: &[(String, Outcome)], control: Option<Outcome>) -> String {
    let mut sent: Vec<_> =
        variants.iter().filter_map(|(name, outcome)| Some((name, *outcome, outcome.rate()?))).collect();
    // Of equals the first comes first.
    sent.sort_by(|(.., one), (.., other)| other.total_cmp(one));
    let [(best, outcome, rate), others @ ..] = sent.as_slice() else { return "Nothing has been sent yet.".to_owned() };
    let mut sentences = Vec::new();
    if let [(second, other, other_rate), ..] = others
        && let Some(difference) = difference(*outcome, *other)
    {
        let (rate, other_rate, range) = (percent(*rate), percent(*other_rate), range(&difference));
        sentences.push(match difference.is_clear() {
            true => format!(
                "Variant {best} is better than {second}: {rate} of those chosen for it opened the app within 12 hours, against \
                 {other_rate}; the difference is {range}."
            ),
            false => format!(
                "There is no clear difference yet: {rate} of those chosen for {best} opened the app within 12 hours, and \
                 {other_rate} of those chosen for {second}; the difference is {range}."
            ),
        });
    }
    if let Some(difference) = control.and_then(|control| difference(*outcome, control)) {
        let (rate, range) = (percent(*rate), range(&difference));
        let nothing = control.and_then(Outcome::rate).map(percent).unwrap_or_default();
        let figures = format!(
            "{rate} of those chosen for it opened the app, {nothing} of those who got nothing; the difference is {range}"
        );
        sentences.push(match (difference.is_clear(), difference.by > 0.0) {
            (true, true) => format!("Variant {best} is better than sending nothing: {figures}."),
            (true, false) => format!("Sending nothing is better than variant {best}: {figures}."),
            (false, _) => {
                format!("It is not clear yet whether variant {best} is better than sending nothing: {figures}.")
            }
        });
    }
    match sentences.is_empty() {
        true => "There is nothing to compare yet.".to_owned(),
        false => sentences.join(" "),
    }
}

fn percent(rate: f64) -> String {
    format!("{:.1} %", rate * 100.0)
}

fn range(difference: &Difference) -> String {
    let (low, high) = (difference.interval.low * 100.0, difference.interval.high * 100.0);
    format!("between {low:.1} and {high:.1} percentage points")
}
