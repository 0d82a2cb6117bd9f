//! One spelling per path: client libraries disagree about slashes, and a redirect would make them drop their bodies.

use http::Uri;
use http::uri::PathAndQuery;

/// Prefixes under which some client libraries look for what is elsewhere.
const ALIASES: [(&str, &str); 3] = [
    ("/api/open", "/api/channels/open"),
    ("/api/web-channels", "/api/channels"),
    ("/api/contacts/identify/v2_web", "/api/contacts/identify/v2"),
];

/// Makes runs of slashes one, drops trailing ones, and resolves aliases. The query stays as it is.
pub(crate) fn normalize(uri: &mut Uri) {
    let path = normal_form(uri.path());
    if path == uri.path() {
        return;
    }
    let text = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let mut parts = uri.clone().into_parts();
    let shorter: Result<PathAndQuery, _> = text.parse();
    // What was a valid path stays one when slashes go; if not, the router will not know it.
    let Ok(shorter) = shorter else { return };
    parts.path_and_query = Some(shorter);
    if let Ok(normalized) = Uri::from_parts(parts) {
        *uri = normalized;
    }
}

fn normal_form(path: &str) -> String {
    let mut normal = String::with_capacity(path.len());
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        normal.push('/');
        normal.push_str(segment);
    }
    for (alias, meant) in ALIASES {
        match normal.strip_prefix(alias) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => return format!("{meant}{rest}"),
            Some(_) | None => {}
        }
    }
    if normal.is_empty() { "/".to_owned() } else { normal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_do_not_matter_and_aliases_are_resolved() {
        let table = [
            ("/", "/"),
            ("//", "/"),
            ("/api/push", "/api/push"),
            ("/api/push/", "/api/push"),
            ("//api///push//", "/api/push"),
            ("/api/tags//batch/?a=/b//c/", "/api/tags/batch?a=/b//c/"),
            ("/api/channels/%2F/", "/api/channels/%2F"),
            ("/api/open", "/api/channels/open"),
            ("/api/open/uninstall/", "/api/channels/open/uninstall"),
            ("/api/opening", "/api/opening"),
            ("/api/web-channels/", "/api/channels"),
            ("/api/web-channels/a/", "/api/channels/a"),
            ("/api/contacts/identify/v2_web", "/api/contacts/identify/v2"),
            ("/api/contacts/identify/v2_webs", "/api/contacts/identify/v2_webs"),
            ("http://example.com//api/", "http://example.com/api"),
            ("*", "/*"),
        ];
        for (given, expected) in table {
            let mut uri: Uri = given.parse().unwrap();
            normalize(&mut uri);
            assert_eq!(uri.to_string(), expected, "{given}");
        }
    }
}
