//! `bench nodes`: the same requests to one, two and four nodes on one PostgreSQL, for one app and for four.
//!
//! Every node has as many clients, because nodes are added for more of them. The same clients spread over more nodes would share
//! fewer commits, which says nothing about what another node costs.

use std::path::Path;

use anyhow::Result;
use tempfile::TempDir;

use crate::Size;
use crate::clients::{self, CLIENTS, Work};
use crate::databases::{self, Database, KINDS, Side};
use crate::report::{self, percent};
use crate::server::{KEY_FILE, Server};

const NODES: [usize; 3] = [1, 2, 4];
const APPS: [usize; 2] = [1, 4];
const LEAST: f64 = 0.85;

pub(crate) async fn run(size: Size) -> Result<()> {
    for n_apps in APPS {
        let apps = if n_apps == 1 { "one app".to_owned() } else { format!("{n_apps} apps") };
        report::heading(format_args!(
            "One to four nodes on one PostgreSQL, {CLIENTS} clients a node, durable, {apps}"
        ))?;
        report::progress("preparing");
        let database = Database::start()?;
        let folders: Vec<TempDir> = (0..NODES[2]).map(|_| TempDir::new()).collect::<std::io::Result<_>>()?;
        let mut nodes = Vec::new();
        for folder in &folders {
            nodes.push(start_another(folder.path(), folders[0].path(), &database.url)?);
        }
        let all = Side::new("all", nodes, Some(database.process), n_apps, size).await?;
        let mut sides = NODES.map(|n_nodes| all.on_nodes(n_nodes));
        databases::measure(&mut sides, &database, size).await?;
        for (kind, name) in KINDS.into_iter().enumerate() {
            print(name, &sides, kind)?;
            if size.statements {
                sides.iter().try_for_each(|side| databases::print_statements(&side.statements[kind]))?;
            }
        }
    }
    Ok(())
}

/// Starts a node with the key of the first: nodes of one database have the same.
pub(crate) fn start_another(folder: &Path, first: &Path, url: &str) -> Result<Server> {
    if folder != first {
        let key = folder.join(KEY_FILE);
        if let Some(parent) = key.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::copy(first.join(KEY_FILE), key)?;
    }
    Server::start_on(folder, url)
}

fn print(name: &str, sides: &[Side], kind: usize) -> Result<()> {
    report::heading(format_args!("{name}"))?;
    let rows: Vec<_> = sides.iter().map(|side| clients::row(&side.name, &side.rounds[kind])).collect();
    report::table(&clients::HEADING, &rows)?;
    let per_cpu = |side: &Side| clients::middle(&side.rounds[kind], Work::per_cpu_second);
    for side in &sides[1..] {
        let share = per_cpu(side) / per_cpu(&sides[0]);
        let text = format!("per CPU-second with {}, of that with one", side.name);
        report::goal(&text, &percent(share), "at least 85 %", share >= LEAST)?;
    }
    Ok(())
}
