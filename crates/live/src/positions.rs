//! How far devices are: all that are connected, and of the others those that were here last.

use std::collections::HashMap;
use std::mem;

use model::ids::{Offset, Ordinal};

/// Devices that are away and remembered in a generation, of which there are two: when the newer one is full, it takes the place of
/// the older one, which is forgotten.
const MOST_OF_GENERATION: usize = 100_000;

#[derive(Default)]
pub(crate) struct Positions {
    /// There are no more of them than connections.
    here: HashMap<u32, Here>,
    newer: HashMap<u32, Offset>,
    older: HashMap<u32, Offset>,
}

#[derive(Default)]
struct Here {
    n_connections: usize,
    at: Option<Offset>,
}

impl Positions {
    pub(crate) fn of(&self, ordinal: Ordinal) -> Option<Offset> {
        match self.here.get(&ordinal.0) {
            Some(here) => here.at,
            None => self.newer.get(&ordinal.0).or_else(|| self.older.get(&ordinal.0)).copied(),
        }
    }

    /// A device is so far, or further.
    pub(crate) fn advance(&mut self, ordinal: Ordinal, at: Offset) {
        let at = self.of(ordinal).map_or(at, |known| known.max(at));
        match self.here.get_mut(&ordinal.0) {
            Some(here) => here.at = Some(at),
            None => self.put_away(ordinal, at),
        }
    }

    pub(crate) fn connect(&mut self, ordinal: Ordinal) {
        let (newer, older) = (self.newer.remove(&ordinal.0), self.older.remove(&ordinal.0));
        let here = self.here.entry(ordinal.0).or_default();
        here.n_connections += 1;
        here.at = here.at.or(newer).or(older);
    }

    /// One of the connections of a device has ended.
    pub(crate) fn disconnect(&mut self, ordinal: Ordinal) {
        let Some(here) = self.here.get_mut(&ordinal.0) else { return };
        here.n_connections -= 1;
        if here.n_connections > 0 {
            return;
        }
        if let Some(at) = self.here.remove(&ordinal.0).and_then(|here| here.at) {
            self.put_away(ordinal, at);
        }
    }

    fn put_away(&mut self, ordinal: Ordinal, at: Offset) {
        if self.newer.len() >= MOST_OF_GENERATION && !self.newer.contains_key(&ordinal.0) {
            self.older = mem::take(&mut self.newer);
        }
        self.newer.insert(ordinal.0, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u32 = 250_000;
    const CONNECTED: Ordinal = Ordinal(MANY);

    /// Devices come, and leave again.
    fn come_and_go(positions: &mut Positions, ordinals: std::ops::Range<u32>) {
        for ordinal in ordinals.map(Ordinal) {
            positions.advance(ordinal, Offset(7));
            positions.connect(ordinal);
            positions.disconnect(ordinal);
        }
    }

    #[test]
    fn a_connected_device_is_never_forgotten_and_others_are_those_that_were_here_first() {
        let mut positions = Positions::default();
        positions.advance(CONNECTED, Offset(3));
        positions.connect(CONNECTED);
        come_and_go(&mut positions, 0..MANY);
        assert_eq!(positions.of(CONNECTED), Some(Offset(3)));
        assert_eq!((positions.of(Ordinal(0)), positions.of(Ordinal(MANY - 100_000))), (None, Some(Offset(7))));
        let n_away = positions.newer.len() + positions.older.len();
        assert!(n_away <= 2 * MOST_OF_GENERATION && positions.here.len() == 1, "{n_away}");
    }

    #[test]
    fn a_device_stays_where_it_is_by_whatever_way_it_comes_and_goes() {
        let mut positions = Positions::default();
        let at = Ordinal(5);
        positions.connect(at);
        assert_eq!(positions.of(at), None);
        positions.advance(at, Offset(4));
        positions.connect(at);
        positions.advance(at, Offset(3));
        positions.disconnect(at);
        assert_eq!((positions.of(at), positions.here.len()), (Some(Offset(4)), 1), "another connection is open");
        positions.disconnect(at);
        assert_eq!((positions.of(at), positions.here.len()), (Some(Offset(4)), 0));
        positions.advance(at, Offset(6));
        positions.connect(at);
        assert_eq!((positions.of(at), positions.newer.len()), (Some(Offset(6)), 0));
    }
}
