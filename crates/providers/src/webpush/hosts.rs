//! The hosts of push services that subscriptions may lead to. Browsers, and phones that are reached by UnifiedPush, name their push
//! services themselves, so that anybody who can register a device could have us send requests to any host, and wait for answers.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use http::Uri;

/// The services of the browsers that there are, and the public one of UnifiedPush's best-known distributor. Other browsers that are
/// made from Chromium use Google's, or Microsoft's on Windows.
const PUBLIC: [&str; 6] = [
    // Chrome and most browsers made from it. Development versions of Chrome use the second one.
    "fcm.googleapis.com",
    "jmt17.google.com",
    // Firefox, and distributors of UnifiedPush that speak its protocol.
    "updates.push.services.mozilla.com",
    // Safari.
    "*.push.apple.com",
    // Edge.
    "*.notify.windows.com",
    // ntfy, a distributor of UnifiedPush.
    "ntfy.sh",
];

const HTTPS: u16 = 443;

/// A host, all hosts below a name (`*.example.com`), or any host (`*`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostPattern {
    One(String),
    Below(String),
    Any,
}

/// The hosts that are accepted besides the endpoint that an app is configured with. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PushHosts {
    listed: Arc<[HostPattern]>,
    /// Whether others are accepted, too; they share a little room and little time.
    accepts_others: bool,
}

impl PushHosts {
    /// The known services and some more.
    pub fn with(more: &[HostPattern]) -> Self {
        let public = PUBLIC.iter().filter_map(|pattern| pattern.parse().ok());
        let listed = public.chain(more.iter().filter(|pattern| **pattern != HostPattern::Any).cloned());
        Self { listed: listed.collect(), accepts_others: more.contains(&HostPattern::Any) }
    }

    /// The same and any other host.
    pub fn and_others(&self) -> Self {
        Self { listed: self.listed.clone(), accepts_others: true }
    }

    pub(super) fn accepts_others(&self) -> bool {
        self.accepts_others
    }

    pub(super) fn n_listed(&self) -> usize {
        self.listed.len()
    }

    /// The number of the pattern that a URL fits, with the usual port only.
    pub(super) fn number_of(&self, url: &Uri) -> Option<usize> {
        let host = url.host()?.trim_end_matches('.').to_ascii_lowercase();
        let is_usual = url.scheme_str() == Some("https") && matches!(url.port_u16(), None | Some(HTTPS));
        self.listed.iter().position(|pattern| is_usual && pattern.fits(&host))
    }

    /// Whether the host of a URL is listed by its own name. Below other names, devices can make hosts up.
    pub(super) fn names(&self, url: &Uri) -> bool {
        let pattern = self.number_of(url).and_then(|number| self.listed.get(number));
        matches!(pattern, Some(HostPattern::One(_)))
    }

    /// Why a subscription cannot be accepted, as a sentence.
    pub fn problem(&self, address: &str) -> Option<String> {
        let url = address.parse::<Uri>().ok().filter(|url| url.host().is_some() && url.scheme_str() == Some("https"));
        let Some(url) = url else {
            let sentence =
                "The address of a browser, and of a phone with UnifiedPush, is the https URL of its subscription.";
            return Some(sentence.to_owned());
        };
        if self.accepts_others || self.number_of(&url).is_some() {
            return None;
        }
        let host = url.authority().map(|authority| authority.as_str().chars().take(100).collect::<String>());
        Some(format!(
            "{} is not the host of a known push service. The operator can add hosts with the setting push_hosts.",
            host.unwrap_or_default()
        ))
    }
}

impl Default for PushHosts {
    fn default() -> Self {
        Self::with(&[])
    }
}

impl HostPattern {
    fn fits(&self, host: &str) -> bool {
        match self {
            HostPattern::One(name) => host == name,
            HostPattern::Below(name) => {
                let label = host.strip_suffix(name.as_str()).and_then(|rest| rest.strip_suffix('.'));
                label.is_some_and(|label| !label.is_empty())
            }
            HostPattern::Any => true,
        }
    }
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |name: &str| {
            let is_label = |label: &str| {
                !label.is_empty() && label.len() <= 63 && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            };
            name.len() <= 253 && name.contains('.') && name.split('.').all(is_label)
        };
        let text = text.trim().to_ascii_lowercase();
        match text.strip_prefix("*.") {
            None if text == "*" => Ok(HostPattern::Any),
            Some(name) if is_name(name) => Ok(HostPattern::Below(name.to_owned())),
            None if is_name(&text) => Ok(HostPattern::One(text)),
            Some(_) | None => {
                Err("This must be a host such as push.example.com, all hosts below a name (*.example.com), or *."
                    .to_owned())
            }
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostPattern::One(name) => f.write_str(name),
            HostPattern::Below(name) => write!(f, "*.{name}"),
            HostPattern::Any => f.write_str("*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_services_of_browsers_and_what_the_operator_adds() {
        let more: Vec<HostPattern> = ["push.example.com", "*.Corp.example"].map(|text| text.parse().unwrap()).into();
        let hosts = PushHosts::with(&more);
        let table = [
            ("https://fcm.googleapis.com/fcm/send/abc:APA91", true),
            ("https://FCM.googleapis.com.:443/fcm/send/abc", true),
            ("https://updates.push.services.mozilla.com/wpush/v2/gAAA", true),
            ("https://web.push.apple.com/QHx", true),
            ("https://wns2-par02p.notify.windows.com/w/?token=BQYAAA", true),
            ("https://ntfy.sh/upAbCd?up=1", true),
            ("https://push.example.com/1", true),
            ("https://a.b.corp.example/1", true),
            ("http://fcm.googleapis.com/fcm/send/abc", false),
            ("https://fcm.googleapis.com:8443/fcm/send/abc", false),
            ("https://fcm.googleapis.com.evil.example/x", false),
            ("https://evil.example/fcm.googleapis.com", false),
            ("https://evilnotify.windows.com/", false),
            ("https://notify.windows.com/", false),
            ("https://fcm.googleapis.com@evil.example/", false),
            ("https://127.0.0.1/", false),
            ("/relative", false),
            ("", false),
        ];
        for (address, is_accepted) in table {
            assert_eq!(hosts.problem(address).is_none(), is_accepted, "{address}: {:?}", hosts.problem(address));
        }
        let is_named = |address: &str| hosts.names(&address.parse().unwrap());
        assert!(is_named("https://fcm.googleapis.com/fcm/send/abc") && is_named("https://push.example.com/1"));
        assert!(!is_named("https://made-up.push.apple.com/1") && !is_named("https://evil.example/1"));
        let any = hosts.and_others();
        assert!(any.problem("https://evil.example/1").is_none() && any.problem("http://evil.example/1").is_some());
    }

    #[test]
    fn patterns_are_names_of_hosts() {
        for text in ["push.example.com", "*.example.com", "*"] {
            assert_eq!(text.parse::<HostPattern>().unwrap().to_string(), text);
        }
        for text in ["", "*.", "com", "https://push.example.com", "push.example.com:8443", "a*.example.com", "a..b"] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }
}
