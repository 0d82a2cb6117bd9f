//! The doctor's check of the certificate of the server on this machine.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use model::time::{Clock, UtcMillis};

use super::Finding;

/// Tools that renew certificates do so earlier.
const SOON: Duration = Duration::from_secs(14 * 24 * 60 * 60);

pub(super) fn finding(path: &Path) -> Result<Finding> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("{shown} cannot be read"))?;
    let end = providers::leaf_expiry(&text).map_err(|why| anyhow!("{shown} cannot be used. {why}"))?;
    judge(&shown.to_string(), end, Clock::System.now())
}

fn judge(shown: &str, end: UtcMillis, now: UtcMillis) -> Result<Finding> {
    let day = end.to_date();
    if end <= now {
        bail!("{shown} has run out on {day}: nobody trusts the server any more; renew it.");
    }
    Ok(if end <= now.plus(SOON) {
        Finding::Soon(format!("{shown} runs out on {day}, and has not been renewed yet."))
    } else {
        Finding::Fine(format!("{shown} is valid until {day}."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_told_of_before_it_runs_out() {
        let now = UtcMillis(1_767_225_600_000);
        let fine = judge("a.pem", now.plus(SOON).plus(Duration::from_secs(1)), now);
        assert!(matches!(fine, Ok(Finding::Fine(text)) if text == "a.pem is valid until 2026-01-15."));
        assert!(matches!(judge("a.pem", now.plus(SOON), now), Ok(Finding::Soon(_))));
        assert!(judge("a.pem", now, now).is_err_and(|error| error.to_string().contains("has run out on 2026-01-01")));
    }
}
