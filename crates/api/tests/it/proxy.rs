//! The configuration of nginx that comes with the service lets through what the service takes and sends: bodies of any size, and
//! answers that go on.

use std::collections::BTreeSet;

use api::{openapi_document, routes};
use serde_json::Value;

const CONFIGURATION: &str = include_str!("../../../../packaging/nginx.conf");
/// What is uploaded as it comes. All other bodies are read as a whole, and bounded.
const UPLOADED: [&str; 2] = ["text/csv", "application/x-ndjson"];

/// The paths that `location ~ ^/api/(…|…)/?$` is for, whose block has all of these directives.
fn paths_with(directives: &[&str]) -> BTreeSet<String> {
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let lines: Vec<&str> = CONFIGURATION.lines().filter(|line| !is_comment(line)).collect();
    let text = lines.join("\n");
    let blocks = text.split("location ").skip(1).filter_map(|block| block.split_once('}')?.0.split_once('{'));
    let matching = blocks.filter(|(_, body)| {
        let given: BTreeSet<&str> = body.lines().map(str::trim).collect();
        directives.iter().all(|directive| given.contains(directive))
    });
    let alternatives = matching.filter_map(|(condition, _)| {
        let inner = condition.trim().strip_prefix("~ ^/api/(")?.strip_suffix(")/?$")?;
        Some(inner.split('|').map(str::to_owned).collect::<Vec<_>>())
    });
    alternatives.flatten().collect()
}

fn as_pattern(path: &str) -> String {
    let below = path.strip_prefix("/api/").unwrap_or_else(|| panic!("{path} is not below /api"));
    let segments = below.split('/').map(|segment| if segment.starts_with('{') { "[^/]+" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

#[test]
fn every_upload_passes_the_proxy_whatever_its_size() {
    let document = openapi_document();
    let paths = document["paths"].as_object().unwrap();
    let is_upload = |operation: &Value| {
        let content = operation["requestBody"]["content"].as_object();
        content.is_some_and(|content| content.keys().any(|kind| UPLOADED.contains(&kind.as_str())))
    };
    let uploads = paths.iter().filter(|(_, item)| item.as_object().unwrap().values().any(is_upload));
    let expected: BTreeSet<String> = uploads.map(|(path, _)| as_pattern(path)).collect();
    assert!(expected.len() >= 6, "{expected:?}");
    let unbounded = ["client_max_body_size 0;", "proxy_request_buffering off;", "proxy_read_timeout 30m;"];
    assert_eq!(paths_with(&unbounded), expected);
}

#[test]
fn every_stream_passes_the_proxy_as_it_comes() {
    let is_stream = |path: &&str| *path == "/api/events" || path.ends_with("/stream");
    let expected: BTreeSet<String> =
        routes().into_iter().map(|route| route.path).filter(is_stream).map(as_pattern).collect();
    let passed = paths_with(&["proxy_buffering off;"]);
    assert!(expected.len() >= 3 && expected.is_subset(&passed), "{expected:?} {passed:?}");
}
