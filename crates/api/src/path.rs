//! One spelling per path: client libraries disagree about slashes, and a redirect would make them drop their bodies.

use http::Uri;
use http::uri::PathAndQuery;

/// Prefixes that some client libraries put before paths of the API.
const ALIASES: [(&str, &str); 4] = [
    ("/api/open", "/api/channels/open"),
    ("/api/contacts/identify/v2_web", "/api/contacts/identify/v2"),
    ("/api/in-app/app", "/api/in-app"),
    ("/api/preference_forms", "/api/preference-forms"),
];

/// Merges repeated slashes, drops trailing ones, and resolves aliases. The query stays as it is.
pub(crate) fn normalize(uri: &mut Uri) {
    if is_normal(uri.path()) {
        return;
    }
    let path = normal_form(uri.path());
    let text = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    // A valid path stays valid without some slashes; if not, the router will not know it.
    let Ok(path_and_query) = text.parse::<PathAndQuery>() else { return };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query);
    if let Ok(normalized) = Uri::from_parts(parts) {
        *uri = normalized;
    }
}

/// Almost every path is normal, and needs no allocation.
fn is_normal(path: &str) -> bool {
    path == "/" || path.starts_with('/') && !path.ends_with('/') && !path.contains("//") && meant(path).is_none()
}

fn normal_form(path: &str) -> String {
    let mut normal = String::with_capacity(path.len());
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        normal.push('/');
        normal.push_str(segment);
    }
    match meant(&normal) {
        Some((meant, rest)) => format!("{meant}{rest}"),
        None if normal.is_empty() => "/".to_owned(),
        None => normal,
    }
}

/// The meaning of the prefix of an aliased path, and the rest of the path.
fn meant(path: &str) -> Option<(&'static str, &str)> {
    // Registering browsers is a route of its own.
    if let Some(rest) = path.strip_prefix("/api/web-channels").filter(|rest| rest.starts_with('/')) {
        return Some(("/api/channels", rest));
    }
    ALIASES.into_iter().find_map(|(alias, meant)| {
        let rest = path.strip_prefix(alias)?;
        (rest.is_empty() || rest.starts_with('/')).then_some((meant, rest))
    })
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
            ("/api/web-channels/", "/api/web-channels"),
            ("/api/web-channels/a/", "/api/channels/a"),
            ("/api/contacts/identify/v2_web", "/api/contacts/identify/v2"),
            ("/api/contacts/identify/v2_webs", "/api/contacts/identify/v2_webs"),
            ("/api/in-app/app/KEY/x", "/api/in-app/KEY/x"),
            ("/api/in-app/apps/x", "/api/in-app/apps/x"),
            ("/api/preference_forms/KEY", "/api/preference-forms/KEY"),
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
