//! Disturbances in random order: nodes that are killed or stand still, and a database that is restarted, or replaced by its
//! standby.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::time::sleep;

use super::chance::Chance;
use super::nodes::Nodes;
use crate::report;

/// For work to be taken up, at the longest.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug)]
enum Disturbance {
    Kill,
    KillTwo,
    /// For less time than a lease lasts, or for more.
    Pause,
    LongPause,
    RestartDatabase,
    /// Once: there is one standby.
    FailOver,
}

/// Each kind once, and then some of them more often than others.
const DISTURBANCES: [Disturbance; 9] = [
    Disturbance::Kill,
    Disturbance::RestartDatabase,
    Disturbance::FailOver,
    Disturbance::LongPause,
    Disturbance::KillTwo,
    Disturbance::Pause,
    Disturbance::Kill,
    Disturbance::Kill,
    Disturbance::Pause,
];
const KINDS: usize = 6;

/// What was done, and how long the others needed to take up the work.
#[derive(Default)]
pub(super) struct Disturbances {
    pub(super) n_killed: u64,
    pub(super) n_paused: u64,
    pub(super) n_restarts: u64,
    pub(super) n_failovers: u64,
    /// From the end of a process until none of its jobs was claimed by it.
    pub(super) after_kill: Vec<Duration>,
    /// The same of processes that stood still.
    pub(super) after_pause: Vec<Duration>,
}

impl Disturbances {
    pub(super) const fn n_all(&self) -> u64 {
        self.n_killed + self.n_paused + self.n_restarts + self.n_failovers
    }
}

/// Disturbs until the time is over. In the end all nodes run.
pub(super) async fn disturb(nodes: &mut Nodes, chance: &mut Chance, time: Duration) -> Result<Disturbances> {
    let (began, mut done) = (Instant::now(), Disturbances::default());
    let mut n_done = 0;
    while began.elapsed() < time {
        sleep(chance.millis(500, 4_000)).await;
        let next = DISTURBANCES[if n_done < KINDS { n_done } else { chance.below(DISTURBANCES.len()) }];
        n_done += 1;
        let victim = chance.below(nodes.len());
        report::progress(&format!("{:3.0} s: {next:?} {victim}", began.elapsed().as_secs_f64()));
        match next {
            Disturbance::Kill => kill(nodes, chance, &[victim], &mut done).await?,
            Disturbance::KillTwo => kill(nodes, chance, &[victim, (victim + 1) % nodes.len()], &mut done).await?,
            Disturbance::Pause => pause(nodes, victim, chance.millis(1_000, 12_000), &mut done).await?,
            Disturbance::LongPause => pause(nodes, victim, chance.millis(18_000, 25_000), &mut done).await?,
            Disturbance::FailOver if nodes.has_standby() => {
                done.n_failovers += 1;
                nodes.fail_over().await?;
            }
            Disturbance::RestartDatabase | Disturbance::FailOver => {
                done.n_restarts += 1;
                nodes.restart_database().await?;
            }
        }
    }
    Ok(done)
}

async fn kill(nodes: &mut Nodes, chance: &mut Chance, victims: &[usize], done: &mut Disturbances) -> Result<()> {
    let killed = Instant::now();
    for victim in victims {
        nodes.kill(*victim)?;
        done.n_killed += 1;
    }
    for victim in victims {
        let taken = takeover(nodes, nodes.number(*victim), killed, PATIENCE).await;
        ensure!(taken != Takeover::Missing, "Nobody took up the work of a node that was killed a minute ago.");
        if let Takeover::After(time) = taken {
            done.after_kill.push(time);
        }
    }
    sleep(chance.millis(0, 3_000)).await;
    for victim in victims {
        nodes.start_again(*victim).await?;
    }
    Ok(())
}

async fn pause(nodes: &Nodes, victim: usize, time: Duration, done: &mut Disturbances) -> Result<()> {
    let paused = Instant::now();
    nodes.signal(victim, "STOP")?;
    done.n_paused += 1;
    if let Takeover::After(time) = takeover(nodes, nodes.number(victim), paused, time).await {
        done.after_pause.push(time);
    }
    sleep(time.saturating_sub(paused.elapsed())).await;
    nodes.signal(victim, "CONT")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takeover {
    /// The node had nothing to take up.
    Idle,
    After(Duration),
    /// Not within the time.
    Missing,
}

async fn takeover(nodes: &Nodes, number: i64, since: Instant, limit: Duration) -> Takeover {
    let mut had_jobs = false;
    while since.elapsed() < limit {
        match nodes.jobs_of(number).await {
            Some(0) if had_jobs => return Takeover::After(since.elapsed()),
            Some(0) => return Takeover::Idle,
            Some(_) => had_jobs = true,
            None => {}
        }
        sleep(LOOK_EVERY).await;
    }
    Takeover::Missing
}
