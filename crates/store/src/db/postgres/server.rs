//! Where the PostgreSQL servers of the database URL are, and how a connection to the one that takes changes is made.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio_postgres::{Client, SimpleQueryMessage};

use super::address::{Address, NamedHost, Needs};
use super::session::{Limits, Purpose};
use super::tls::{self, Tls};
use super::{FIRST_PAUSE, LONGEST_PAUSE, failure};
use crate::error::{Cause, Error, Result};

pub(super) type Connection = tokio_postgres::Connection<tokio_postgres::Socket, tls::Stream>;

/// Ends what a new connection sends at first.
const WHO_ARE_YOU: &str = "select pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('transaction_read_only')";

pub(crate) struct Server {
    /// In the order of the URL.
    hosts: Vec<NamedHost>,
    /// The index of the host that the last connection was made to, with which the next attempt begins: a host that is gone without
    /// a word costs every attempt its time limit.
    last_host: AtomicUsize,
    needs: Needs,
    limits: Limits,
    tls: Tls,
    /// Shared by all connections: each uses the findings of the others, and all of them recover together.
    outage: Mutex<Option<Outage>>,
    /// Whether Citus spreads the apps over several servers. Known once the database was migrated.
    is_spread: AtomicBool,
}

/// After a failed connect, no connection tries again until a pause is over; callers get the error at once.
struct Outage {
    error: Error,
    pause: Duration,
    over: Instant,
}

/// Why a host is of no use now.
enum Unusable {
    Failed(tokio_postgres::Error),
    TimedOut,
    Standby,
    ReadOnly,
}

impl Server {
    /// Beside the authorities that the machine trusts, those of `ca_file` are, unless the URL names others.
    pub(crate) fn at(url: &str, ca_file: Option<&Path>, statement_limit: Duration) -> Result<Self> {
        let Address { hosts, needs, options, trust, authorities } = Address::read(url).map_err(Error::unavailable)?;
        let tls = Tls::new(trust, authorities.as_deref(), ca_file)?;
        if hosts.iter().any(NamedHost::is_in_the_clear) {
            tracing::warn!(
                "the connection to PostgreSQL may be in the clear; add sslmode=verify-full to the database URL, or at \
                 least sslmode=require"
            );
        }
        let limits = Limits::new(statement_limit, options.as_deref());
        let (last_host, outage) = (AtomicUsize::default(), Mutex::default());
        Ok(Self { hosts, last_host, needs, limits, tls, outage, is_spread: AtomicBool::new(false) })
    }

    /// For connections whose statements have no time limit.
    pub(crate) fn for_maintenance(url: &str, ca_file: Option<&Path>) -> Result<Self> {
        Self::at(url, ca_file, Duration::ZERO)
    }

    pub(crate) fn is_spread(&self) -> bool {
        self.is_spread.load(Ordering::Relaxed)
    }

    pub(crate) fn set_spread(&self, is_spread: bool) {
        self.is_spread.store(is_spread, Ordering::Relaxed);
    }

    /// Fails while it is too early to try again.
    pub(super) fn check(&self) -> Result<()> {
        match &*self.outage() {
            Some(outage) if Instant::now() < outage.over => Err(outage.error.clone()),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn answered(&self) {
        *self.outage() = None;
    }

    pub(super) fn failed(&self, error: &Error) {
        let (mut outage, now) = (self.outage(), Instant::now());
        let pause = match &*outage {
            // Another connection has just found out the same.
            Some(last) if now < last.over => return,
            Some(last) => (last.pause * 2).min(LONGEST_PAUSE),
            None => FIRST_PAUSE,
        };
        *outage = Some(Outage { error: error.clone(), pause, over: now + pause });
    }

    fn outage(&self) -> MutexGuard<'_, Option<Outage>> {
        self.outage.lock()
    }

    /// Connects to the first host that takes changes, and sets the session up for its purpose.
    pub(super) async fn connect(&self, purpose: Purpose) -> Result<(Client, Connection)> {
        let session = purpose.session(&self.limits);
        let (n_hosts, first) = (self.hosts.len(), self.last_host.load(Ordering::Relaxed));
        let mut refusals = Vec::with_capacity(n_hosts);
        for index in (0..n_hosts).map(|n| (first + n) % n_hosts) {
            match self.connect_to(&self.hosts[index], &session).await {
                Ok(connected) => {
                    if self.last_host.swap(index, Ordering::Relaxed) != index {
                        tracing::info!(
                            host = self.hosts[index].name,
                            "another host of the database URL is used from now on"
                        );
                    }
                    return Ok(connected);
                }
                Err(unusable) => refusals.push((&self.hosts[index].name, unusable)),
            }
        }
        Err(refused(refusals))
    }

    async fn connect_to(&self, host: &NamedHost, session: &str) -> Result<(Client, Connection), Unusable> {
        let connecting = async {
            let (client, mut connection) = host.config.connect(self.tls.clone()).await.map_err(Unusable::Failed)?;
            let first = format!("{session}; {WHO_ARE_YOU}");
            let answer = tokio::select! {
                answer = client.simple_query(&first) => answer.map_err(Unusable::Failed)?,
                // It ends on its own only with an error.
                ended = &mut connection => match ended {
                    Err(error) => return Err(Unusable::Failed(error)),
                    Ok(()) => return Err(Unusable::TimedOut),
                },
            };
            self.judge(&answer).map(|()| (client, connection))
        };
        // The driver limits the time until there is a socket, not the time that a server takes to answer on it.
        tokio::time::timeout(host.limit, connecting).await.unwrap_or(Err(Unusable::TimedOut))
    }

    fn judge(&self, answer: &[SimpleQueryMessage]) -> Result<(), Unusable> {
        let row = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let is = |column: usize, text: &str| row.and_then(|row| row.get(column)) == Some(text);
        if is(0, "t") {
            return Err(Unusable::Standby);
        }
        if is(1, "on") && self.needs == Needs::ReadWrite {
            return Err(Unusable::ReadOnly);
        }
        Ok(())
    }
}

/// Tells of every host why it cannot be used, if there are several.
fn refused(mut refusals: Vec<(&String, Unusable)>) -> Error {
    if refusals.len() == 1
        && let Some((_, unusable)) = refusals.pop()
    {
        let is_far = matches!(&unusable, Unusable::Failed(error) if error.code().is_none());
        let message = format!("PostgreSQL cannot be {}: {unusable}", if is_far { "reached" } else { "used" });
        return Error::Unavailable(match unusable {
            Unusable::Failed(error) => Cause::new(message, error),
            Unusable::TimedOut | Unusable::Standby | Unusable::ReadOnly => Cause::from(message),
        });
    }
    let hosts: Vec<String> = refusals.iter().map(|(host, unusable)| format!("{host}: {unusable}")).collect();
    let message = format!("no host of the database URL can be used: {}", hosts.join("; "));
    let answer = refusals.into_iter().find_map(|(_, unusable)| match unusable {
        Unusable::Failed(error) if error.code().is_some() => Some(error),
        Unusable::Failed(_) | Unusable::TimedOut | Unusable::Standby | Unusable::ReadOnly => None,
    });
    Error::Unavailable(match answer {
        Some(error) => Cause::new(message, error),
        None => Cause::from(message),
    })
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unusable::Failed(error) => f.write_str(&failure::connecting(error)),
            Unusable::TimedOut => f.write_str("it does not answer in time"),
            Unusable::Standby => f.write_str("it is a standby, and the service needs the primary"),
            Unusable::ReadOnly => f.write_str("it takes no changes (default_transaction_read_only is on)"),
        }
    }
}
