//! Numbers for people.

use maud::{Markup, html};

/// With a thin space between thousands: `302 411`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A share in percent, with one digit after the point where it is small: `4.1 %`.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let tenths = u128::from(part) * 1000 / u128::from(whole);
    if tenths >= 100 && part != whole { format!("{}\u{202f}%", tenths / 10) } else { exact_percent(tenths) }
}

fn exact_percent(tenths: u128) -> String {
    match tenths % 10 {
        0 => format!("{}\u{202f}%", tenths / 10),
        tenth => format!("{}.{tenth}\u{202f}%", tenths / 10),
    }
}

/// `1 device`, `2 devices`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A figure with its name, as on the start page.
pub(crate) fn figure(name: &str, value: &str, note: Option<&str>) -> Markup {
    html! {
        div.figure {
            p.name { (name) }
            p.value { (value) }
            @if let Some(note) = note { p.note { (note) } }
        }
    }
}

/// How much of something is done, as a bar and in words.
pub(crate) fn progress(done: u64, whole: u64) -> Markup {
    html! { progress max=(whole.max(1)) value=(done.min(whole.max(1))) { (percent(done, whole)) } }
}

/// How much more or less something is than in a time before: `+12 % to the time before`.
pub(crate) fn compared(now: u64, before: u64, time_before: &str) -> String {
    match (now, before) {
        (_, 0) => format!("nothing in {time_before}"),
        (now, before) if now >= before => format!("+{} to {time_before}", percent(now - before, before)),
        (now, before) => format!("−{} to {time_before}", percent(before - now, before)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(302_411), "302\u{202f}411");
        assert_eq!(grouped(1_000_000), "1\u{202f}000\u{202f}000");
        assert_eq!(
            (percent(41, 1000), percent(1, 1), percent(0, 0)),
            ("4.1\u{202f}%".into(), "100\u{202f}%".into(), "–".into())
        );
        assert_eq!((percent(999, 1000), percent(12, 100)), ("99\u{202f}%".into(), "12\u{202f}%".into()));
        assert_eq!(
            (count(1, "device", "devices"), count(2, "device", "devices")),
            ("1 device".into(), "2 devices".into())
        );
    }
}
