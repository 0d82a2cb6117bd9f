//! Whether pushes fit into what the platforms' providers take.

use std::io;

use model::app::AppKey;
use model::ids::PushId;
use model::payload::Push;
use model::payload::actions::InlinePage;
use model::problem::{Problem, ProblemKind};
use providers::{RenderedPush, Rendering};

use crate::{Engine, pages};

/// A push whose JSON is this short fits everywhere: nothing grows more than fivefold on its way into a message, and what
/// every message has besides is less than a kilobyte.
const ALWAYS_FITS_BYTES: usize = 512;

impl Engine {
    /// What of a push is too large for some platform. `place` tells where in the request a path of the push is.
    pub(super) fn oversized(&self, app: &AppKey, push: &Push, place: impl Fn(&str) -> String) -> Vec<Problem> {
        if json_bytes(push) <= ALWAYS_FITS_BYTES {
            return Vec::new();
        }
        let now = self.clock().now();
        let push_id = PushId::at(now);
        let page_url = |page: &InlinePage| pages::url(self.public_url(), app, push_id, push, page);
        let too_large = providers::too_large(push, &|content, device_type| {
            let rendering = Rendering {
                app_key: app,
                push_id,
                sent_at: now,
                now,
                expiry: push.options.as_ref().and_then(|options| options.expiry.as_ref()),
                content,
                campaigns: push.campaigns.as_ref(),
                page_url: &page_url,
            };
            RenderedPush::new(&rendering, device_type)
        });
        let problem = |one: providers::TooLarge| Problem {
            path: place(&one.path),
            message: one.message,
            kind: ProblemKind::Invalid,
        };
        too_large.into_iter().map(problem).collect()
    }
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
    // What cannot be written cannot be stored either, which is said where it is tried.
    match serde_json::to_writer(&mut counter, push) {
        Ok(()) => counter.0,
        Err(_) => 0,
    }
}
