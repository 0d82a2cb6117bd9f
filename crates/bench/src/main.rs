//! Measures the service on the machine at hand, next to references from the same run; docs/performance.md explains the results.
//!
//! ```sh
//! cargo run --release -p bench -- all
//! cargo run --release -p bench -- audience --at-most 100000
//! ```
//!
//! How to add a measurement is in CONTRIBUTING.md. Each has one `pub(crate) async fn run(size: Size) -> Result<()>` and a line in
//! [`BENCHES`]. The shared pieces are
//!
//! - `server`: the release build of the service as a process of its own, on the data of a folder;
//! - `usage`: CPU time and memory of any process, and the most memory since a moment of your choice;
//! - `http` and `clients`: a cheap HTTP client, and 64 of them at once until a time or a number of calls is over;
//! - `commits`: bare group commits, the reference of everything that is durable;
//! - `population` and `loading`: channels that are the same in every run, and their way into a database;
//! - `sample`: medians and percentiles of repeated work;
//! - `report`: lines, goals and tables. A figure without a reference says more about the machine than about the service,
//!   so print a ratio where one makes sense.

mod audience;
mod broadcast;
mod clients;
mod cluster;
mod commits;
mod compare;
mod databases;
mod events;
mod faults;
mod followers;
mod growth;
mod http;
mod imports;
mod index;
mod latency;
mod list;
mod live;
mod loading;
mod location;
mod machine;
mod nodes;
mod pages;
mod peers;
mod population;
mod pushes;
mod remote_data;
mod report;
mod reports;
mod sample;
mod server;
mod size;
mod soak;
mod timers;
mod triggers;
mod usage;
mod webhooks;
mod writes;
mod year;

use std::path::PathBuf;
use std::pin::Pin;

use anyhow::{Context, Result};
use clap::Parser;
use clap::builder::PossibleValue;
use mimalloc::MiMalloc;

use machine::Machine;
use report::Form;
pub(crate) use size::Size;

/// The allocator of the service, so that the references have the same.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// One measurement.
struct Bench {
    name: &'static str,
    about: &'static str,
    /// Whether it runs the server, which then has to be built.
    needs_server: bool,
    run: fn(Size) -> Running,
}

type Running = Pin<Box<dyn Future<Output = Result<()>>>>;

/// In the order of `all`.
const BENCHES: [Bench; 27] = [
    Bench {
        name: "audience",
        about: "memory, start and speed of the index of 10,000,000 channels; 1,000,000 beside SQLite and PostgreSQL",
        needs_server: true,
        run: |size| Box::pin(audience::run(size)),
    },
    Bench {
        name: "index",
        about: "memory, start and speed of the index alone of 1, 10 and 100 million channels, and the cost per channel",
        needs_server: false,
        run: |size| Box::pin(index::run(size)),
    },
    Bench {
        name: "writes",
        about: "durable tag updates and registrations over HTTP, beside bare commits",
        needs_server: true,
        run: |size| Box::pin(writes::run(size)),
    },
    Bench {
        name: "pushes",
        about: "pushes accepted over HTTP, and the time to the first delivery",
        needs_server: true,
        run: |size| Box::pin(pushes::run(size)),
    },
    Bench {
        name: "databases",
        about: "registrations, tag updates, events and pushes on SQLite and on PostgreSQL",
        needs_server: true,
        run: |size| Box::pin(databases::run(size)),
    },
    Bench {
        name: "compare",
        about: "the same with another build of the server, in turns, and what has become slower",
        needs_server: true,
        run: |size| Box::pin(compare::run(size)),
    },
    Bench {
        name: "nodes",
        about: "the same with one, two and four nodes on PostgreSQL, for one app and for four",
        needs_server: true,
        run: |size| Box::pin(nodes::run(size)),
    },
    Bench {
        name: "list",
        about: "the upload of a list of 1,000,000 named users, each with a channel",
        needs_server: true,
        run: |size| Box::pin(list::run(size)),
    },
    Bench {
        name: "import",
        about: "1,000,000 devices by `aerogram import` of each format, killed in the middle, beside loading them, on each database",
        needs_server: true,
        run: |size| Box::pin(imports::run(size)),
    },
    Bench {
        name: "broadcast",
        about: "pushes to 1,000,000 devices by way of simulated providers, beside a bare HTTP/2 loop and h2load",
        needs_server: true,
        run: |size| Box::pin(broadcast::run(size)),
    },
    Bench {
        name: "latency",
        about: "pushes to one device and explained audiences beside a broadcast to 10,000,000 devices and 10,000 tag updates a second",
        needs_server: true,
        run: |size| Box::pin(latency::run(size)),
    },
    Bench {
        name: "peers",
        about: "registrations and pushes of Parse Server, when it is installed, beside ours",
        needs_server: true,
        run: |size| Box::pin(peers::run(size)),
    },
    Bench {
        name: "spread",
        about: "pushes to 1,000,000 devices with SQLite, and with one and two nodes on PostgreSQL",
        needs_server: true,
        run: |size| Box::pin(broadcast::postgres::run(size)),
    },
    Bench {
        name: "faults",
        about: "200,000 deliveries through a provider at its worst, and whether the counts agree",
        needs_server: true,
        run: |size| Box::pin(faults::run(size)),
    },
    Bench {
        name: "location",
        about: "reading the atlas, and points, boxes and names per second on one core",
        needs_server: false,
        run: |size| Box::pin(location::run(size)),
    },
    Bench {
        name: "events",
        about: "durable uploads of events by devices over HTTP, beside bare commits",
        needs_server: true,
        run: |size| Box::pin(events::run(size)),
    },
    Bench {
        name: "growth",
        about: "sizes of all tables over two weeks of simulated time at constant load, on each database",
        needs_server: false,
        run: |size| Box::pin(growth::run(size)),
    },
    Bench {
        name: "timers",
        about: "200,000 channels that wait for pipelines, all due within one second, beside bare commits",
        needs_server: true,
        run: |size| Box::pin(timers::run(size)),
    },
    Bench {
        name: "triggers",
        about: "from a trigger of a pipeline to the delivery of its message, at 1, 100 and 10,000 a second",
        needs_server: true,
        run: |size| Box::pin(triggers::run(size)),
    },
    Bench {
        name: "reports",
        about: "every report over a year of counts, of an app that sends 100 pushes a day",
        needs_server: true,
        run: |size| Box::pin(reports::run(size)),
    },
    Bench {
        name: "pages",
        about: "every page of the console with 1,000,000 channels and 100,000 pushes, on each database",
        needs_server: true,
        run: |size| Box::pin(pages::run(size)),
    },
    Bench {
        name: "webhooks",
        about: "300,000 events forwarded to a webhook in order, beside a bare HTTP client",
        needs_server: true,
        run: |size| Box::pin(webhooks::run(size)),
    },
    Bench {
        name: cluster::NAME,
        about: "three nodes and their database under load, killed, paused and restarted, and whether the books agree",
        needs_server: true,
        run: |size| Box::pin(cluster::run(size)),
    },
    Bench {
        name: soak::NAME,
        about: "memory and answers under the same load for half an hour, with 100,000 channels",
        needs_server: true,
        run: |size| Box::pin(soak::run(size)),
    },
    Bench {
        name: "live",
        about: "memory, messages, resumes and latency of 100,000 live connections, beside a bare loop of writes",
        needs_server: true,
        run: |size| Box::pin(live::run(size)),
    },
    Bench {
        name: "followers",
        about: "how often a log is read that five webhooks and the index follow, on PostgreSQL",
        needs_server: true,
        run: |size| Box::pin(followers::run(size)),
    },
    Bench {
        name: "remote-data",
        about: "devices that ask for remote data, whether anything is new and for all of it, beside GET /health",
        needs_server: true,
        run: |size| Box::pin(remote_data::run(size)),
    },
];

