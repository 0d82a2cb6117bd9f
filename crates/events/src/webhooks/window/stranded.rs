//! Waits that a wrong clock has set.

use model::time::UtcMillis;

use super::Window;

impl Window {
    /// Ends waits that were set by a clock which has been put right since.
    pub(in crate::webhooks) fn end_stranded_waits(&mut self, now: UtcMillis) {
        self.breaker.end_stranded_wait(now);
        while let Some((retry_at, number)) = self.waiting.pop_last() {
            let is_stranded = retry_at.end_of_wait(now) != retry_at;
            self.waiting.insert((retry_at.end_of_wait(now), number));
            if !is_stranded {
                break;
            }
            if let Some(trouble) = &mut self.held.at_mut(number).trouble {
                trouble.retry_at = now;
            }
        }
    }
}
