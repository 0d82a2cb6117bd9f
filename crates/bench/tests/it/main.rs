//! Tries every measurement with little of everything, so that none stops working unnoticed. The figures of such a run mean nothing.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

#[test]
#[ignore = "takes minutes with a debug build, too long for every run"]
fn every_measurement_works() {
    let program = Path::new(env!("CARGO_BIN_EXE_bench"));
    let server = program.with_file_name("aerogram");
    assert!(server.exists(), "The server is not there; test the whole workspace, which builds it.");
    let done = Command::new(program).args(["all", "--built", "--json", "--at-most", "2000"]).output();
    let done = done.unwrap_or_else(|error| panic!("bench cannot be started: {error}"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let figures = String::from_utf8_lossy(&done.stdout);
    for line in figures.lines() {
        let figure: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(figure["bench"].is_string() && figure["name"].is_string(), "{line}");
        assert!(figure["value"].is_string() || figure["values"].is_object(), "{line}");
    }
    assert!(figures.lines().count() > 100, "{figures}");
}
