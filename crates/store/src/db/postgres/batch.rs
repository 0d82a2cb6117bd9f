//! A batch of commands as a unit of work.
//!
//! A command is run against what is known in memory. What it asks for and is not known yet is *needed*: the command is put aside,
//! what all commands need is read with one statement per kind of question, and the command is run again. What a command writes
//! without waiting for an answer is *staged*, and *queued* when the command is done, so that the rows that all commands write
//! leave together, one statement per kind, with the commit.
//!
//! What the queue touches is not known any more: a command that asks for it is put aside until the queue was sent. A command that
//! needs the answer to a write, or reads what it has written itself, is run by itself at the end, statement by statement.

mod known;
mod queue;
mod shape;
mod shapes;
mod touched;

use std::sync::Arc;

use tokio_postgres::Row as PgRow;

use super::super::{Row, Value, Visit};
use crate::error::{Error, Result};

use known::Known;
pub(crate) use known::Needs;
pub(crate) use queue::{Group, Queue};
pub(crate) use shape::{Seam, Shape, Verb, with_columns, with_shifted};
pub(crate) use shapes::{Shapes, Statement};
use touched::Touched;

#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) shapes: Shapes,
    known: Known,
    needs: Needs,
    queue: Queue,
    staged: Staged,
    /// Whether commands are run against what is known, or statement by statement.
    pub(crate) is_gathering: bool,
    /// Whether a question must name its app to be asked for many rows at once.
    pub(crate) is_spread: bool,
    /// Whether what is needed depends on what is queued.
    must_send_queue: bool,
    suspended: Option<Suspended>,
}

/// What the running command has written.
#[derive(Default)]
struct Staged {
    writes: Vec<(Arc<Statement>, Vec<Value>)>,
    touched: Touched,
}

/// The answer to a question.
pub(crate) enum Answer {
    Read(Arc<[PgRow]>),
    /// One row, as an earlier command has written it.
    Written(Vec<Value>),
}

impl Answer {
    pub(crate) fn visit(&self, visit: &mut Visit<'_>) -> Result<()> {
        match self {
            Answer::Read(rows) => rows.iter().try_for_each(|row| visit(&Row::answer_of_set(row))),
            Answer::Written(row) => visit(&Row::written(row)),
        }
    }
}

/// Why a command was put aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspended {
    /// It is run again when what it needs is known.
    UntilKnown,
    /// It cannot be run against what is known.
    ToRunAlone,
}

impl Batch {
    /// Forgets everything about the last batch but the statements.
    pub(crate) fn start(&mut self) {
        self.known.clear();
        self.needs = Needs::default();
        self.queue = Queue::default();
        self.drop_staged();
        self.is_gathering = false;
        self.must_send_queue = false;
    }

    /// Forgets what was read: from here on statements are run as they come.
    pub(crate) fn stop_gathering(&mut self) {
        self.known.clear();
        self.needs = Needs::default();
        self.is_gathering = false;
        self.must_send_queue = false;
    }

    /// The rows of a question that is answered from memory; else the command is put aside.
    pub(crate) fn look_up(&mut self, sql: &str, params: &[Value]) -> Result<Answer> {
        let statement = self.shapes.get(sql);
        if statement.shape.verb != Verb::Select
            || params.is_empty()
            || (self.is_spread && statement.shape.place.is_none() && !statement.shape.is_at_home())
            || self.staged.touched.may_affect(&statement.shape, params)
        {
            return Err(self.suspend(Suspended::ToRunAlone));
        }
        if self.queue.may_affect(&statement.shape, params) {
            if let Some(row) = self.queue.answer(&statement.shape, params) {
                return Ok(Answer::Written(row));
            }
            self.must_send_queue = true;
        } else if let Some(rows) = self.known.get(&statement, params) {
            return Ok(Answer::Read(rows));
        }
        self.needs.add(&statement, params);
        Err(self.suspend(Suspended::UntilKnown))
    }

    /// Notes a question that is not asked yet, if it can be answered from memory later.
    pub(crate) fn foresee(&mut self, sql: &str, params: &[Value]) {
        let statement = self.shapes.get(sql);
        let is_question = statement.shape.verb == Verb::Select && !params.is_empty();
        if is_question
            && !self.queue.may_affect(&statement.shape, params)
            && self.known.get(&statement, params).is_none()
        {
            self.needs.add(&statement, params);
        }
    }

    /// A write that needs no answer.
    pub(crate) fn stage(&mut self, sql: &str, params: &[Value]) {
        let statement = self.shapes.get(sql);
        self.staged.touched.add(&statement.shape, params, |table, column| self.shapes.is_key(table, column));
        self.staged.writes.push((statement, params.to_vec()));
    }

    /// The same outside of commands, or of a command that is run by itself.
    pub(crate) fn enqueue(&mut self, sql: &str, params: &[Value]) {
        let statement = self.shapes.get(sql);
        self.queue.add(statement, params.to_vec(), &self.shapes);
    }

    /// The command stops here. What it does with the error does not matter.
    pub(crate) fn suspend(&mut self, why: Suspended) -> Error {
        // The stronger reason counts.
        if self.suspended != Some(Suspended::ToRunAlone) {
            self.suspended = Some(why);
        }
        Error::unavailable("the command is put aside")
    }

    /// Ends a command. What it staged is queued if it is done and is to be kept.
    pub(crate) fn end_command(&mut self, is_kept: bool) -> Option<Suspended> {
        let suspended = self.suspended;
        if is_kept && suspended.is_none() {
            for (statement, params) in std::mem::take(&mut self.staged.writes) {
                self.queue.add(statement, params, &self.shapes);
            }
        }
        self.drop_staged();
        suspended
    }

    fn drop_staged(&mut self) {
        self.staged.writes.clear();
        self.staged.touched.clear();
        self.suspended = None;
    }

    /// What is to be read next, and what is to be sent before.
    pub(crate) fn take_needs(&mut self) -> (Queue, Needs) {
        let queue = if std::mem::take(&mut self.must_send_queue) { self.take_queue() } else { Queue::default() };
        (queue, std::mem::take(&mut self.needs))
    }

    pub(crate) fn learn(&mut self, statement: &Arc<Statement>, params: &[Value], rows: Vec<PgRow>) {
        self.known.insert(statement, params, rows);
    }

    /// Everything that is queued. What it touches is not known any more.
    pub(crate) fn take_queue(&mut self) -> Queue {
        let queue = std::mem::take(&mut self.queue);
        self.known.forget(&queue);
        queue
    }

    /// Whether what is queued must be sent before a statement is run by itself.
    pub(crate) fn concerns(&mut self, sql: &str, params: &[Value]) -> bool {
        if self.queue.is_empty() {
            return false;
        }
        let statement = self.shapes.get(sql);
        self.queue.may_affect(&statement.shape, params)
    }
}
