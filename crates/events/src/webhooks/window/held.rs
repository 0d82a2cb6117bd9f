//! Room for the events of a window: each has a number until it is finished, and the room is used again then.

use model::event::EventOffset;

use super::HeldEvent;

#[derive(Debug, Default)]
pub(super) struct HeldEvents {
    held: Vec<Option<HeldEvent>>,
    free: Vec<usize>,
    n_bytes: usize,
}

impl HeldEvents {
    pub(super) fn len(&self) -> usize {
        self.held.len() - self.free.len()
    }

    /// The size of the events as JSON.
    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    pub(super) fn insert(&mut self, held: HeldEvent) -> usize {
        self.n_bytes += held.event.json.len();
        match self.free.pop() {
            Some(number) => {
                self.held[number] = Some(held);
                number
            }
            None => {
                self.held.push(Some(held));
                self.held.len() - 1
            }
        }
    }

    pub(crate) fn remove(&mut self, number: usize) -> HeldEvent {
        let held = self.held[number].take().expect(NUMBERED);
        self.free.push(number);
        self.n_bytes -= held.event.json.len();
        held
    }

    pub(super) fn at(&self, number: usize) -> &HeldEvent {
        self.held[number].as_ref().expect(NUMBERED)
    }

    pub(super) fn at_mut(&mut self, number: usize) -> &mut HeldEvent {
        self.held[number].as_mut().expect(NUMBERED)
    }

    /// In no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &HeldEvent> {
        self.held.iter().flatten()
    }

    pub(super) fn first_offset(&self) -> Option<EventOffset> {
        self.iter().map(|held| held.event.offset).min()
    }
}

const NUMBERED: &str = "the number of an event is not used after the event is finished";
