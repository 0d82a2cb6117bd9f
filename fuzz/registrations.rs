//! Any registration of a device is either refused or read, and changes a channel once: the same registration again changes nothing.
//! What a server may send, a device may, too. The address in it is judged without a panic, whichever provider it is for.
#![no_main]

use model::channel::{OpenRegistration, Profile, Registration};
use model::json::{self, At, UnknownKeys};
use providers::webpush::PushHosts;
use providers::{address_problem, keys_problem};

fn read<T>(body: &[u8], parse: impl Fn(&At<'_>) -> Option<T>) -> Option<T> {
    let strictly = json::parse_with(body, UnknownKeys::Refused, &parse);
    match json::parse_with(body, UnknownKeys::PassedOver, &parse) {
        Ok(read) => Some(read),
        Err(problems) => {
            assert!(!problems.first().message.is_empty(), "a refusal says why");
            assert!(strictly.is_err(), "what is refused of a device is refused of a server");
            None
        }
    }
}

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    if let Some(registration) = read(body, Registration::parse) {
        let first: Profile = registration.apply(None);
        assert_eq!(registration.apply(Some(&first)), first, "a repeated registration changes nothing");
        if let Some(address) = &first.address {
            let problem = address_problem(
                &registration.device_type,
                registration.delivery_type(),
                address,
                &PushHosts::default(),
            );
            assert!(problem.is_none_or(|problem| !problem.is_empty()), "a refusal says why");
        }
        if let Some((_, subscription)) = registration.subscription() {
            assert!(keys_problem(subscription).is_none_or(|problem| !problem.is_empty()), "a refusal says why");
        }
    }
    read(body, OpenRegistration::parse);
});
