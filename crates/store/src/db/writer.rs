//! Group commit: a thread takes every command that queued while the last commit ran, and commits them together. The more commands
//! come, the cheaper each gets.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use model::ids::AppId;

use super::command::{Command, CommandQueue};
use super::pace::Pace;
use super::postgres::{Suspended, failure::is_timeout};
use super::{Access, Connection, DatabaseHealth, Durations, FailedCommit, Hub, Operation, Tx};
use crate::audit::Tally;
use crate::error::{Constraint, Error};

/// Times that commands are run until all they ask for is known. Few ask more than four questions of which one depends on the last.
const MOST_TURNS: usize = 32;
/// Times that a transaction is tried before its callers are told that the database is unavailable.
const ATTEMPTS: usize = 4;

pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) queue: CommandQueue,
    pub(crate) hub: Arc<Hub>,
    pub(crate) commits: Arc<AtomicU64>,
    pub(crate) durations: Durations,
    pub(crate) health: Arc<DatabaseHealth>,
    pub(crate) tally: Arc<Tally>,
}

impl Writer {
    /// Serves until every sender is gone and the queue is empty.
    pub(crate) fn run(mut self) {
        let (mut batch, mut pace) = (Vec::new(), Pace::default());
        while self.connection.wait(self.queue.take(&mut batch, self.tally.next_due())) {
            self.write_counts(self.tally.take_due(Instant::now()));
            if batch.is_empty() {
                continue;
            }
            if self.connection.is_remote() {
                pace.wait(|| batch.len() + self.queue.len());
                self.queue.take_more(&mut batch, |_| true);
            }
            // One order for all: two nodes that lock the same apps lock them in the same sequence.
            batch.sort_by_key(|command| command.app);
            let began = Instant::now();
            let n_commands = self.run_all(std::mem::take(&mut batch));
            pace.note(n_commands, self.queue.len(), began.elapsed());
            self.connection.maintain();
        }
        // A database that is away would only keep the process from ending.
        if self.health.trouble().is_none() {
            self.write_counts(self.tally.apps());
        }
        self.connection.close();
    }

    /// Writes the counts of the audit log that wait for rows of these apps.
    fn write_counts(&mut self, apps: BTreeSet<AppId>) {
        let commands =
            apps.into_iter().map(|app| (app, Command::new(app, app, Box::new(move |tx| tx.write_counts(app)))));
        let (batch, answers): (Vec<_>, Vec<_>) =
            commands.map(|(app, (command, answer))| (command, (app, answer))).unzip();
        if batch.is_empty() {
            return;
        }
        self.run_all(batch);
        for (app, mut answer) in answers {
            if let Ok(Some(Error::Conflict(Constraint::AppGone))) = answer.try_recv() {
                self.tally.forget(app);
            }
        }
    }

    fn run_all(&mut self, batch: Vec<Command>) -> usize {
        if self.connection.is_spread() { self.run_spread(batch) } else { self.run_batch(batch) }
    }

    /// Runs the commands for each app by themselves: a transaction is about one app. Returns how many were run.
    fn run_spread(&mut self, mut batch: Vec<Command>) -> usize {
        let mut n_commands = 0;
        batch.sort_by_key(|command| (command.place, command.app));
        while let Some(first) = batch.first() {
            let (place, app) = (first.place, first.app);
            let is_same = |command: &Command| (command.place, command.app) == (place, app);
            let rest = batch.split_off(batch.partition_point(is_same));
            n_commands += self.run_batch(std::mem::replace(&mut batch, rest));
        }
        n_commands
    }

    /// Runs a batch, and commands that join it, and answers every one. Returns how many there were.
    fn run_batch(&mut self, mut batch: Vec<Command>) -> usize {
        if let Some(error) = self.health.misplaced() {
            return batch.drain(..).map(|command| command.refuse(error.clone())).count();
        }
        match self.run_together(&mut batch) {
            BatchOutcome::Answered { has_changes } => {
                // A commit without changes does not show that the database can be written.
                if has_changes {
                    self.health.succeeded(Operation::Write);
                }
                batch.drain(..).map(Command::answer).count()
            }
            BatchOutcome::Unavailable(error) => {
                if self.connection.is_to_blame() {
                    self.health.failed(Operation::Write, &error);
                } else {
                    tracing::debug!(%error, "a server behind the database does not answer");
                }
                batch.drain(..).map(|command| command.refuse(error.clone())).count()
            }
        }
    }

    /// A server behind the database that is away is asked twice, because the first connection may be from before it was; more would
    /// only keep the apps of other servers waiting.
    fn most_attempts(&self) -> usize {
        if self.connection.is_to_blame() { ATTEMPTS } else { 2 }
    }

