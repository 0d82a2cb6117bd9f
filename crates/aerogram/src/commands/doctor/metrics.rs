//! The doctor's checks of `/metrics`: overdue jobs, webhooks that are behind, and live connections that there are no files for.

use std::collections::BTreeMap;

use anyhow::Result;

use super::Finding;
use crate::client::Client;

/// A job of a dead node is taken over by another within 15 seconds. A job that waits for longer than this has no worker.
const MOST_OVERDUE_SECONDS: i64 = 60;
/// A webhook that is busy, or was down for a moment, catches up within this time.
const MOST_BEHIND_SECONDS: i64 = 300;

/// The few metrics that show problems.
#[derive(Default)]
pub(super) struct Metrics {
    /// Absent, like the next, while the server cannot read them from its database.
    jobs_overdue: Option<i64>,
    jobs_overdue_seconds: Option<i64>,
    /// Not told by servers of earlier versions.
    live_connections_lacking: Option<i64>,
    /// By app and id.
    webhooks: BTreeMap<(String, String), Webhook>,
}

#[derive(Default)]
struct Webhook {
    seconds_behind: i64,
    is_failing: bool,
    is_disabled: bool,
    dead_letters: i64,
}

impl Metrics {
    pub(super) async fn ask(client: &Client) -> Result<Self> {
        Ok(Self::read(client.get("/metrics").await?.text()?))
    }

    fn read(text: &str) -> Self {
        let mut metrics = Self::default();
        for line in text.lines() {
            // A sample is a name, perhaps with labels, and a value.
            let Some((series, value)) = line.rsplit_once(' ') else { continue };
            let Ok(value) = value.parse::<i64>() else { continue };
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            match name {
                "aerogram_jobs_overdue" => metrics.jobs_overdue = Some(value),
                "aerogram_jobs_overdue_seconds" => metrics.jobs_overdue_seconds = Some(value),
                "aerogram_live_connections_lacking" => metrics.live_connections_lacking = Some(value),
                "aerogram_webhook_seconds_behind" => metrics.webhook(labels).seconds_behind = value,
                "aerogram_webhook_failing" => metrics.webhook(labels).is_failing = value != 0,
                "aerogram_webhook_disabled" => metrics.webhook(labels).is_disabled = value != 0,
                "aerogram_webhook_dead_letters" => metrics.webhook(labels).dead_letters = value,
                _ => {}
            }
        }
        metrics
    }

    fn webhook(&mut self, labels: &str) -> &mut Webhook {
        self.webhooks.entry((label(labels, "app"), label(labels, "webhook"))).or_default()
    }

    pub(super) fn jobs(&self) -> Finding {
        match (self.jobs_overdue, self.jobs_overdue_seconds) {
            (Some(n), Some(seconds)) if seconds > MOST_OVERDUE_SECONDS => Finding::Wrong(format!(
                "{n} jobs are due and wait for a worker, the first for {seconds} s; is a node with the role `worker` running?"
            )),
            (Some(_), Some(_)) => Finding::Fine("No job waits for long.".to_owned()),
            (_, None) | (None, _) => Finding::Note("The server does not tell whether jobs wait.".to_owned()),
        }
    }

    pub(super) fn live_connections(&self) -> Finding {
        match self.live_connections_lacking {
            Some(0) => {
                Finding::Fine("The limit of open files allows all live connections that the settings do.".to_owned())
            }
            Some(n_lacking) => Finding::Wrong(format!(
                "The limit of open files allows {n_lacking} fewer live connections than AEROGRAM_LIVE_CONNECTIONS; raise it \
                 (ulimit -n, LimitNOFILE) or lower the setting."
            )),
            None => Finding::Note("The server does not tell how many live connections it can keep.".to_owned()),
        }
    }

    pub(super) fn webhooks(&self) -> Vec<Finding> {
        // A webhook without samples is as good as none, unless all samples of that kind are missing.
        if self.jobs_overdue.is_none() {
            return vec![Finding::Note("The server does not tell how webhooks get on.".to_owned())];
        }
        let found: Vec<Finding> =
            self.webhooks.iter().filter_map(|((app, id), webhook)| webhook.finding(app, id)).collect();
        match found.is_empty() {
            true => vec![Finding::Fine("No webhook is failing or behind.".to_owned())],
            false => found,
        }
    }
}

