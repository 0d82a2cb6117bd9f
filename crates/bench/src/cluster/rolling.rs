//! A rolling restart: all nodes are stopped and started again, one after the other.

use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::time::sleep;

use super::nodes::Nodes;
use crate::{Size, report};

const ROUNDS: usize = 2;
/// Between two nodes, as an operator who looks whether the last one is there.
const BETWEEN: Duration = Duration::from_secs(2);

/// How long each node needed to stop.
pub(super) async fn restart_all(nodes: &mut Nodes, size: Size) -> Result<Vec<Duration>> {
    let mut stops = Vec::new();
    for _ in 0..size.rounds(ROUNDS) {
        for index in 0..nodes.len() {
            sleep(size.time(BETWEEN)).await;
            report::progress(&format!("restarting node {index}"));
            let began = Instant::now();
            nodes.stop(index).await?;
            stops.push(began.elapsed());
            nodes.start_again(index).await?;
        }
    }
    sleep(size.time(BETWEEN)).await;
    Ok(stops)
}
