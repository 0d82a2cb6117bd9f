//! Writes that wait to be sent together.

use std::collections::HashMap;
use std::sync::Arc;

use super::known::bytes;
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
    /// The rows of a statement that overwrites, by what identifies them.
    by_identity: HashMap<Box<[u8]>, usize>,
}

impl Group {
    fn new(statement: Arc<Statement>) -> Self {
        Self { statement, rows: Vec::new(), by_identity: HashMap::new() }
    }

    /// Takes the place of an earlier row for the same.
    fn replace(&mut self, params: &[Value]) -> bool {
        let index = self.by_identity.get(&bytes(self.identity(params)));
        index.is_some_and(|index| {
            self.rows[*index] = params.to_vec();
            true
        })
    }

    fn push(&mut self, params: Vec<Value>) {
        if self.statement.shape.overwrites {
            let identity = bytes(self.identity(&params));
            self.by_identity.insert(identity, self.rows.len());
        }
        self.rows.push(params);
    }

    fn identity<'p>(&self, params: &'p [Value]) -> impl Iterator<Item = &'p Value> {
        self.statement.shape.identity().filter_map(|(_, n)| params.get(n - 1))
    }

    /// The row that a select would find after this write, if the write tells all of it.
    fn answer(&self, select: &Shape, params: &[Value]) -> Option<Vec<Value>> {
        let Shape { verb, tables, sets, overwrites, .. } = &self.statement.shape;
        let Verb::Upsert(target) = verb else { return None };
        if !overwrites || *tables != select.tables || select.keys.len() != target.len() || select.yields.is_empty() {
            return None;
        }
        let asked = |column: &String| {
            let (_, n) = select.keys.iter().find(|(key, _)| key == column)?;
            params.get(n - 1)
        };
        let identity = target.iter().map(asked).collect::<Option<Vec<_>>>()?;
        let row = &self.rows[*self.by_identity.get(&bytes(identity.into_iter()))?];
        let value = |column: &String| {
            let (_, n) = sets.iter().find(|(set, _)| set == column)?;
            row.get((*n)? - 1).cloned()
        };
        select.yields.iter().map(value).collect()
    }
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    pub(crate) fn add(&mut self, statement: Arc<Statement>, params: Vec<Value>, shapes: &Shapes) {
        let Statement { shape, .. } = &*statement;
        let known = self.last.iter_mut().find(|group| group.statement.number == statement.number);
        // What else touches the row since then would have begun a generation of its own.
        if shape.overwrites && known.is_some_and(|group| group.replace(&params)) {
            return;
        }
        let is_key = |table: &str, column: &str| shapes.is_key(table, column);
        // New rows are different rows, or the database refuses them in any order. But a row that was changed or deleted before may
        // have made way for them, by whichever of its columns is unique.
        let is_next = match shape.verb {
            Verb::Insert => self.changed_by_last.is_about(shape),
            _ => self.touched_by_last.may_affect(shape, &params),
        };
        if is_next {
            self.earlier.push(std::mem::take(&mut self.last));
            self.changed_by_last.clear();
            self.touched_by_last.clear();
        }
        if shape.verb != Verb::Insert {
            self.changed_by_last.add(shape, &params, is_key);
        }
        self.touched_by_last.add(shape, &params, is_key);
        self.touched.add(shape, &params, is_key);
        let index = self.last.iter().position(|group| group.statement.number == statement.number);
        let index = index.unwrap_or_else(|| {
            self.last.push(Group::new(statement));
            self.last.len() - 1
        });
        self.last[index].push(params);
    }

    /// The row that a select would find after the queue was sent, if the queue tells.
    pub(super) fn answer(&self, select: &Shape, params: &[Value]) -> Option<Vec<Value>> {
        self.last.iter().find_map(|group| group.answer(select, params))
    }

    pub(crate) fn may_affect(&self, shape: &Shape, params: &[Value]) -> bool {
        self.touched.may_affect(shape, params)
    }

    /// In the order in which they are to be sent.
    pub(crate) fn into_groups(self) -> impl Iterator<Item = Group> {
        self.earlier.into_iter().flatten().chain(self.last)
    }
}
