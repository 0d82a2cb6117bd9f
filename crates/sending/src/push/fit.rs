//! Whether pushes fit into the limits of the platforms' providers.

use std::io;

use model::app::AppKey;
use model::ids::PushId;
use model::payload::Push;
use model::payload::actions::InlinePage;
use model::problem::{Problem, ProblemKind};
use model::time::UtcMillis;
use providers::{RenderedPush, Rendering, TooLarge};
use uuid::Uuid;

/// A push whose JSON is this short fits everywhere: nothing grows more than fivefold on its way into a message, and what
/// every message has besides is less than a kilobyte.
const ALWAYS_FITS_BYTES: usize = 512;

/// Keys, ids and times have the same length in every message, so any will do.
const SOME_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAA";
const SOME_TIME: UtcMillis = UtcMillis(1_800_000_000_000);
/// As long as the address of a hosted page is on most servers; where it is longer, the provider has the last word.
const SOME_PAGE_BYTES: usize = 128;

/// No variant of an experiment has a longer number.
const LONGEST_VARIANT: u32 = 99;

/// Whether a push belongs to a group, whose id its messages then carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentAs {
    Single,
    Group,
}

/// The parts of a push that are too large for one of its platforms. `request_path` makes a path of the push one of the request.
pub(super) fn oversized(push: &Push, sent_as: SentAs, request_path: impl Fn(&str) -> String) -> Vec<Problem> {
    // What is filled in may be nothing; with more of it, the provider has the last word.
    let least = push.personalized().ok().flatten().and_then(|personalized| personalized.unfilled().ok());
    let push = least.as_ref().unwrap_or(push);
    if json_bytes(push) <= ALWAYS_FITS_BYTES {
        return Vec::new();
    }
    let app_key = AppKey::new(SOME_KEY).expect("22 letters are the key of an app");
    let (group_id, variant_id) = match sent_as {
        SentAs::Single => (None, None),
        // Only some have a variant, but a push that fits with one fits without.
        SentAs::Group => (Some(Uuid::nil()), Some(LONGEST_VARIANT)),
    };
    let page_url = |_: &InlinePage| "x".repeat(SOME_PAGE_BYTES);
    let too_large = providers::too_large(push, &|content, device_type| {
        let rendering = Rendering {
            app_key: &app_key,
            push_id: PushId::from_uuid(Uuid::nil()),
            group_id,
            variant_id,
            sent_at: SOME_TIME,
            now: SOME_TIME,
            expiry: push.options.as_ref().and_then(|options| options.expiry.as_ref()),
            content,
            has_marks: false,
            campaigns: push.campaigns.as_ref(),
            page_url: &page_url,
        };
        RenderedPush::new(&rendering, device_type)
    });
    let problem =
        |TooLarge { path, message }| Problem { path: request_path(&path), message, kind: ProblemKind::Invalid };
    too_large.into_iter().map(problem).collect()
}

/// Counted without keeping them.
fn json_bytes(push: &Push) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // A push that cannot be serialized cannot be stored either, which reports the error.
    match serde_json::to_writer(&mut counter, push) {
        Ok(()) => counter.0,
        Err(_) => 0,
    }
}
