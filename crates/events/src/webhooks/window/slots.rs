//! Room for the events of a window: each has a number until it is finished, and the room is used again then.

use model::event::EventOffset;

use super::Slot;

#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    n_bytes: usize,
}

impl Slots {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The size of the events as JSON.
    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    pub(super) fn insert(&mut self, slot: Slot) -> usize {
        self.n_bytes += slot.event.json.len();
        match self.free.pop() {
            Some(number) => {
                self.slots[number] = Some(slot);
                number
            }
            None => {
                self.slots.push(Some(slot));
                self.slots.len() - 1
            }
        }
    }

    pub(crate) fn remove(&mut self, number: usize) -> Slot {
        let slot = self.slots[number].take().expect(NUMBERED);
        self.free.push(number);
        self.n_bytes -= slot.event.json.len();
        slot
    }

    pub(super) fn at(&self, number: usize) -> &Slot {
        self.slots[number].as_ref().expect(NUMBERED)
    }

    pub(super) fn at_mut(&mut self, number: usize) -> &mut Slot {
        self.slots[number].as_mut().expect(NUMBERED)
    }

    /// In no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().flatten()
    }

    pub(super) fn first_offset(&self) -> Option<EventOffset> {
        self.iter().map(|slot| slot.event.offset).min()
    }
}

const NUMBERED: &str = "a number stands for an event until that is finished, which nobody speaks of afterwards";
