//! The same requests from `h2load` (Debian: nghttp2-client), a load generator in C.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};
use sim::{Protocol, device_address};

use super::Work;
use super::provider::Provider;
use crate::Size;
use crate::report::{self, number};
use crate::usage::Process;

const CONNECTIONS: &str = "4";
const STREAMS: &str = "250";
/// Different addresses, which `h2load` takes in turn.
const ADDRESSES: u64 = 100_000;

/// It opens 100 streams on each connection before it has heard that Apple permits one until a request was accepted, and does not
/// repeat what is refused. More refusals than these are another fault, and less work than ours.
const MOST_REFUSED: u32 = 4 * 99;
/// A trial has hardly more requests than those, and shows only whether any are served.
const LEAST_SERVED_OF_TRIAL: f64 = 0.5;

/// `None` if `h2load` is not installed.
pub(super) fn run(provider: &Provider, protocol: Protocol, n_messages: u32, size: Size) -> Result<Option<Work>> {
    if Command::new("h2load").arg("--version").stdout(Stdio::null()).status().is_err() {
        report::line("h2load", "skipped: it is not installed (apt-get install nghttp2-client)")?;
        return Ok(None);
    }
    let specimen = provider.sim.specimen(protocol).context("the service has sent nothing")?;
    let root = provider.sim.url(protocol);
    let folder = tempfile::tempdir()?;
    let (body, uris) = (folder.path().join("body"), folder.path().join("uris"));
    fs::write(&body, &specimen.body)?;
    let uri = |n| match protocol {
        Protocol::Apns => format!("{root}/3/device/{}\n", device_address(protocol, n, &root)),
        Protocol::WebPush => format!("{}\n", device_address(protocol, n, &root)),
        Protocol::Fcm | Protocol::Adm | Protocol::Wns | Protocol::UnifiedPush | Protocol::Open => {
            format!("{root}{}\n", specimen.path)
        }
    };
    fs::write(&uris, (0..ADDRESSES).map(uri).collect::<String>())?;
    let mut command = Command::new("h2load");
    command.args(["-n", &n_messages.to_string(), "-c", CONNECTIONS, "-m", STREAMS]).arg("-d").arg(&body);
    for (name, value) in &specimen.headers {
        command.arg("-H").arg(format!("{name}: {}", value.to_str()?));
    }
    command.arg("-i").arg(&uris).stdin(Stdio::null());
    let (began, cpu) = (Instant::now(), Process::own().children_cpu()?);
    let output = command.output().context("h2load cannot be started")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (elapsed, cpu) = (began.elapsed(), Process::own().children_cpu()? - cpu);
    let served = n_served(&said).filter(|served| output.status.success() && is_enough(*served, n_messages, size));
    let n_served = served.with_context(|| format!("h2load was not served:\n{said}"))?;
    let refused = f64::from(n_messages.saturating_sub(n_served));
    report::line("requests of h2load that were refused, and do not count", &number(refused))?;
    Ok(Some(Work { n_messages: n_served, elapsed, cpu }))
}

fn is_enough(n_served: u32, n_messages: u32, size: Size) -> bool {
    match size.is_trial() {
        true => f64::from(n_served) >= f64::from(n_messages) * LEAST_SERVED_OF_TRIAL,
        false => n_served.saturating_add(MOST_REFUSED) >= n_messages,
    }
}

/// From a line such as `status codes: 1901 2xx, 0 3xx, 0 4xx, 0 5xx`.
fn n_served(said: &str) -> Option<u32> {
    let codes = said.lines().find_map(|line| line.strip_prefix("status codes: "))?;
    codes.split_once(" 2xx")?.0.parse().ok()
}
