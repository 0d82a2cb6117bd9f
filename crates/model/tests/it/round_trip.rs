//! What is written in the language prints back as it was written.

use model::device_event::DeviceEvents;
use model::json;
use model::payload::{Push, parse_pushes};
use model::selector::Selector;
use model::static_list::CsvRows;
use proptest::prelude::*;
use serde_json::Value;

use crate::random_push::push;
use crate::random_selector::selector;

/// The printed form, as a JSON value.
fn printed(value: &impl serde::Serialize) -> Value {
    let text = serde_json::to_string(value).expect("everything of the model can be printed");
    serde_json::from_str(&text).expect("what is printed is JSON")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pushes(body in push()) {
        let pushes = parse_pushes(body.to_string().as_bytes()).map_err(|problems| TestCaseError::fail(problems.to_string()))?;
        let [push] = pushes.as_slice() else { panic!("one object is one push") };
        prop_assert_eq!(&printed(push), &body);
        let again: Push = json::parse(printed(push).to_string().as_bytes(), Push::parse).expect("a printed push reads");
        prop_assert_eq!(&again, push);
    }

    #[test]
    fn selectors(body in selector()) {
        let read = |body: &Value| json::parse(body.to_string().as_bytes(), Selector::parse);
        let selector = read(&body).map_err(|problems| TestCaseError::fail(problems.to_string()))?;
        prop_assert_eq!(&printed(&selector), &body);
        prop_assert_eq!(&read(&printed(&selector)).expect("a printed selector reads"), &selector);
    }
}

#[test]
fn an_array_of_pushes_is_all_or_nothing() {
    let push = r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#;
    let body = format!("[{}]", vec![push; 100].join(","));
    assert_eq!(parse_pushes(body.as_bytes()).unwrap().as_slice().len(), 100);
    let body = format!("[{push},{}]", push.replace("Hi", "\\u0000").replace("\"all\"", "\"al\""));
    parse_pushes(body.as_bytes()).unwrap_err();
}

#[test]
fn tolerated_spellings_print_in_the_documented_one() {
    let body = br#"{"audience":"all","device_types":["ios"],"message":{"title":"T","body":"aGk=","content-type":"text/plain","content-encoding":"base64"}}"#;
    let pushes = parse_pushes(body).unwrap();
    let push = &pushes.as_slice()[0];
    let message = &printed(push)["message"];
    assert_eq!(message["content_type"], "text/plain");
    assert_eq!(message["content_encoding"], "base64");
    assert!(message.get("content-type").is_none());
}

/// Fuzzing starts from these, which helps only as long as they are good.
#[test]
fn the_seeds_of_the_fuzzer_are_good() {
    let folder = |target: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
        let files = std::fs::read_dir(path).unwrap();
        files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect::<Vec<_>>()
    };
    for body in folder("push") {
        parse_pushes(&body).unwrap();
    }
    for body in folder("selector") {
        json::parse(&body, Selector::parse).unwrap();
    }
    for body in folder("device_events") {
        assert_eq!(DeviceEvents::read(&body).unwrap().n_unreadable, 0, "{}", String::from_utf8_lossy(&body));
    }
    for file in folder("csv") {
        let mut reader = CsvRows::new(u64::MAX);
        let mut rows = reader.feed(&file);
        rows.extend(reader.finish());
        assert!(!rows.is_empty());
        for row in rows {
            row.member.unwrap();
        }
    }
}
