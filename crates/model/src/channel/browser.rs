//! Which browser a web channel lives in, from the user agent of the browser.

/// A browser as far as its user agent tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Browser<'a> {
    pub name: &'static str,
    /// The first number of its version.
    pub version: &'a str,
    pub is_mobile: bool,
}

/// The marks by which browsers are recognized, in this order: most browsers also claim to be some of those that come after them.
const MARKS: [(&str, &str); 11] = [
    ("Edg/", "edge"),
    ("EdgA/", "edge"),
    ("EdgiOS/", "edge"),
    ("Edge/", "edge"),
    ("OPR/", "opera"),
    ("SamsungBrowser/", "samsung"),
    ("FxiOS/", "firefox"),
    ("Firefox/", "firefox"),
    ("CriOS/", "chrome"),
    ("Chrome/", "chrome"),
    // Safari gives its version here; the number after its own name is the version of its engine.
    ("Version/", "safari"),
];
const MOBILE_MARKS: [&str; 4] = ["Mobile", "Android", "iPhone", "iPad"];

impl<'a> Browser<'a> {
    /// `None` for browsers that cannot be pushed to, and for those without a version.
    pub fn of(user_agent: &'a str) -> Option<Self> {
        let (mark, name) = MARKS.into_iter().find(|(mark, _)| user_agent.contains(mark))?;
        let (_, after) = user_agent.split_once(mark)?;
        let n_digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let version = after.get(..n_digits).filter(|version| !version.is_empty())?;
        let is_mobile = MOBILE_MARKS.iter().any(|mark| user_agent.contains(mark));
        Some(Self { name, version, is_mobile })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_told_apart_by_what_they_say() {
        const ENGINE: &str = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (text, wanted) in [
            (
                format!("Mozilla/5.0 (X11; Linux x86_64) {ENGINE} Chrome/73.0.3683.86 Safari/537.36"),
                Some(("chrome", "73", false)),
            ),
            (
                format!("Mozilla/5.0 (Linux; Android 14; Pixel 8) {ENGINE} Chrome/126.0.0.0 Mobile Safari/537.36"),
                Some(("chrome", "126", true)),
            ),
            (
                format!(
                    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) {ENGINE} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.81"
                ),
                Some(("edge", "126", false)),
            ),
            (
                format!("Mozilla/5.0 (X11; Linux x86_64) {ENGINE} Chrome/124.0.0.0 Safari/537.36 OPR/110.0.0.0"),
                Some(("opera", "110", false)),
            ),
            (
                "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0".to_owned(),
                Some(("firefox", "127", false)),
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/17.5 Mobile/15E148 Safari/604.1"
                    .to_owned(),
                Some(("safari", "17", true)),
            ),
            (String::new(), None),
            ("curl/8.5.0".to_owned(), None),
            ("Chrome/".to_owned(), None),
            ("Chrome/é".to_owned(), None),
        ] {
            let browser = Browser::of(&text).map(|browser| (browser.name, browser.version, browser.is_mobile));
            assert_eq!(browser, wanted, "{text}");
        }
    }
}
