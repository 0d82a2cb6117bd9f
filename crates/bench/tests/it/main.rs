//! Tries every measurement with little of everything, so that none stops working unnoticed. The figures of such a run mean nothing.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

// A test each, so that a failure names its measurement, and several run at a time.

#[test]
fn audience() {
    works("audience");
}

#[test]
fn index() {
    works("index");
}

#[test]
fn writes() {
    works("writes");
}

#[test]
fn pushes() {
    works("pushes");
}

#[test]
fn databases() {
    works_on_postgres("databases");
}

#[test]
fn compare() {
    works_on_postgres("compare");
}

#[test]
fn nodes() {
    works_on_postgres("nodes");
}

#[test]
fn list() {
    works("list");
}

#[test]
fn import() {
    works_on_postgres("import");
}

#[test]
fn broadcast() {
    works("broadcast");
}

#[test]
fn latency() {
    works("latency");
}

#[test]
fn peers() {
    works("peers");
}

#[test]
fn spread() {
    works_on_postgres("spread");
}

#[test]
fn faults() {
    works("faults");
}

#[test]
fn location() {
    works("location");
}

#[test]
fn events() {
    works("events");
}

#[test]
fn growth() {
    works("growth");
}

#[test]
fn timers() {
    works("timers");
}

#[test]
fn triggers() {
    works("triggers");
}

#[test]
fn reports() {
    works("reports");
}

#[test]
fn pages() {
    works_on_postgres("pages");
}

#[test]
fn webhooks() {
    works("webhooks");
}

#[test]
fn cluster() {
    works_on_postgres("cluster");
}

#[test]
fn soak() {
    works("soak");
}

#[test]
fn live() {
    works_on_postgres("live");
}

#[test]
fn followers() {
    works_on_postgres("followers");
}

#[test]
fn remote_data() {
    works("remote-data");
}

/// The program names all of its measurements to a caller who asks for another one.
#[test]
fn every_measurement_is_tried() {
    let refused = bench(&["no-such-measurement"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    let (_, names) = said.split_once("possible values: ").expect("the measurements are named");
    let names = names.split_once(']').expect("the names end").0;
    for name in names.split(", ").filter(|name| *name != "all") {
        let tried = ["works", "works_on_postgres"].map(|how| format!("{how}(\"{name}\")"));
        let is_tried = tried.iter().any(|tried| include_str!("main.rs").contains(tried));
        assert!(is_tried, "`bench {name}` is not tried here");
    }
}

/// A run that is so short that a debug build will do.
fn works(name: &str) {
    let server = program().with_file_name("aerogram");
    assert!(server.exists(), "The server is not there; test the whole workspace, which builds it.");
    // A comparison of the server with itself.
    let against = format!("--against={}", server.display());
    let done = bench(&[name, "--built", "--json", "--at-most=2000", &against]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let figures = String::from_utf8_lossy(&done.stdout);
    let mut n_figures = 0;
    for line in figures.lines() {
        let figure: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(figure["bench"] == name && figure["name"].is_string(), "{line}");
        assert!(figure["value"].is_string() || figure["values"].is_object(), "{line}");
        n_figures += usize::from(figure["part"] != "The machine meanwhile");
    }
    assert!(n_figures > 0, "`bench {name}` prints nothing");
}

/// The same of a measurement that needs PostgreSQL, unless the developer chose to do without.
fn works_on_postgres(name: &str) {
    if !testkit::postgres::is_skipped() {
        works(name);
    }
}

fn bench(arguments: &[&str]) -> Output {
    let done = Command::new(program()).args(arguments).output();
    done.unwrap_or_else(|error| panic!("bench cannot be started: {error}"))
}

fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_bench")).to_owned()
}
