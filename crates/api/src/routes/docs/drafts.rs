//! Drafts.

use model::draft::{DraftBody, DraftChange, DraftSending, DraftState, DraftVersion};
use serde_json::json;

use crate::openapi::{Area, body, query};
use crate::page_size::PageSize;
use crate::routes::drafts::{One, Page};

pub(super) fn area() -> Area {
    let mut area = Area::new(
        "Drafts",
        "Messages that are being written. Somebody can ask for the approval of a draft; a change voids it. Servers may send a \
         draft in any state. People who use the console need an approval above the limit of the app.",
    );
    let document = json!({"audience": {"tag": "news"}, "notification": {"alert": "Hello"}, "device_types": "all"});
    let draft = json!({"name": "Hello", "kind": "push", "document": document});
    area.post("/api/drafts", "Create a draft", "Keeps a message, finished or not, with the version 1.")
        .body(body::of::<DraftBody>, draft.clone())
        .changed::<One>("The draft.")
        .status(201)
        .location()
        .refuses(
            409,
            "The app has as many drafts as it may, or the idempotency key was used for another request (40900).",
        );
    area.get("/api/drafts", "List drafts", "The newest first, without their documents.")
        .takes(query::choice("state", &DraftState::WORDS.map(|(word, _)| word), "Only those in this state."))
        .takes(query::id("start", "The first draft of the page."))
        .takes(query::limit(PageSize::DRAFTS))
        .ok::<Page>("A page of drafts.")
        .paged();
    area.get("/api/drafts/{draft_id}", "Look up a draft", "With its document.").ok::<One>("The draft.");
    let change = json!({"version": 1, "name": "Hello", "kind": "push", "document": document});
    area.put(
        "/api/drafts/{draft_id}",
        "Replace a draft",
        "Makes the next version. It is a draft again, whoever had approved the last.",
    )
    .body(body::of::<DraftChange>, change)
    .changed::<One>("The draft.")
    .refuses(409, CHANGED);
    area.delete("/api/drafts/{draft_id}", "Delete a draft", "What was sent from it stays.").nothing("Deleted.");
    let version = json!({"version": 1});
    area.post(
        "/api/drafts/{draft_id}/submit",
        "Ask for the approval of a draft",
        "Checks everything that sending would, and has the draft wait for somebody to approve it.",
    )
    .body(body::of::<DraftVersion>, version.clone())
    .changed::<One>("The draft.")
    .refuses(409, CHANGED);
    area.post(
        "/api/drafts/{draft_id}/approve",
        "Approve a draft",
        "Approves one version. In the console, nobody can approve what they have written themselves.",
    )
    .body(body::of::<DraftVersion>, version)
    .changed::<One>("The draft.")
    .refuses(409, "The draft was changed or sent meanwhile, or nobody has asked for its approval (40900).");
    area.post(
        "/api/drafts/{draft_id}/send",
        "Send a draft",
        "Sends a version once, as the call of its kind would; a second call is refused.",
    )
    .body(body::of::<DraftSending>, json!({"version": 1, "undo_seconds": 10}))
    .changed::<One>("The draft, with the id of what was made of it.")
    .refuses(409, CHANGED);
    area
}

const CHANGED: &str = "The draft was changed or sent meanwhile (40900).";
