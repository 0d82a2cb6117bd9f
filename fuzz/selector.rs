//! Any body is either refused or a selector that prints and reads again to the same selector.
#![no_main]

use model::json;
use model::selector::Selector;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let selector = match json::parse(body, Selector::parse) {
        Ok(selector) => selector,
        Err(problems) => {
            assert!(!problems.first().message.is_empty(), "a refusal says why");
            return;
        }
    };
    assert!(selector.atoms().next().is_some(), "a selector has at least one atom");
    let printed = serde_json::to_vec(&selector).expect("a selector can be printed");
    let again = json::parse(&printed, Selector::parse).expect("a printed selector can be read");
    assert_eq!(again, selector, "a printed selector reads as the same selector");
});