    /// Runs the commands in one transaction. If one of them fails after it has written, all of it is rolled back and run again with
    /// savepoints, so that the failing commands are undone by themselves and the others still share one commit.
    /// The transaction is also repeated if the database gave it up (a deadlock with another node, a lost connection), but not if
    /// that happened during the commit: then the change may have been made.
    fn run_together(&mut self, commands: &mut Vec<Command>) -> BatchOutcome {
        // In ascending order, as in the batches of all nodes, so that no two wait for each other's locks.
        let mut apps: Vec<AppId> = commands.iter().map(|command| command.app).collect();
        apps.dedup();
        let mut places: Vec<AppId> = commands.iter().map(|command| command.place).collect();
        places.sort_unstable();
        places.dedup();
        let has_place = |command: &Command| apps.contains(&command.app) && places.contains(&command.place);
        let mut way = Way::Gathering;
        let (mut n_attempts, mut last) = (0, None);
        // A statement that has taken too long would only do so again.
        while n_attempts < self.most_attempts() && !last.as_ref().is_some_and(is_timeout) {
            let began = Instant::now();
            let mut tx = match self.connection.begin(Access::Write(&apps)) {
                Ok(tx) => tx,
                Err(error) => {
                    self.tally.doubt();
                    return BatchOutcome::Unavailable(error);
                }
            };
            let ran = match way {
                Way::Gathering => run_gathering(&mut tx, commands, &self.tally, |batch| {
                    // Whoever joined later would have fewer attempts than are its due.
                    if n_attempts == 0 {
                        self.queue.take_more(batch, has_place);
                    }
                }),
                Way::Savepoints => run_with_savepoints(&mut tx, commands),
            };
            if let Some(error @ Error::Corrupt(_)) = tx.broken() {
                self.health.note_damage(error);
            }
            match (ran, tx.broken()) {
                (_, Some(error @ Error::Unavailable(_))) => {
                    self.tally.doubt();
                    last = Some(error.clone());
                    n_attempts += 1;
                }
                // There is no other command to run again, and its own answer stands.
                (RunOutcome::StoppedAtFailure, _) if commands.len() == 1 => {
                    return BatchOutcome::Answered { has_changes: false };
                }
                (RunOutcome::StoppedAtFailure | RunOutcome::CannotGather, _) => way = Way::Savepoints,
                (RunOutcome::Completed, _) => {
                    let (has_changes, has_deliveries) = (tx.changed, tx.has_deliveries);
                    match tx.try_commit() {
                        Ok(signals) => {
                            self.commits.fetch_add(1, Ordering::Relaxed);
                            self.hub.count_deliveries(has_deliveries);
                            self.durations.commits.observe(began.elapsed().as_secs_f64());
                            self.hub.publish(&signals);
                            return BatchOutcome::Answered { has_changes };
                        }
                        Err(FailedCommit { error: error @ Error::Unavailable(_), is_undone: true }) => {
                            self.tally.doubt();
                            last = Some(error);
                        }
                        // One of the commands has written something that conflicts; which one is found by running each by itself.
                        Err(FailedCommit { error, is_undone: true }) => {
                            last = Some(error);
                            way = Way::Savepoints;
                        }
                        Err(FailedCommit { error, is_undone: false }) => {
                            self.hub.count_deliveries(has_deliveries);
                            self.tally.doubt();
                            return BatchOutcome::Unavailable(error);
                        }
                    }
                    n_attempts += 1;
                }
            }
        }
        BatchOutcome::Unavailable(last.unwrap_or_else(|| Error::unavailable("the transaction was given up")))
    }
}

/// How the commands of a batch are run.
enum Way {
    Gathering,
    Savepoints,
}

/// How far the commands were run.
enum RunOutcome {
    Completed,
    /// A command failed and has left something to undo; those after it were not run.
    StoppedAtFailure,
    /// What the commands ask for cannot be read together: what was queued before conflicts, and which of them is to blame is found
    /// by running each by itself.
    CannotGather,
}

enum BatchOutcome {
    /// All commands have their answers, of which those without an error are committed.
    Answered {
        has_changes: bool,
    },
    Unavailable(Error),
}

/// Runs commands against what is known, and reads what they ask for, in turns; then those by themselves that cannot be run so.
///
/// The first reading waits until no other node holds the apps. Whoever comes meanwhile joins: another reading costs less than the
/// transaction that they would need otherwise, and the more nodes there are, the longer is the wait.
fn run_gathering(
    tx: &mut Tx<'_>,
    commands: &mut Vec<Command>,
    tally: &Arc<Tally>,
    join: impl FnOnce(&mut Vec<Command>),
) -> RunOutcome {
    tx.use_tally(tally);
    let mut waiting: Vec<usize> = (0..commands.len()).collect();
    let (mut alone, mut join) = (Vec::new(), Some(join));
    if tx.start_gathering() {
        for _ in 0..MOST_TURNS {
            let mut put_aside = Vec::new();
            for n in waiting {
                let command = &mut commands[n];
                let before = tx.begin_gathered(command.app, command.request.as_ref());
                let is_ok = command.run(tx);
                match tx.end_gathered(before, is_ok) {
                    None => {}
                    Some(Suspended::UntilKnown) => put_aside.push(n),
                    Some(Suspended::ToRunAlone) => alone.push(n),
                }
            }
            waiting = put_aside;
            if waiting.is_empty() {
                break;
            }
            if tx.read_needs().is_err() {
                tx.stop_gathering();
                return RunOutcome::CannotGather;
            }
            if let Some(join) = join.take() {
                let n_before = commands.len();
                join(commands);
                waiting.extend(n_before..commands.len());
            }
        }
        tx.stop_gathering();
    }
    for n in waiting.into_iter().chain(alone) {
        let command = &mut commands[n];
        tx.next_command(command.app, command.request.as_ref());
        if !command.run(tx) {
            return RunOutcome::StoppedAtFailure;
        }
        tx.record_request();
    }
    end(tx)
}

/// A savepoint costs each command two more statements, so this is only for batches in which a command failed.
fn run_with_savepoints(tx: &mut Tx<'_>, commands: &mut [Command]) -> RunOutcome {
    for command in commands {
        let Ok(savepoint) = tx.set_savepoint() else { break };
        tx.next_command(command.app, command.request.as_ref());
        let is_ok = command.run(tx) && command.send_queue(tx);
        if is_ok {
            tx.record_request();
        }
        let done = if is_ok { tx.release() } else { tx.undo_to(savepoint) };
        if done.is_err() {
            break;
        }
    }
    end(tx)
}

fn end(tx: &mut Tx<'_>) -> RunOutcome {
    tx.end_commands();
    // Not left to the commit, after which nothing is tried again. If it fails, the transaction is broken.
    let _ = tx.write_pending();
    RunOutcome::Completed
}
