//! Version tags: `#.#.X`, one for all the patches of a minor version.

/// The released patches of one minor version: major, minor, first and last patch.
pub(super) struct Line(u32, u32, u32, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    pub(super) major: u32,
    minor: u32,
    patch: u32,
}

impl Version {
    /// One to four numbers with dots between them; a suffix after a hyphen or a plus sign marks a build and is ignored.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let release = text.trim().split(['-', '+']).next()?;
        let mut numbers = [0; 4];
        for (i, digits) in release.split('.').enumerate() {
            let is_number = digits.bytes().all(|b| b.is_ascii_digit());
            *numbers.get_mut(i)? = digits.parse().ok().filter(|_| is_number)?;
        }
        let [major, minor, patch, _] = numbers;
        Some(Self { major, minor, patch })
    }
}

/// The tag of a version. Up to the end of its table a version must have been released to have one; later versions are
/// in no table, and any of them has one, so that devices of later years can be addressed.
pub(super) fn tag(text: &str, known: &[Line]) -> Option<String> {
    let version = Version::parse(text)?;
    let Version { major, minor, patch } = version;
    let is_released = known.iter().any(|line| (line.0, line.1) == (major, minor) && (line.2..=line.3).contains(&patch));
    let is_later = known.iter().all(|line| version > Version { major: line.0, minor: line.1, patch: line.3 });
    (is_released || is_later).then(|| format!("{major}.{minor}.X"))
}

/// The version of Android that introduced an API level.
pub(super) fn android_version(api_level: u32) -> Option<&'static str> {
    let i = usize::try_from(api_level).ok()?.checked_sub(1)?;
    ANDROID_API_LEVELS.get(i).copied()
}

/// Releases of the SDK for iOS.
pub(super) const IOS_SDK: [Line; 13] = [
    Line(1, 0, 0, 7),
    Line(1, 1, 0, 5),
    Line(1, 2, 0, 2),
    Line(1, 3, 0, 7),
    Line(1, 4, 0, 0),
    Line(2, 0, 0, 4),
    Line(2, 1, 0, 0),
    Line(3, 0, 0, 4),
    Line(4, 0, 0, 4),
    Line(5, 0, 0, 3),
    Line(5, 1, 0, 1),
    Line(6, 0, 0, 2),
    Line(6, 1, 0, 0),
];

/// Releases of the SDK for Android.
pub(super) const ANDROID_SDK: [Line; 14] = [
    Line(0, 9, 1, 1),
    Line(1, 0, 0, 9),
    Line(1, 1, 0, 6),
    Line(2, 0, 0, 5),
    Line(2, 1, 0, 4),
    Line(3, 0, 0, 0),
    Line(3, 1, 0, 0),
    Line(3, 2, 0, 3),
    Line(3, 3, 0, 2),
    Line(4, 0, 0, 4),
    Line(5, 0, 0, 3),
    Line(5, 1, 0, 6),
    Line(6, 0, 0, 2),
    Line(6, 1, 0, 0),
];

/// Releases of iOS.
pub(super) const IOS: [Line; 22] = [
    Line(1, 0, 0, 2),
    Line(1, 1, 0, 5),
    Line(2, 0, 0, 2),
    Line(2, 1, 0, 0),
    Line(2, 2, 0, 1),
    Line(3, 0, 0, 1),
    Line(3, 1, 0, 3),
    Line(3, 2, 0, 2),
    Line(4, 0, 0, 2),
    Line(4, 1, 0, 0),
    Line(4, 2, 1, 10),
    Line(4, 3, 0, 5),
    Line(5, 0, 0, 1),
    Line(5, 1, 0, 1),
    Line(6, 0, 0, 2),
    Line(6, 1, 0, 6),
    Line(7, 0, 0, 6),
    Line(7, 1, 0, 2),
    Line(8, 0, 0, 2),
    Line(8, 1, 0, 3),
    Line(8, 2, 0, 0),
    Line(8, 3, 0, 0),
];

/// Releases of Android, Cupcake to Lollipop.
pub(super) const ANDROID: [Line; 16] = [
    Line(1, 5, 0, 0),
    Line(1, 6, 0, 0),
    Line(2, 0, 0, 1),
    Line(2, 1, 0, 0),
    Line(2, 2, 0, 3),
    Line(2, 3, 0, 7),
    Line(3, 0, 0, 0),
    Line(3, 1, 0, 0),
    Line(3, 2, 0, 6),
    Line(4, 0, 0, 4),
    Line(4, 1, 0, 2),
    Line(4, 2, 0, 2),
    Line(4, 3, 0, 1),
    Line(4, 4, 0, 4),
    Line(5, 0, 0, 2),
    Line(5, 1, 0, 1),
];

/// The first is API level 1. Level 20 was for watches, level 32 for large screens.
const ANDROID_API_LEVELS: [&str; 36] = [
    "1.0", "1.1", "1.5", "1.6", "2.0", "2.0.1", "2.1", "2.2", "2.3", "2.3.3", "3.0", "3.1", "3.2", "4.0", "4.0.3",
    "4.1", "4.2", "4.3", "4.4", "4.4", "5.0", "5.1", "6.0", "7.0", "7.1", "8.0", "8.1", "9", "10", "11", "12", "12",
    "13", "14", "15", "16",
];
