//! What became of a push for a device, in words.

use maud::Markup;
use model::push_outcome::{PushOutcome, sentence};

use super::states::badge_saying;

/// Outcomes and what devices did, as the API calls them, each with words for people.
pub(crate) const OUTCOMES: [(&str, &str); 15] = [
    ("delivered", "delivered"),
    ("received", "received it"),
    ("opened", "opened it"),
    ("influenced", "opened the app after it"),
    ("read", "read it in the inbox"),
    ("failed", "failed"),
    ("gone", "gone"),
    ("expired", "too late"),
    ("opted_out", "opted out"),
    ("no_address", "no address"),
    ("not_addressed", "other device type"),
    ("held_back", "held back"),
    ("canceled", "canceled"),
    ("pending", "waiting"),
    ("not_matched", "not in the audience"),
];

pub(crate) fn word(outcome: &str) -> &str {
    let known = OUTCOMES.iter().find(|(name, _)| *name == outcome);
    known.map_or(outcome, |(_, word)| *word)
}

pub(crate) fn badge(outcome: &str) -> Markup {
    badge_saying(outcome, word(outcome))
}

/// Why, if there is more to say than the word for the outcome.
pub(crate) fn why(outcome: &str, reason: Option<&str>) -> Option<String> {
    let known = PushOutcome::NUMBERED.into_iter().map(|(_, known)| known).find(|known| known.name() == outcome);
    match (known, reason.filter(|reason| !reason.is_empty())) {
        (Some(outcome), Some(reason)) => Some(sentence(outcome, reason)),
        (None, reason) => reason.map(str::to_owned),
        (Some(_), None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_words() {
        for (_, outcome) in PushOutcome::NUMBERED {
            assert!(OUTCOMES.iter().any(|(name, _)| *name == outcome.name()), "{}", outcome.name());
        }
        assert_eq!((word("no_address"), word("undecided")), ("no address", "undecided"));
    }

    #[test]
    fn reasons_are_sentences() {
        assert_eq!(why("delivered", None), None);
        assert_eq!(why("pending", Some("The platform is paused.")), Some("The platform is paused.".to_owned()));
        let told = why("held_back", Some("control_group")).unwrap_or_default();
        assert!(told.contains("control group of the experiment"), "{told}");
    }
}
