//! Time zones: every one counts as the nearest of those that have a tag.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The tag of channels whose time zone is not known.
pub(super) const NO_TIME_ZONE: &str = "NO_TIME_ZONE";

/// Names in lower case, and the tags they count as.
static TAGS: LazyLock<HashMap<String, &'static str>> =
    LazyLock::new(|| rows().map(|(name, tag)| (name.to_ascii_lowercase(), tag)).collect());

/// The tag of a time zone, whatever the case of its name.
pub(super) fn time_zone(name: &str) -> Option<&'static str> {
    TAGS.get(&name.trim().to_ascii_lowercase()).copied()
}

/// The tag that a selector means. Documentation prints some tags with a remark, as in `America/Denver (Mountain)`, and
/// misspells one.
pub(super) fn selected_time_zone(tag: &str) -> &str {
    match tag.split_once(" (").map_or(tag, |(name, _)| name) {
        "America/Sao_Paulo" => "America/Sao_Paolo",
        name => name,
    }
}

fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("time_zones.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
}
