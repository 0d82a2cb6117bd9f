//! The states of things as colored words; the color only repeats what the word says.

use maud::{Markup, html};

/// What a state means for whoever looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it should be.
    Good,
    /// Under way, or not begun; it goes on by itself.
    Busy,
    /// Somebody may want to look at it.
    Warn,
    /// It did not work, or is over before its time.
    Bad,
    /// None of these.
    Plain,
}

/// All states that pages show, each once. Others are plain.
const TONES: [(Tone, &[&str]); 4] = [
    (
        Tone::Good,
        &[
            "done",
            "ok",
            "delivered",
            "enabled",
            "active",
            "received",
            "opened",
            "read",
            "in",
            "live",
            "started",
            "approved",
            "production",
        ],
    ),
    (Tone::Busy, &["sending", "accepted", "waiting", "awaiting", "invited", "pending", "running", "recurring"]),
    (
        Tone::Warn,
        &["paused", "held", "development", "disabled", "held_back", "opted_out", "no_address", "out", "not tested"],
    ),
    (Tone::Bad, &["canceled", "failed", "refused", "gone", "expired", "locked", "failing", "unreadable"]),
];

pub(crate) fn badge(state: &str) -> Markup {
    badge_saying(state, state)
}

/// The badge of a state with other words than its name.
pub(crate) fn badge_saying(state: &str, words: &str) -> Markup {
    toned(tone(state), words)
}

/// A badge of something that has no state, such as a verdict.
pub(crate) fn toned(tone: Tone, words: &str) -> Markup {
    html! { span.badge.(tone.class()) { (words) } }
}

fn tone(state: &str) -> Tone {
    TONES.iter().find(|(_, states)| states.contains(&state)).map_or(Tone::Plain, |(tone, _)| *tone)
}

impl Tone {
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Busy => "busy",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
            Tone::Plain => "plain",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_one_tone() {
        let mut states: Vec<&str> = TONES.iter().flat_map(|(_, states)| states.iter().copied()).collect();
        let n_states = states.len();
        states.sort_unstable();
        states.dedup();
        assert_eq!(states.len(), n_states);
        assert_eq!((tone("done"), tone("paused"), tone("once")), (Tone::Good, Tone::Warn, Tone::Plain));
    }
}
