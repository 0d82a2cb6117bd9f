//! Pushes that are sent later.

use model::json::OneOrMany;
use model::schedule::ScheduledPush;
use model::template::ScheduleReplacement;
use serde_json::json;

use crate::openapi::{Area, body, query, shape::Free};
use crate::page_size::PageSize;
use crate::routes::calendar;
use crate::routes::schedules::{Created, Page};

const PAUSE: &str = "The schedule does not recur, or has come to its end (40000).";

pub(super) fn area() -> Area {
    let mut area = Area::new(
        "Schedules",
        "Pushes that are sent later, once or over and over, in UTC or by the clocks of devices.",
    );
    let scheduled = json!({
        "name": "New year",
        "schedule": {"scheduled_time": "2035-01-01T00:00:00"},
        "push": {"audience": "all", "notification": {"alert": "Happy new year"}, "device_types": "all"},
    });
    area.post(
        "/api/schedules",
        "Schedule a push",
        "Takes one schedule or an array of up to 1,000 (100 with local times): all or none.",
    )
    .body(body::of::<OneOrMany<ScheduledPush>>, scheduled.clone())
    .ok::<Created<Free>>("The schedules, with the ids that their next pushes will have.")
    .status(201);
    let create = json!({
        "schedule": {"scheduled_time": "2035-01-01T00:00:00"},
        "push": {
            "audience": {"create_and_send": [{"ua_address": "lobby-1"}]},
            "device_types": ["open::kiosk"],
            "notification": {"open::kiosk": {"alert": "Hello"}},
        },
    });
    area.post(
        "/api/schedules/create-and-send",
        "Schedule create and send",
        "As `POST /api/create-and-send`, but later. The channels are made when the push is sent.",
    )
    .body(body::of::<OneOrMany<ScheduledPush>>, create.clone())
    .ok::<Created<Free>>("The schedule.")
    .status(202);
    area.post(
        "/api/schedules/bulk-send",
        "Schedule a bulk send",
        "As `POST /api/bulk-send`, but later; the file has to be there still. Another name of \
         `POST /api/schedules/create-and-send`.",
    )
    .body(body::of::<OneOrMany<ScheduledPush>>, create)
    .ok::<Created<Free>>("The schedule.")
    .status(202);
    area.get(
        "/api/schedules/occurrences",
        "Show the calendar",
        "What was sent within a time, and what schedules and experiments are going to send, up to 1,000 in order of their times. A \
         day of a pipeline is one of them.",
    )
    .takes(query::date("from", "The beginning.").required())
    .takes(query::date("to", "The end, which is not included; at most 400 days later.").example("2030-02-01").required())
    .ok::<calendar::Page>("What there is.");
    area.get("/api/schedules", "List schedules", "In the order of their creation.")
        .takes(query::id("start", "The first schedule of the page."))
        .takes(query::limit(PageSize::SCHEDULES))
        .takes(query::choice("order", &["asc", "desc"], "The oldest first, or the newest.").default(json!("asc")))
        .ok::<Page>("A page of schedules.")
        .paged()
        .counted();
    area.get(
        "/api/schedules/{schedule_id}",
        "Look up a schedule",
        "Only what was sent: `name`, `schedule` and `push`.",
    )
    .bare_with(body::of::<ScheduledPush>, "The schedule.");
    area.put(
        "/api/schedules/{schedule_id}",
        "Replace a schedule",
        "Replaces everything, also by a template with values for its variables, and begins anew without repeating a time.",
    )
    .body(body::of::<ScheduleReplacement>, scheduled)
    .ok::<Created<Free>>("The schedule.")
    .refuses(409, "A local time has come to some devices and not yet to others; pause the schedule first (40900).");
    area.delete(
        "/api/schedules/{schedule_id}",
        "Delete a schedule",
        "What it has sent goes on; cancel those pushes to stop them.",
    )
    .nothing("Deleted.");
    area.post(
        "/api/schedules/{schedule_id}/pause",
        "Pause a schedule",
        "Nothing is sent until it is resumed, and nothing is made up for.",
    )
    .nothing("Paused.")
    .refuses(400, PAUSE);
    area.post("/api/schedules/{schedule_id}/resume", "Resume a schedule", "Lets a paused schedule go on.")
        .nothing("Resumed.")
        .refuses(400, PAUSE);
    area
}
