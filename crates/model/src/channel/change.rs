//! The change of one optional value in an update: unchanged, cleared, or set.

use crate::json::{At, Fields};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The key is not given.
    #[default]
    Keep,
    /// The key is given as `null`.
    Clear,
    Set(T),
}

impl<T> Change<T> {
    pub fn read<'a>(fields: &mut Fields<'a>, key: &str, read: impl FnOnce(&At<'a>) -> Option<T>) -> Change<T> {
        match fields.take(key) {
            None => Change::Keep,
            Some(at) if at.is_null() => Change::Clear,
            // An unreadable value has been noted as a problem, so the whole update is refused; or passed over, so it stays.
            Some(at) => read(&at).map_or(Change::Keep, Change::Set),
        }
    }

    pub fn given(&self) -> Option<&T> {
        match self {
            Change::Keep | Change::Clear => None,
            Change::Set(value) => Some(value),
        }
    }
}

impl<T: Clone> Change<T> {
    pub fn update(&self, slot: &mut Option<T>) {
        match self {
            Change::Keep => {}
            Change::Clear => *slot = None,
            Change::Set(value) => *slot = Some(value.clone()),
        }
    }
}
