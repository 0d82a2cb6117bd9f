//! Every malformed body is refused, and the first problem is at the value to blame.

use std::collections::HashSet;

use model::payload::parse_pushes;

use crate::bad_pushes::bad_pushes;

#[test]
fn every_bad_body_is_blamed_on_the_right_value() {
    let mut wrong = Vec::new();
    for bad in bad_pushes() {
        match parse_pushes(&bad.body) {
            Ok(_) => wrong.push(format!("{} was accepted", bad.name)),
            Err(problems) if problems.first().path != bad.path => {
                wrong.push(format!("{} is at '{}', not: {problems}", bad.name, bad.path));
            }
            Err(problems) => {
                for problem in problems.iter() {
                    assert!(problem.message.ends_with('.'), "not a sentence: {}", problem.message);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_is_long_and_has_no_row_twice() {
    let bodies = bad_pushes().into_iter().map(|bad| bad.body);
    let n_rows = bodies.len();
    assert!(n_rows >= 250, "{n_rows} rows");
    assert_eq!(bodies.collect::<HashSet<_>>().len(), n_rows);
}

#[test]
fn all_problems_are_found_at_once() {
    let body = br#"[{"audience":{"or":[{"tag":""},{"tga":"a"}]},"device_types":["ios","x"],"notification":{"ios":{"badge":"b"}},"x":1},
        {"audience":"all","notification":{"alert":"Hi"}}]"#;
    let problems = parse_pushes(body).unwrap_err();
    let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "[0].audience.or[0].tag",
            "[0].audience.or[1].tga",
            "[0].device_types[1]",
            "[0].notification.ios.badge",
            "[0].x",
            "[1].device_types",
        ]
    );
}
