//! The older text form of Prometheus, for readers that do not ask for OpenMetrics: `promtool`, `curl`, and many collectors.

/// Rewrites metrics that are in the form of OpenMetrics. The samples are the same in both; in the older form descriptions carry the
/// full name of what they describe.
pub(super) fn classic(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len() + open_metrics.len() / 16);
    let mut help = None;
    for line in open_metrics.lines() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            help = described.split_once(' ');
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|typed| typed.split_once(' ')) {
            let (suffix, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                other => ("", other),
            };
            if let Some((_, words)) = help.take().filter(|(described, _)| *described == name) {
                text.extend(["# HELP ", name, suffix, " ", words, "\n"]);
            }
            text.extend(["# TYPE ", name, suffix, " ", kind, "\n"]);
        } else if !line.starts_with("# ") {
            text.extend([line, "\n"]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_have_the_names_of_their_samples() {
        let open_metrics = "# HELP a_jobs Jobs run.\n# TYPE a_jobs counter\na_jobs_total{kind=\"x\"} 3\n\
                            # HELP a_build Version.\n# TYPE a_build info\na_build_info{version=\"1\"} 1\n\
                            # HELP a_up Up.\n# TYPE a_up gauge\n# UNIT a_up seconds\na_up 1\n# EOF\n";
        let expected = "# HELP a_jobs_total Jobs run.\n# TYPE a_jobs_total counter\na_jobs_total{kind=\"x\"} 3\n\
                        # HELP a_build_info Version.\n# TYPE a_build_info gauge\na_build_info{version=\"1\"} 1\n\
                        # HELP a_up Up.\n# TYPE a_up gauge\na_up 1\n";
        assert_eq!(classic(open_metrics), expected);
    }
}
