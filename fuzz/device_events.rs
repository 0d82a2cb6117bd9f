//! Any upload is either refused or read, the same every time; and one event alone is the same as an array of one.
#![no_main]

use model::device_event::DeviceEvents;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let told = match DeviceEvents::read(body) {
        Ok(told) => told,
        Err(problems) => {
            assert!(!problems.first().message.is_empty(), "a refusal says why");
            return;
        }
    };
    assert_eq!(DeviceEvents::read(body).as_ref(), Ok(&told), "an upload that is sent again reads the same");
    if body.trim_ascii_start().starts_with(b"{") {
        let array = [b"[".as_slice(), body, b"]".as_slice()].concat();
        assert_eq!(DeviceEvents::read(&array), Ok(told), "an event alone reads as in an array");
    }
});
