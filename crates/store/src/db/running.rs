//! The command that a transaction is running: its app, and the request on whose behalf it is run.

use std::fmt::Display;
use std::sync::Arc;

use model::ids::AppId;
use serde_json::Value as Json;

use super::Tx;
use crate::apps::OPERATOR;
use crate::audit::{About, PendingAudit, Request, Tally};
use crate::error::{Constraint, Error, Result};

impl Tx<'_> {
    /// By whose credential the running command is asked for, if it is by a request that the audit log names.
    pub fn requested_by(&self) -> Option<&str> {
        self.request.as_deref().map(Request::credential)
    }

    /// Tells the audit log what the running command has made or changed. What the path of the request names is known already.
    pub fn note_object(&mut self, what: &'static str, id: impl Display) {
        if self.request.as_ref().is_some_and(|request| request.has_own_row()) {
            self.about.objects.push((what, id.to_string()));
        }
    }

    /// Tells the audit log more about the change. Neither secrets nor what is known of people belongs here.
    pub fn note_detail(&mut self, name: &'static str, value: impl Into<Json>) {
        if self.request.as_ref().is_some_and(|request| request.has_own_row()) {
            self.about.detail.insert(name.to_owned(), value.into());
        }
    }

    /// Begins a new command within this transaction. If its app is gone, it fails with
    /// [`crate::Constraint::AppGone`] at its first statement: any rows it wrote would stay forever.
    pub(super) fn next_command(&mut self, app: AppId, request: Option<&Arc<Request>>) {
        self.wrote = false;
        self.has_effect = false;
        self.app = Some(app);
        self.request = request.cloned();
        self.about = About::default();
        self.is_too_late = self.deleted.contains(&app);
    }

    /// The running command has succeeded. If it has changed something, its request gets its row.
    pub(super) fn record_request(&mut self) {
        let (Some(app), Some(request)) = (self.app, self.request.take()) else { return };
        let about = std::mem::take(&mut self.about);
        if !self.has_effect || request.is_recorded() {
            return;
        }
        let app = about.new_app.unwrap_or(app);
        // The rows of a deleted app are going to be erased.
        let app = if self.deleted.contains(&app) { OPERATOR } else { app };
        self.audit.push(app, request, about);
    }

    /// All commands have run. Anything written from here on is for all of them.
    pub(super) fn end_commands(&mut self) {
        self.app = None;
        self.request = None;
        self.is_too_late = false;
    }

    pub(super) fn note_change(&mut self, has_changed: bool) {
        self.has_effect |= has_changed;
        self.changed |= has_changed;
    }

    pub(crate) fn pending_audit(&mut self) -> &mut PendingAudit {
        &mut self.audit
    }

    /// From here on counts of the audit log may wait, as long as nothing of the transaction is undone by itself.
    pub(super) fn use_tally(&mut self, tally: &Arc<Tally>) {
        self.audit.use_tally(tally);
    }

    /// Has the counts of the audit log written that wait for rows of an app. The command fails if the app is gone.
    pub(crate) fn write_counts(&mut self, app: AppId) -> bool {
        // On PostgreSQL it is known from here on whether there is the app.
        if self.numbers_at_begin(app).is_ok() {
            self.audit.write_counts(app);
        }
        true
    }

    pub(crate) fn note_new_app(&mut self, app: AppId) {
        self.about.new_app = Some(app);
    }

    /// From here on commands for the app fail with [`Constraint::AppGone`].
    pub(crate) fn note_deleted_app(&mut self, app: AppId) {
        self.deleted.push(app);
        self.records.forget(app);
        self.audit.forget(app);
        self.numbers.forget(app);
    }

    /// Ends the command with a conflict that its statements have shown. Nothing of it is committed, whatever
    /// the caller does with the error.
    pub(crate) fn refuse<T>(&mut self, constraint: Constraint) -> Result<T> {
        self.remember_error(Err(Error::Conflict(constraint)))
    }
}