impl Webhook {
    fn finding(&self, app: &str, id: &str) -> Option<Finding> {
        let Self { seconds_behind, is_failing, is_disabled, dead_letters } = *self;
        let see = format!("see `aerogram webhook show {app} {id}`");
        if is_disabled {
            return Some(Finding::Wrong(format!("The service has disabled the webhook {id} of {app}; {see}.")));
        }
        if seconds_behind > MOST_BEHIND_SECONDS {
            let why = if is_failing { " and does not take some event" } else { "" };
            return Some(Finding::Wrong(format!(
                "The webhook {id} of {app} is {seconds_behind} s behind{why}; {see}."
            )));
        }
        if is_failing {
            return Some(Finding::Soon(format!("The webhook {id} of {app} does not take some event; {see}.")));
        }
        (dead_letters > 0).then(|| {
            Finding::Soon(format!(
                "The webhook {id} of {app} has {dead_letters} dead letters; see `aerogram webhook dead {app} {id}`."
            ))
        })
    }
}

/// The value of a label. Those of webhooks contain no quotes.
fn label(labels: &str, name: &str) -> String {
    let value = labels.split_once(&format!("{name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
    value.map(|(value, _)| value.to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook(metrics: &str) -> Vec<Finding> {
        let lines = metrics.split(' ').map(|metric| {
            let (name, value) = metric.split_once('=').unwrap();
            format!("aerogram_webhook_{name}{{app=\"A\",webhook=\"W\"}} {value}\n")
        });
        let lines: String = lines.chain(["aerogram_jobs_overdue 0\n".to_owned()]).collect();
        Metrics::read(&lines).webhooks()
    }

    #[test]
    fn webhooks_that_do_not_get_on_are_lines() {
        let fine = webhook("seconds_behind=300 failing=0 disabled=0 dead_letters=0");
        assert!(matches!(&fine[..], [Finding::Fine(_)]));
        let failing = webhook("seconds_behind=20 failing=1 disabled=0 dead_letters=3");
        assert!(matches!(&failing[..], [Finding::Soon(text)] if text.contains("W of A does not take some event")));
        let behind = webhook("seconds_behind=301 failing=1 disabled=0 dead_letters=0");
        assert!(matches!(&behind[..], [Finding::Wrong(text)] if text.contains("301 s behind and does not take")));
        let disabled = webhook("seconds_behind=0 failing=0 disabled=1 dead_letters=0");
        assert!(matches!(&disabled[..], [Finding::Wrong(text)] if text.contains("webhook show A W")));
        let dead = webhook("seconds_behind=0 failing=0 disabled=0 dead_letters=2");
        assert!(matches!(&dead[..], [Finding::Soon(text)] if text.contains("2 dead letters")));
    }

    #[test]
    fn live_connections_without_files_are_wrong() {
        let live = |text: &str| Metrics::read(text).live_connections();
        assert!(matches!(live("aerogram_live_connections_lacking 0\n"), Finding::Fine(_)));
        let lacking = live("aerogram_live_connections 3\naerogram_live_connections_lacking 81000\n");
        assert!(
            matches!(lacking, Finding::Wrong(text) if text.contains("81000 fewer") && text.contains("LimitNOFILE"))
        );
        assert!(matches!(live("# EOF\n"), Finding::Note(_)));
    }

    #[test]
    fn jobs_that_nobody_takes_are_wrong_and_unknown_ones_are_not_fine() {
        let jobs = |text: &str| Metrics::read(text).jobs();
        let overdue = "# TYPE aerogram_jobs_overdue gauge\naerogram_jobs_overdue 7\naerogram_jobs_overdue_seconds 61\n";
        assert!(matches!(jobs(overdue), Finding::Wrong(text) if text.starts_with("7 jobs") && text.contains("61 s")));
        let busy = "aerogram_jobs_overdue 10000\naerogram_jobs_overdue_seconds 60\n";
        assert!(matches!(jobs(busy), Finding::Fine(_)));
        assert!(matches!(jobs("# EOF\n"), Finding::Note(_)));
        assert!(matches!(&Metrics::read("# EOF\n").webhooks()[..], [Finding::Note(_)]));
    }
}
