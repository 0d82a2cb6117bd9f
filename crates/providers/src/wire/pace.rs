//! How many requests are of use at once, judged by how long answers take: once they wait in a queue, more requests only make
//! the queue longer, and cost memory.

use std::time::Duration;

use tokio::time::Instant;

/// This many cost little, however slow the answers are.
const LEAST: usize = 500;

/// Answers that take longer than twice the fastest and this much more have waited somewhere.
const SLACK: Duration = Duration::from_millis(20);

/// The fastest answer is forgotten after this long, because the way to a provider can become longer.
const MEMORY: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Pace {
    n_useful: usize,
    fastest: Duration,
    fastest_lately: Duration,
    lately_since: Instant,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { n_useful: LEAST, fastest: Duration::MAX, fastest_lately: Duration::MAX, lately_since: now }
    }

    pub(super) fn n_useful(&self) -> usize {
        self.n_useful
    }

    /// Notes the latency of an answer while `n_open` requests were under way.
    pub(super) fn answered(&mut self, latency: Duration, n_open: usize, now: Instant) {
        self.fastest_lately = self.fastest_lately.min(latency);
        self.fastest = self.fastest.min(latency);
        if now.duration_since(self.lately_since) >= MEMORY {
            (self.fastest, self.fastest_lately) = (self.fastest_lately, Duration::MAX);
            self.lately_since = now;
        }
        let has_queued = latency > self.fastest.saturating_mul(2).saturating_add(SLACK);
        if has_queued {
            self.n_useful = (self.n_useful - 1).max(LEAST);
        } else if n_open * 2 >= self.n_useful {
            self.n_useful += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_millis(10);
    const QUEUED: Duration = Duration::from_millis(41);

    fn answers(pace: &mut Pace, n: usize, latency: Duration, n_open: usize, now: Instant) {
        for _ in 0..n {
            pace.answered(latency, n_open, now);
        }
    }

    #[test]
    fn grows_with_quick_answers_while_it_is_used_and_shrinks_with_queues() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        answers(&mut pace, 50, QUICK, 10, now);
        assert_eq!(pace.n_useful(), LEAST, "hardly anything was under way");
        answers(&mut pace, 50, QUICK, LEAST, now);
        assert_eq!(pace.n_useful(), LEAST + 50);
        answers(&mut pace, 20, QUEUED, LEAST, now);
        assert_eq!(pace.n_useful(), LEAST + 30);
        answers(&mut pace, 1000, QUEUED, LEAST, now);
        assert_eq!(pace.n_useful(), LEAST);
    }

    #[test]
    fn a_longer_way_is_learned() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        answers(&mut pace, 1, QUICK, LEAST, now);
        let far = Duration::from_millis(200);
        answers(&mut pace, 10, far, LEAST, now);
        assert_eq!(pace.n_useful(), LEAST, "this looks like a queue");
        // Two periods later only the new way is known.
        answers(&mut pace, 1, far, LEAST, now + MEMORY);
        answers(&mut pace, 6, far, LEAST, now + MEMORY * 2);
        assert_eq!(pace.n_useful(), LEAST + 6);
    }
}
