//! When a window is full of events that are not taken, some of them are given up early, so that the other channels can continue.

use model::event::EventOffset;
use model::time::UtcMillis;
use store::webhooks::DeadLetter;

use super::{HeldEvent, LEAST_PAGE, MOST_BYTES, WIDTH, Window};

/// Before this many attempts no event is given up for want of room.
const ENOUGH: u32 = 3;

impl Window {
    /// Whether there is no room for another page.
    pub(in crate::webhooks) fn is_full(&self) -> bool {
        self.held.len() + LEAST_PAGE > WIDTH || self.held.n_bytes() >= MOST_BYTES
    }

    /// Gives up the event that was refused first, and as many of those that wait behind it as room is needed for: a channel's
    /// events leave in their order. Nothing is given up as long as the webhook is away or something can still be sent.
    pub(in crate::webhooks) fn make_room(&mut self, now: UtcMillis) -> Vec<DeadLetter> {
        let mut letters = Vec::new();
        if !self.is_full() || !self.ready.is_empty() || self.is_away() {
            return letters;
        }
        let hopeless = self.waiting.iter().filter(|(_, number)| self.is_hopeless(self.held.at(*number)));
        let mut hopeless: Vec<_> = hopeless.map(|entry| (self.held.at(entry.1).blamed_since(), *entry)).collect();
        hopeless.sort_unstable();
        for (since, entry) in hopeless {
            if !self.is_full() {
                break;
            }
            self.waiting.remove(&entry);
            self.give_up_channel(entry.1, since, now, &mut letters);
        }
        letters
    }

    fn is_hopeless(&self, held: &HeldEvent) -> bool {
        held.trouble.is_some_and(|trouble| {
            let is_tried = held.blamed.is_some() || trouble.attempts >= ENOUGH;
            is_tried && self.is_to_blame(&trouble, held.blamed_since())
        })
    }

    fn give_up_channel(
        &mut self,
        first: usize,
        since: Option<UtcMillis>,
        now: UtcMillis,
        letters: &mut Vec<DeadLetter>,
    ) {
        let mut number = first;
        let refused = self.held.at(first).event.offset;
        loop {
            let held = self.remove(number);
            let next = held.next;
            letters.push(letter_for_want_of_room(held, refused, self.reason.as_deref(), now));
            match next {
                Some(next) if self.is_full() => number = next,
                Some(next) => {
                    // One attempt is enough for an event that comes after others of its channel that were given up.
                    self.held.at_mut(next).blamed = since;
                    return self.release(next);
                }
                None => return,
            }
        }
    }
}

fn letter_for_want_of_room(held: HeldEvent, refused: EventOffset, reason: Option<&str>, now: UtcMillis) -> DeadLetter {
    let attempts = held.trouble.map_or(0, |trouble| trouble.attempts);
    let why = match attempts {
        0 => format!("It was not sent, because the event {refused} of its channel before it is refused"),
        _ => held.reason.as_deref().or(reason).unwrap_or("It was not taken").trim_end_matches('.').to_owned(),
    };
    held.into_letter(attempts, format!("{why}; given up early, to make room for the events of others."), now)
}
