//! The statements of a connection, each analyzed when it is first used.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Shape;

/// A statement and its number, by which it is told from others quickly.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) number: usize,
    pub(crate) sql: String,
    pub(crate) shape: Shape,
}

/// Some texts have lists of their own making in them, so there is no end of them.
const MOST: usize = 1024;

#[derive(Default)]
pub(crate) struct Shapes {
    n_analyzed: usize,
    by_text: HashMap<String, Arc<Statement>>,
    /// Columns by which statements choose rows, by table.
    keys: HashMap<String, HashSet<String>>,
}

impl Shapes {
    pub(crate) fn get(&mut self, sql: &str) -> Arc<Statement> {
        if let Some(statement) = self.by_text.get(sql) {
            return Arc::clone(statement);
        }
        let shape = Shape::of(sql);
        for table in &shape.tables {
            let chosen = shape.keys.iter().map(|(column, _)| column);
            let target = if let super::Verb::Upsert(target) = &shape.verb { target.as_slice() } else { &[] };
            self.keys.entry(table.clone()).or_default().extend(chosen.chain(target).cloned());
        }
        if self.by_text.len() == MOST {
            self.by_text.clear();
        }
        self.n_analyzed += 1;
        let statement = Arc::new(Statement { number: self.n_analyzed, sql: sql.to_owned(), shape });
        self.by_text.insert(sql.to_owned(), Arc::clone(&statement));
        statement
    }

    pub(crate) fn is_key(&self, table: &str, column: &str) -> bool {
        self.keys.get(table).is_some_and(|columns| columns.contains(column))
    }
}
