//! Lines of the log that somebody may want to be woken by have names, which are in the documentation.

use std::collections::BTreeSet;

use crate::tidy::sources;

const OPERATIONS: &str = include_str!("../../../../docs/operations.md");
const HEADING: &str = "| event | level | meaning |";

#[test]
fn the_names_of_log_lines_are_those_of_the_documentation() {
    let programs = sources().into_iter().filter(|(path, _)| path.contains("/src/"));
    let named = programs.flat_map(|(_, text)| {
        let values = text.split("event = \"").skip(1).filter_map(|rest| rest.split('"').next());
        values.map(str::to_owned).collect::<Vec<_>>()
    });
    let (_, table) = OPERATIONS.split_once(HEADING).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let documented = rows.filter_map(|row| row.split('|').nth(1)).flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let documented: BTreeSet<String> = documented.map(str::to_owned).collect();
    assert!(documented.len() >= 17, "{documented:?}");
    assert_eq!(named.collect::<BTreeSet<_>>(), documented);
}
