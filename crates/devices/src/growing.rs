//! What devices create counts against the limits of their app.

use base::{Growing, Result};
use model::ids::NamedUserId;
use model::term::{Term, is_assignable};
use store::growth::Created;
use store::named_users::{self, NamedUser};
use store::{Tx, terms};

use crate::change_context::ChangeContext;

/// Of what is kept for events, for devices that may send only so many of those.
const BYTES_OF_AN_EVENT: usize = 1024;

impl ChangeContext<'_> {
    /// Whether a device asks for the change, which anybody can be.
    pub(crate) fn is_by_device(&self) -> bool {
        self.growth.is_some()
    }

    /// Before a channel is created.
    pub(crate) fn admit_channel(&self, tx: &mut Tx<'_>) -> Result<()> {
        self.admit(tx, Created::Channels)
    }

    /// Before a term that has no number gets one. Terms of which there are only so many are free.
    pub(crate) fn admit_term(&self, tx: &mut Tx<'_>, term: &Term) -> Result<()> {
        if self.growth.is_none() {
            return Ok(());
        }
        let group = term.key().0;
        match term {
            Term::Tag { .. } | Term::Subscription(_) | Term::List(_) if is_assignable(group) => {
                if !self.index.has_group(group) && !terms::has_group(tx, self.app, group)? {
                    self.admit(tx, Created::TagGroups)?;
                }
                self.admit(tx, Created::Tags)
            }
            Term::Tag { .. } | Term::Subscription(_) | Term::List(_) | Term::DeviceType(_) | Term::OwnClock(_) => {
                self.admit(tx, Created::Properties)
            }
            Term::Reach(_)
            | Term::Live(_)
            | Term::DeliveryType(_)
            | Term::Day(_)
            | Term::LastPlace(_)
            | Term::Retired { .. } => Ok(()),
        }
    }

    /// Before attributes are changed.
    pub(crate) fn admit_attributes(&self, n_operations: usize) -> Result<()> {
        match self.growth {
            Some(growth) => growth.send(Growing::Attributes, n_operations as u64, self.journal.now()),
            None => Ok(()),
        }
    }

    /// When a change keeps what a channel looked like. A kilobyte counts as an event, with which it is kept. It is never refused
    /// for that: a device can always change, and log out.
    pub(crate) fn count_face(&self, n_bytes: usize) {
        if let Some(growth) = self.growth
            && n_bytes > 0
        {
            let n_events = n_bytes.div_ceil(BYTES_OF_AN_EVENT) as u64;
            drop(growth.send(Growing::Events, n_events, self.journal.now()));
        }
    }

    /// The named user, who is created if necessary.
    pub(crate) fn ensure_user(&self, tx: &mut Tx<'_>, user: &NamedUserId) -> Result<NamedUser> {
        if let Some(known) = named_users::get(tx, self.app, user)? {
            return Ok(known);
        }
        self.admit_user(tx)?;
        Ok(named_users::ensure(tx, self.app, user, self.journal.now())?)
    }

    /// Before a named user is created, or a channel that does not exist is promised to one.
    pub(crate) fn admit_user(&self, tx: &mut Tx<'_>) -> Result<()> {
        self.admit(tx, Created::NamedUsers)
    }

    fn admit(&self, tx: &mut Tx<'_>, what: Created) -> Result<()> {
        match self.growth {
            Some(growth) => growth.create(tx, what, self.journal.now()),
            None => Ok(()),
        }
    }
}
