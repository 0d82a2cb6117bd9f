//! Which key somebody has meant who wrote one that is not known.

use strsim::osa_distance;

/// No key of ours is longer.
const LONGEST: usize = 64;
/// A beginning this short says nothing about the rest.
const SHORTEST_BEGINNING: usize = 4;

/// Whether a key may be a slip of the pen for a known one: a letter or two that are wrong, another letter case, or an ending too
/// many or too few, such as `device_type` and `named_user_id`.
pub(crate) fn is_near(written: &str, known: &str) -> bool {
    let (short, long) = if written.len() < known.len() { (written, known) } else { (known, written) };
    let is_alike =
        |a: Option<u8>, b: Option<u8>| a.map(|a| a.to_ascii_lowercase()) == b.map(|b| b.to_ascii_lowercase());
    if long.len() > LONGEST || !is_alike(written.bytes().next(), known.bytes().next()) {
        return false;
    }
    if short.len() >= SHORTEST_BEGINNING && long.starts_with(short) {
        return true;
    }
    let most_slips = if short.len() > 5 { 2 } else { 1 };
    long.len() - short.len() <= most_slips
        && osa_distance(&written.to_ascii_lowercase(), &known.to_ascii_lowercase()) <= most_slips
}

/// The end of a sentence about a key that is not known.
pub(crate) fn hint(meant: &str) -> String {
    format!("; perhaps '{meant}' is meant.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_told_from_other_words() {
        for (written, known) in [
            ("audiance", "audience"),
            ("Audience", "audience"),
            ("named_user_id", "named_user"),
            ("device_type", "device_types"),
            ("notifcation", "notification"),
            ("tga", "tag"),
        ] {
            assert!(is_near(written, known), "{written} {known}");
        }
        for (written, known) in [
            ("tag", "alias"),
            ("ios", "in_app"),
            ("and", "android"),
            ("", "tag"),
            ("tag", ""),
            ("message", "messenger"),
        ] {
            assert!(!is_near(written, known), "{written} {known}");
        }
    }
}
