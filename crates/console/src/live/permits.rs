//! How many pages may be followed at once: in all, and by one person, so that nobody keeps the others from following theirs.

use std::collections::HashMap;
use std::sync::Arc;

use model::ids::AccountId;
use parking_lot::Mutex;

/// Pages that follow what happens, at once.
const MOST: usize = 1024;
/// Of one person: more tabs than anybody looks at.
const MOST_OF_ONE: usize = 32;

#[derive(Clone, Default)]
pub(crate) struct LivePages(Arc<Mutex<HashMap<AccountId, usize>>>);

/// One page that is followed, until it is dropped.
pub(crate) struct LivePage {
    of: LivePages,
    account: AccountId,
}

impl LivePages {
    /// `None` if the person, or all together, follow too many.
    pub(crate) fn begin(&self, account: AccountId) -> Option<LivePage> {
        let mut pages = self.0.lock();
        let of_one = pages.get(&account).copied().unwrap_or(0);
        if of_one >= MOST_OF_ONE || pages.values().sum::<usize>() >= MOST {
            return None;
        }
        pages.insert(account, of_one + 1);
        Some(LivePage { of: self.clone(), account })
    }
}

impl Drop for LivePage {
    fn drop(&mut self) {
        let mut pages = self.of.0.lock();
        if let Some(left) = pages.get_mut(&self.account).map(|n| n.saturating_sub(1)) {
            match left {
                0 => pages.remove(&self.account),
                left => pages.insert(self.account, left),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use model::ids::Id;

    use super::*;

    #[test]
    fn one_person_leaves_room_for_others_and_all_have_a_limit() {
        let pages = LivePages::default();
        let greedy: AccountId = Id::random();
        let mut held: Vec<LivePage> = (0..MOST_OF_ONE).map(|_| pages.begin(greedy).unwrap()).collect();
        assert!(pages.begin(greedy).is_none());
        held.extend((MOST_OF_ONE..MOST).map(|_| pages.begin(Id::random()).unwrap()));
        assert!(pages.begin(Id::random()).is_none());
        drop(held);
        assert!(pages.0.lock().is_empty());
        assert!(pages.begin(greedy).is_some());
    }
}
