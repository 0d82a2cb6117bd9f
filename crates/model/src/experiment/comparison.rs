//! How certain the results of an experiment are: intervals that contain the truth 95 times out of 100.

/// The middle 95 % of a normal distribution lie within this many standard deviations.
const Z: f64 = 1.959_963_984_540_054;

/// The result of sending a push to some channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub sent: u64,
    /// How many of them responded; never more than were sent to.
    responded: u64,
}

/// Shares from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// By how much one rate is higher than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub by: f64,
    pub interval: Interval,
}

impl Outcome {
    pub fn new(sent: u64, responded: u64) -> Self {
        Self { sent, responded: responded.min(sent) }
    }

    pub const fn responded(self) -> u64 {
        self.responded
    }

    /// `None` when nothing was sent.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer channels than a float can count")]
    pub fn rate(self) -> Option<f64> {
        (self.sent > 0).then(|| self.responded as f64 / self.sent as f64)
    }
}

/// Where the true rate lies (Wilson's score interval, which holds for small numbers and for rates near 0 and 1).
#[expect(clippy::cast_precision_loss, reason = "there are fewer channels than a float can count")]
pub fn interval(outcome: Outcome) -> Option<Interval> {
    let (rate, n) = (outcome.rate()?, outcome.sent as f64);
    let scale = 1.0 + Z * Z / n;
    let center = (rate + Z * Z / (2.0 * n)) / scale;
    let reach = Z / scale * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some(Interval { low: (center - reach).max(0.0), high: (center + reach).min(1.0) })
}

/// By how much the first rate is higher than the second (Newcombe's hybrid score interval). `None` unless both were sent.
pub fn difference(first: Outcome, second: Outcome) -> Option<Difference> {
    let (one, other) = (first.rate()?, second.rate()?);
    let (around_one, around_other) = (interval(first)?, interval(second)?);
    let by = one - other;
    let low = by - (one - around_one.low).hypot(around_other.high - other);
    let high = by + (around_one.high - one).hypot(other - around_other.low);
    Some(Difference { by, interval: Interval { low, high } })
}

impl Difference {
    /// Whether chance alone is an unlikely explanation.
    pub fn is_clear(&self) -> bool {
        self.interval.low > 0.0 || self.interval.high < 0.0
    }
}
