//! The simulated providers, on a thread of their own: their CPU time is not counted as the service's or the references'.

use std::sync::Arc;
use std::sync::mpsc;

use anyhow::{Context, Result};
use sim::{Protocol, SimSettings, Simulator};
use tokio::sync::oneshot;

pub(crate) struct Provider {
    pub(crate) sim: Arc<Simulator>,
    /// The thread ends when this sender is dropped.
    _running: oneshot::Sender<()>,
}

impl Provider {
    pub(crate) fn start() -> Result<Self> {
        let (ready, started) = mpsc::channel();
        let (running, ended) = oneshot::channel();
        std::thread::spawn(move || -> Result<()> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let settings = SimSettings { keep: 0, ..SimSettings::default() };
                ready.send(Simulator::start(settings).await.map(Arc::new))?;
                drop(ended.await);
                Ok(())
            })
        });
        let sim = started.recv().context("the simulator has not started")??;
        Ok(Self { sim, _running: running })
    }

    pub(crate) fn messages(&self, protocol: Protocol) -> u64 {
        self.sim.stats().of(protocol).messages
    }

    pub(crate) async fn wait_for(&self, protocol: Protocol, n_messages: u64) {
        self.sim.wait_until(|stats| stats.of(protocol).messages >= n_messages).await;
    }
}
