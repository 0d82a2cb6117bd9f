//! Writes that wait to be sent together.

use std::sync::Arc;

use super::shapes::{Shapes, Statement};
use super::touched::Touched;
use super::{Shape, Verb};
use crate::db::Value;

/// In generations: writes of the same one touch different rows, so that their order does not matter.
#[derive(Default)]
pub(crate) struct Queue {
    earlier: Vec<Vec<Group>>,
    last: Vec<Group>,
    /// What the last generation changes of rows that may have been there before.
    changed_by_last: Touched,
    touched_by_last: Touched,
    touched: Touched,
}

/// The rows of one statement.
pub(crate) struct Group {
    pub(crate) statement: Arc<Statement>,
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    pub(crate) fn add(&mut self, statement: Arc<Statement>, params: Vec<Value>, shapes: &Shapes) {
        let Statement { shape, .. } = &*statement;
        let is_key = |table: &str, column: &str| shapes.is_key(table, column);
        // New rows are different rows, or the database refuses them in any order.
        let before = if shape.verb == Verb::Insert { &self.changed_by_last } else { &self.touched_by_last };
        if before.may_affect(shape, &params) {
            self.earlier.push(std::mem::take(&mut self.last));
            self.changed_by_last.clear();
            self.touched_by_last.clear();
        }
        if shape.verb != Verb::Insert {
            self.changed_by_last.add(shape, &params, is_key);
        }
        self.touched_by_last.add(shape, &params, is_key);
        self.touched.add(shape, &params, is_key);
        match self.last.iter_mut().find(|group| group.statement.number == statement.number) {
            Some(group) => group.rows.push(params),
            None => self.last.push(Group { statement, rows: vec![params] }),
        }
    }

    pub(crate) fn may_affect(&self, shape: &Shape, params: &[Value]) -> bool {
        self.touched.may_affect(shape, params)
    }

    /// In the order in which they are to be sent.
    pub(crate) fn into_groups(self) -> impl Iterator<Item = Group> {
        self.earlier.into_iter().flatten().chain(self.last)
    }
}
