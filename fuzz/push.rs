//! Any body is either refused or a list of pushes that print and read again to the same pushes.
#![no_main]

use model::payload::parse_pushes;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let pushes = match parse_pushes(body) {
        Ok(pushes) => pushes,
        Err(problems) => {
            assert!(!problems.first().message.is_empty(), "a refusal says why");
            return;
        }
    };
    let printed = serde_json::to_vec(&pushes).expect("a push can be printed");
    let again = parse_pushes(&printed).expect("a printed push can be read");
    assert_eq!(again, pushes, "a printed push reads as the same push");
});
