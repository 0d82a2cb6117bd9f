//! Sending, following and steering pushes.

use model::json::OneOrMany;
use model::payload::Push;
use model::test_push::{TestGroup, TestPush};
use serde_json::json;

use crate::answer::Done;
use crate::openapi::{Area, body, query, shape::Accepted};
use crate::page_size::PageSize;
use crate::routes::bulk::UploadedFile;
use crate::routes::preview::{PreviewsRecord, Question};
use crate::routes::push::Status;
use crate::routes::pushes::{Page, STATES};
use crate::routes::recipients::{self, outcomes};
use crate::routes::test_pushes::Group;
use crate::routes::why::WhyRecord;

pub(super) fn area() -> Area {
    let mut area = Area::new("Push", "Send messages to an audience, follow them, and steer them on their way.");
    let push = json!({"audience": {"tag": "news"}, "notification": {"alert": "Hello"}, "device_types": "all"});
    area.post(
        "/api/push",
        "Send a push",
        "Takes one push or an array of up to 100. All of them are accepted or none; the answer comes when they are durable.",
    )
    .body(body::of::<OneOrMany<Push>>, push.clone())
    .ok::<Accepted>("Accepted: the pushes are sent from now on.");
    area.post("/api/push/validate", "Validate a push", "Checks everything that sending would, and sends nothing.")
        .body(body::of::<OneOrMany<Push>>, push.clone())
        .ok::<Done>("The pushes would be accepted.");
    area.post(
        "/api/push/preview",
        "Preview a push",
        "What each kind of device would show of it, in each language, with the exact request to the provider and its size. Sends \
         nothing. What would keep the push from being accepted is told beside the previews, unless it cannot even be read.",
    )
    .body(body::of::<Question>, json!({"push": push, "locale": "de"}))
    .ok::<PreviewsRecord>("The previews.")
    .refuses(404, "There is no such channel (40401).");
    area.post(
        "/api/push/test",
        "Send a test",
        "Sends a push to the test group of the app in place of its audience, which may have 100 devices. It is a push like any \
         other, whose name begins with `Test: `.",
    )
    .body(body::of::<TestPush>, json!({"push": push}))
    .ok::<Accepted>("Accepted.")
    .refuses(409, "There is no test group, or it has too many devices (40900).");
    area.get("/api/push/test-group", "Show the test group", "Who gets tests.").ok::<Group>("The group.");
    area.put("/api/push/test-group", "Choose the test group", "Replaces who gets tests, from the next one on.")
        .body(body::of::<TestGroup>, json!({"audience": {"tag": "test"}}))
        .done();
    let create = json!({
        "audience": {"create_and_send": [{"ua_address": "lobby-1"}]},
        "device_types": ["open::kiosk"],
        "notification": {"open::kiosk": {"alert": "Hello"}},
    });
    area.post(
        "/api/create-and-send",
        "Create channels and send",
        "Registers the open channels that the audience brings along, and sends them one push. Addresses that exist are updated.",
    )
    .body(body::of::<Push>, create.clone())
    .ok::<Accepted>("Accepted.")
    .status(202);
    area.post(
        "/api/create-and-send/validate",
        "Validate create and send",
        "Checks such a push and does nothing with it.",
    )
    .body(body::of::<Push>, create)
    .ok::<Done>("The push would be accepted.");
    bulk(&mut area);
    area.get(
        "/api/pushes",
        "List pushes",
        "The newest first, with name, text, results and who asked. A page can be short although there is a next one: a call \
         looks at 10,000 pushes at most.",
    )
    .takes(query::text("q", "Only those with this in their name, title or text, in letters of either case."))
    .takes(query::choice("state", &STATES.map(|(word, _)| word), "Only those in this state."))
    .takes(query::text("origin", "Only those sent by servers (`api`) or people (`compose`) at once, by a `test`, `template`, `schedule`, `experiment` or `pipeline`, or by the one with this id."))
    .takes(query::text("device_type", "Only those for devices of this type.").example("ios"))
    .takes(query::date("from", "Only from this time on."))
    .takes(query::date("to", "Only before this time."))
    .takes(query::id("start", "The first push of the page."))
    .takes(query::limit(PageSize::PUSHES))
    .ok::<Page>("A page of pushes.")
    .paged();
    area.get(
        "/api/push/{push_id}",
        "Look up a push",
        "Its state (`accepted`, `sending`, `paused`, `done` or `canceled`) and how far it has got, by device type.",
    )
    .ok::<Status>("The push.");
    let words: Vec<&str> = outcomes().into_iter().map(|(word, _)| word).collect();
    let outcome = || query::choice("outcome", &words, "Only those with this outcome, or who did this.");
    area.get(
        "/api/push/{push_id}/recipients",
        "List everybody whom a push concerned",
        "Everybody whom its audience had, in the order in which they registered, with what became of the push for each and why. It \
         is kept as long as the push.",
    )
    .takes(outcome())
    .takes(query::id("start", "The first channel of the page."))
    .takes(query::limit(PageSize::RECIPIENTS))
    .ok::<recipients::Page>("A page of them.")
    .paged();
    area.get("/api/push/{push_id}/recipients/csv", "Download everybody whom a push concerned", "The same as a table.")
        .takes(outcome())
        .text("text/csv; charset=utf-8", "A row for each, after a header.");
    area.get(
        "/api/push/{push_id}/why",
        "Ask why somebody got a push, or did not",
        "For a channel, a named user or an address: the steps in their order, each with a sentence. Exactly one of the three \
         parameters says who is meant.",
    )
    .takes(query::id("channel_id", "A channel."))
    .takes(query::text("named_user_id", "A named user: all of its channels."))
    .takes(query::text("address", "A device token or another address: all channels that have it."))
    .ok::<WhyRecord>("What happened, for each of the person's devices.");
    area.post(
        "/api/push/{push_id}/pause",
        "Pause a push",
        "Within a second no node starts another delivery; what is under way still arrives. A paused push still expires.",
    )
    .changed::<Status>("The push, paused.")
    .refuses(409, TOO_LATE);
    area.post("/api/push/{push_id}/resume", "Resume a push", "Lets a paused push go on.")
        .changed::<Status>("The push.")
        .refuses(409, TOO_LATE);
    area.post("/api/push/{push_id}/cancel", "Cancel a push", "Ends a push for good: what has not arrived never will.")
        .changed::<Status>("The push, canceled.")
        .refuses(409, TOO_LATE);
    area
}

