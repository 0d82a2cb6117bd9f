//! Any text is either refused with columns inside of it, or a template that prints and parses to the same template, and renders
//! within its limits.
#![no_main]

use std::collections::BTreeMap;

use personalization::{Target, Template, Values, limits};
use serde_json::json;

libfuzzer_sys::fuzz_target!(|source: &str| {
    let template = match Template::parse(source) {
        Ok(template) => template,
        Err(mistakes) => {
            let n_columns = source.chars().count() + 1;
            assert!(mistakes.iter().all(|mistake| (1..=n_columns).contains(&mistake.column)), "columns are inside");
            assert!(!mistakes.is_empty(), "a refusal says why");
            return;
        }
    };
    let printed = template.to_string();
    assert_eq!(Template::parse(&printed).as_ref(), Ok(&template), "a printed template parses to the same template");
    let list: Vec<u32> = (0..100).collect();
    let values = BTreeMap::from([
        ("a".to_owned(), json!({"b": [1, "<x>", null], "c": "2030-01-31T12:36:35"})),
        ("list".to_owned(), json!(list)),
        ("name".to_owned(), json!("Kim & Lee")),
    ]);
    for target in [Target::Text, Target::Html, Target::Url, Target::WholeUrl] {
        if let Ok(text) = template.render(target, &Values { layers: &[&values], now: 0 }) {
            assert!(text.len() <= limits::OUTPUT_BYTES, "a text has a limit");
        }
    }
});