/// They go on for as long as they are told, and are no part of `all`.
const ENDURANCE: [&str; 2] = [cluster::NAME, soak::NAME];

/// Measures the service on this machine and compares it with references from the same run
#[derive(Parser)]
struct Wish {
    /// What to measure
    #[arg(required = true, value_parser = names())]
    what: Vec<String>,
    /// Use no more channels than this, for a quick look; the goals are meant for the full number. With 2,000 and fewer
    /// everything is so short that it only shows whether the measurements work, and a debug build will do
    #[arg(long, default_value_t = u32::MAX, hide_default_value = true)]
    at_most: u32,
    /// For how many seconds `cluster` disturbs its nodes (600) or `soak` goes on (1800)
    #[arg(long)]
    seconds: Option<u64>,
    /// A number that `cluster` has printed, for the same disturbances again; another one each time when absent
    #[arg(long)]
    seed: Option<u64>,
    /// The program that `compare` compares with, such as the server of an earlier commit
    #[arg(long, value_name = "PATH")]
    against: Option<PathBuf>,
    /// A folder in which `npm install parse-server express` was run, for `peers`
    #[arg(long, value_name = "PATH")]
    parse_server: Option<PathBuf>,
    /// How many rounds `databases`, `compare` and `nodes` make, for a quick look
    #[arg(long)]
    rounds: Option<usize>,
    /// Let `databases` and `nodes` print the statements that PostgreSQL ran per request, by the time that they took
    #[arg(long)]
    statements: bool,
    /// Print every figure as an object of JSON, a line each
    #[arg(long)]
    json: bool,
    /// The server beside this program is built already
    #[arg(long, hide = true)]
    built: bool,
    /// Measure the index in this file; `bench index` starts itself with it, so that the memory of a process is that of one index
    #[arg(long, hide = true)]
    snapshot: Option<PathBuf>,
}

fn names() -> Vec<PossibleValue> {
    let all = PossibleValue::new("all").help("all of them, one after the other, except cluster and soak");
    BENCHES.iter().map(|bench| PossibleValue::new(bench.name).help(bench.about)).chain([all]).collect()
}

fn main() -> Result<()> {
    let wish = Wish::parse();
    let is_wanted = |bench: &&Bench| {
        let is_in_all = !ENDURANCE.contains(&bench.name);
        wish.what.iter().any(|name| name == bench.name || (name == "all" && is_in_all))
    };
    let Wish { at_most, seconds, seed, rounds, statements, .. } = wish;
    // Every measurement may have it, until the end.
    let kept = |path: Option<PathBuf>| path.map(|path| &*Box::leak(path.into_boxed_path()));
    let (against, parse_server) = (kept(wish.against.clone()), kept(wish.parse_server.clone()));
    let size = Size { at_most, seconds, seed, rounds, against, parse_server, statements };
    if let Some(snapshot) = &wish.snapshot {
        return index::measure(snapshot, size);
    }
    report::choose(if wish.json { Form::Json } else { Form::Text });
    if !size.is_trial() && BENCHES.iter().filter(is_wanted).any(|bench| bench.name != cluster::NAME) {
        server::refuse_debug_build()?;
    }
    if !wish.built && BENCHES.iter().filter(is_wanted).any(|bench| bench.needs_server) {
        server::build()?;
    }
    // One thread for all callers: the other cores are for the measured server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("The runtime cannot be started")?.block_on(async {
        for bench in BENCHES.iter().filter(is_wanted) {
            report::begin(bench.name);
            let machine = Machine::look()?;
            (bench.run)(size).await.with_context(|| format!("`bench {}` failed", bench.name))?;
            machine.tell()?;
        }
        Ok(())
    })
}
