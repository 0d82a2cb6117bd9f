//! Many callers at once, each with a connection of its own and the next request ready when the answer comes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::task::JoinSet;

use crate::http::Connection;
use crate::report::{duration, number};
use crate::sample::Sample;
use crate::usage::Process;

pub(crate) const CLIENTS: usize = 64;

/// The work of many callers at once.
pub(crate) struct Work {
    pub(crate) n_calls: u64,
    pub(crate) elapsed: Duration,
    /// CPU time of the process that did the work.
    pub(crate) cpu: Duration,
    /// CPU time of this process: the callers, and the work if it was done here as well.
    own_cpu: Duration,
    pub(crate) latency: Sample,
}

impl Work {
    pub(crate) fn per_second(&self) -> f64 {
        self.n_calls as f64 / self.elapsed.as_secs_f64()
    }

    pub(crate) fn per_cpu_second(&self) -> f64 {
        self.n_calls as f64 / self.cpu.as_secs_f64().max(0.01)
    }

    /// Seconds of CPU time that it takes to send one request to a server and to read its answer.
    pub(crate) fn calling(&self) -> f64 {
        self.own_cpu.as_secs_f64() / self.n_calls.max(1) as f64
    }
}

/// The columns of [`row`].
pub(crate) const HEADING: [&str; 5] = ["", "per second", "per CPU-second", "median", "p99"];

/// Rounds of the same work as a row of a table: the median of each figure.
pub(crate) fn row(name: &str, rounds: &[Work]) -> Vec<String> {
    let latency = |percent| {
        let seconds = middle(rounds, |work| work.latency.percentile(percent).as_secs_f64());
        duration(Duration::from_secs_f64(seconds))
    };
    let (rate, per_cpu) = (middle(rounds, Work::per_second), middle(rounds, Work::per_cpu_second));
    vec![name.to_owned(), number(rate), number(per_cpu), latency(50), latency(99)]
}

/// The rate of one kind of work relative to another: the median over the rounds, each compared with its neighbor in time.
pub(crate) fn share(rounds: &[Work], of: &[Work]) -> f64 {
    median(rounds.iter().zip(of).map(|(round, of)| round.per_second() / of.per_second()))
}

/// The median over the rounds.
pub(crate) fn middle(rounds: &[Work], value: impl Fn(&Work) -> f64) -> f64 {
    median(rounds.iter().map(value))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// When to stop.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    Time(Duration),
    Calls(u64),
}

/// Sends requests to a server. `request` turns the number of a call into its bytes.
pub(crate) async fn call(
    address: SocketAddr,
    server: Process,
    until: Until,
    request: impl Fn(u64) -> Vec<u8> + Clone + Send + 'static,
) -> Result<Work> {
    let mut connections = Vec::new();
    for _ in 0..CLIENTS {
        connections.push(Connection::open(address).await?);
    }
    crowd(server, until, connections, async move |connection: &mut Connection, n| {
        let answer = connection.call(&request(n)).await?;
        if answer.status >= 300 {
            bail!("The server answered {}: {}", answer.status, String::from_utf8_lossy(answer.body));
        }
        Ok(())
    })
    .await
}

/// Runs the same work from as many tasks as there are `callers`, again and again.
pub(crate) async fn crowd<C, F>(worker: Process, until: Until, callers: Vec<C>, act: F) -> Result<Work>
where
    C: Send + 'static,
    F: AsyncFn(&mut C, u64) -> Result<()> + Clone + 'static,
{
    let calls = Arc::new(AtomicU64::new(0));
    let (began, cpu, own_cpu) = (Instant::now(), worker.cpu()?, Process::own().cpu()?);
    let local = tokio::task::LocalSet::new();
    let mut tasks = JoinSet::new();
    for mut caller in callers {
        let (calls, act) = (calls.clone(), act.clone());
        tasks.spawn_local_on(
            async move {
                let mut times = Vec::new();
                loop {
                    let n = calls.fetch_add(1, Ordering::Relaxed);
                    let is_over = match until {
                        Until::Time(time) => began.elapsed() >= time,
                        Until::Calls(most) => n >= most,
                    };
                    if is_over {
                        return Ok::<_, anyhow::Error>(times);
                    }
                    let began = Instant::now();
                    act(&mut caller, n).await?;
                    times.push(began.elapsed());
                }
            },
            &local,
        );
    }
    let mut times = Vec::new();
    local
        .run_until(async {
            while let Some(done) = tasks.join_next().await {
                times.extend(done??);
            }
            Ok::<_, anyhow::Error>(())
        })
        .await?;
    let (elapsed, cpu) = (began.elapsed(), worker.cpu()?.saturating_sub(cpu));
    let own_cpu = Process::own().cpu()?.saturating_sub(own_cpu);
    Ok(Work { n_calls: times.len() as u64, elapsed, cpu, own_cpu, latency: Sample::of(times, cpu) })
}