const TOO_LATE: &str = "The push is done or was canceled (40900).";

fn bulk(area: &mut Area) {
    let files = [
        (
            "/api/bulk/{device_type}",
            "Upload recipients",
            "A file of recipients for bulk sending: a header, then a row for each, plain or gzip. The column `ua_channel_id` has \
             the ids of channels, and every other column values for the texts of pushes. It can be sent to for 30 days.",
            "ua_channel_id,first_name\r\n9c36e8c7-5a73-47c0-9716-99fd3d4197d5,Kim\r\n",
        ),
        (
            "/api/bulk/open/{open_platform}",
            "Upload recipients of an open platform",
            "As for other devices, but the recipients may be in a column `ua_address`, too. Addresses that are new become \
             channels, opted in.",
            "ua_address,first_name\r\nlobby-1,Kim\r\n",
        ),
    ];
    for (path, title, text, rows) in files {
        area.post(path, title, text)
            .text_body("text/csv", rows)
            .changed::<UploadedFile>("Every row is stored, but those of channels that do not exist.")
            .refuses(
                400,
                "The file has more than a million rows (40002), too many columns (40003), no column of recipients (40013), a \
                 column twice (40017), or cannot be read (40000).",
            )
            .refuses(404, "There are no such devices (40401), or no email and SMS channels (40402).")
            .refuses(408, "Nothing arrived for a minute (40800).")
            .refuses(413, "The rows are larger than 8 GiB when unpacked (41300).");
    }
    let push = json!({
        "audience": {"bulk_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5"},
        "device_types": ["ios"],
        "notification": {"alert": "Hello {{first_name}}"},
    });
    area.post(
        "/api/bulk-send",
        "Send to a file",
        "Sends a push to everybody in an uploaded file, on one device type. Its texts are filled in with the row of each.",
    )
    .body(body::of::<Push>, push.clone())
    .ok::<Accepted>("Accepted.")
    .status(202);
    area.post("/api/bulk-send/validate", "Validate a bulk send", "Checks such a push and does nothing with it.")
        .body(body::of::<Push>, push)
        .ok::<Done>("The push would be accepted.");
}
