//! How many messages it makes sense to have under way to a provider: more while it keeps up, half when it does not.

use parking_lot::{Mutex, MutexGuard};

use crate::outcome::Outcome;

/// Doubles with every round of answers until the provider first objects; from then on one more per round, and half when more
/// than a quarter of a round objects. A few objections are the weather, not a limit.
#[derive(Debug)]
pub(crate) struct Room {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    allowed: usize,
    is_exploring: bool,
    round: Round,
}

/// As many answers as there was room for when it began.
#[derive(Debug)]
struct Round {
    size: usize,
    n_answers: usize,
    n_objections: usize,
}

impl Room {
    pub(crate) fn new(first: usize, most: usize) -> Self {
        let allowed = first.clamp(1, most);
        Self { most, state: Mutex::new(State { allowed, is_exploring: true, round: Round::of(allowed) }) }
    }

    pub(crate) fn allowed(&self) -> usize {
        self.state().allowed
    }

    /// Learns from how one message ended.
    pub(crate) fn learn(&self, outcome: &Outcome) {
        self.state().learn(matches!(outcome, Outcome::Retry { .. }), self.most);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn learn(&mut self, is_objection: bool, most: usize) {
        self.round.n_answers += 1;
        if is_objection {
            self.round.n_objections += 1;
            if self.round.n_objections * 4 > self.round.size {
                // Messages still under way meet the same limit, and count in the new, smaller round only.
                self.is_exploring = false;
                self.begin_round((self.allowed / 2).max(1));
            }
        } else if self.is_exploring {
            self.allowed = (self.allowed + 1).min(most);
        }
        if self.round.n_answers >= self.round.size {
            self.begin_round(if self.is_exploring { self.allowed } else { (self.allowed + 1).min(most) });
        }
    }

    fn begin_round(&mut self, allowed: usize) {
        self.allowed = allowed;
        self.round = Round::of(allowed);
    }
}

impl Round {
    fn of(size: usize) -> Self {
        Self { size, n_answers: 0, n_objections: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Contact;

    fn objection() -> Outcome {
        Outcome::Retry { after: None, reason: "slow down".to_owned(), everybody: true, contact: Contact::Made }
    }

    #[test]
    fn doubles_until_a_wall_then_grows_carefully() {
        let room = Room::new(4, 1000);
        for _ in 0..12 {
            room.learn(&Outcome::Delivered);
        }
        assert_eq!(room.allowed(), 16);
        for expected in [16, 16, 16, 16, 8] {
            room.learn(&objection());
            assert_eq!(room.allowed(), expected);
        }
        for n_answers in 1..=17 {
            room.learn(&Outcome::Gone { since: None });
            assert_eq!(room.allowed(), 8 + usize::from(n_answers >= 8) + usize::from(n_answers >= 17), "{n_answers}");
        }
    }

    #[test]
    fn a_few_objections_do_not_slow_down() {
        let room = Room::new(50, 100);
        for n in 0..2000 {
            room.learn(&if n % 10 == 0 { objection() } else { Outcome::Delivered });
        }
        assert_eq!(room.allowed(), 100);
    }

    #[test]
    fn there_is_always_room_for_one_and_never_for_more_than_the_most() {
        let room = Room::new(100, 3);
        room.learn(&Outcome::Delivered);
        assert_eq!(room.allowed(), 3);
        for _ in 0..10 {
            room.learn(&objection());
        }
        assert_eq!(room.allowed(), 1);
    }
}
