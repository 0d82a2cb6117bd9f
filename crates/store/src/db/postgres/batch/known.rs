//! Answers that a batch has read, and questions that it has yet to ask.

use std::collections::HashMap;
use std::sync::Arc;

use tokio_postgres::Row as PgRow;

use super::queue::Queue;
use super::shapes::Statement;
use crate::db::Value;

/// A question: the number of a statement, and its parameters as bytes.
type Question = (usize, Box<[u8]>);

#[derive(Default)]
pub(crate) struct Known(HashMap<Question, Answer>);

struct Answer {
    statement: Arc<Statement>,
    params: Vec<Value>,
    rows: Arc<[PgRow]>,
}

impl Known {
    pub(crate) fn get(&self, statement: &Statement, params: &[Value]) -> Option<Arc<[PgRow]>> {
        self.0.get(&question(statement, params)).map(|answer| Arc::clone(&answer.rows))
    }

    pub(crate) fn insert(&mut self, statement: &Arc<Statement>, params: &[Value], rows: Vec<PgRow>) {
        let answer = Answer { statement: Arc::clone(statement), params: params.to_vec(), rows: rows.into() };
        self.0.insert(question(statement, params), answer);
    }

    /// Forgets what the writes of a queue may have changed.
    pub(crate) fn forget(&mut self, queue: &Queue) {
        if !queue.is_empty() {
            self.0.retain(|_, answer| !queue.may_affect(&answer.statement.shape, &answer.params));
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Questions by statement, each once.
#[derive(Default)]
pub(crate) struct Needs(Vec<Need>);

pub(crate) struct Need {
    pub(crate) statement: Arc<Statement>,
    pub(crate) rows: Vec<Vec<Value>>,
    asked: HashMap<Box<[u8]>, ()>,
}

impl Needs {
    pub(crate) fn add(&mut self, statement: &Arc<Statement>, params: &[Value]) {
        let index = self.0.iter().position(|need| need.statement.number == statement.number);
        let index = index.unwrap_or_else(|| {
            self.0.push(Need { statement: Arc::clone(statement), rows: Vec::new(), asked: HashMap::new() });
            self.0.len() - 1
        });
        let need = &mut self.0[index];
        if need.asked.insert(question(statement, params).1, ()).is_none() {
            need.rows.push(params.to_vec());
        }
    }
}

impl IntoIterator for Needs {
    type Item = Need;
    type IntoIter = std::vec::IntoIter<Need>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

fn question(statement: &Statement, params: &[Value]) -> Question {
    (statement.number, bytes(params.iter()))
}

/// Values one after the other; different ones have different bytes.
pub(super) fn bytes<'v>(values: impl Iterator<Item = &'v Value>) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(32);
    for value in values {
        match value {
            Value::Null => bytes.push(0),
            Value::Int(number) => {
                bytes.push(1);
                bytes.extend(number.to_le_bytes());
            }
            Value::Real(number) => {
                bytes.push(2);
                bytes.extend(number.to_le_bytes());
            }
            Value::Text(text) => {
                bytes.push(3);
                bytes.extend(text.len().to_le_bytes());
                bytes.extend(text.as_bytes());
            }
            Value::Bytes(blob) => {
                bytes.push(4);
                bytes.extend(blob.len().to_le_bytes());
                bytes.extend(blob);
            }
        }
    }
    bytes.into()
}
