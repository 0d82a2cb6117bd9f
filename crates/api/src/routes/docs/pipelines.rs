//! Pipelines.

use model::journey::{JourneyExit, JourneyTrigger};
use model::json::OneOrMany;
use model::pipeline::Pipeline;
use serde_json::json;

use crate::answer::Done;
use crate::openapi::{Area, body, query};
use crate::page_size::PageSize;
use crate::routes::pipelines::{Constraints, Created, DeletedPage, Limited, One, Page, TRIGGERS};

pub(super) fn area() -> Area {
    let mut area = Area::new("Pipelines", "Messages that are sent by themselves when something happens to a channel.");
    let pipeline = json!({
        "name": "Left in the cart",
        "enabled": true,
        "immediate_trigger": {"tag_added": "cart"},
        "cancellation_trigger": {"tag_added": "bought"},
        "constraint": {"rate": {"pushes": 1, "days": 7}},
        "outcome": {
            "delay": 3600,
            "push": {"audience": "triggered", "notification": {"alert": "Still interested?"}, "device_types": "all"},
        },
    });
    area.post("/api/pipelines", "Create a pipeline", "Takes one pipeline or an array: all or none.")
        .body(body::of::<OneOrMany<Pipeline>>, pipeline.clone())
        .ok::<Created>("Their ids and addresses.")
        .status(201)
        .refuses(
            409,
            "The app has as many pipelines as it may, or the idempotency key was used for another request (40900).",
        );
    area.post("/api/pipelines/validate", "Validate a pipeline", "Checks pipelines and keeps nothing.")
        .body(body::of::<OneOrMany<Pipeline>>, pipeline.clone())
        .ok::<Done>("They would be accepted.");
    area.get("/api/pipelines", "List pipelines", "The newest first.")
        .takes(query::choice("enabled", &["true", "false"], "Only those that are enabled, or those that are not."))
        .takes(query::limit(PageSize::PIPELINES))
        .takes(query::number("offset", 0..=u32::MAX, "How many to skip.").default(json!(0)))
        .ok::<Page>("A page of pipelines.")
        .paged()
        .counted();
    let triggers = TRIGGERS.map(|(word, _)| word);
    area.get("/api/pipelines/filtered", "Filter pipelines", "Those to which everything given applies.")
        .takes(query::number("start", 0..=u32::MAX, "How many to skip.").default(json!(0)))
        .takes(query::limit(PageSize::FILTERED_PIPELINES))
        .takes(query::choice("enabled", &["true", "false"], "With `true` only those that are enabled; otherwise all."))
        .takes(
            query::text("started_date_mills", "Only those started after this time, in milliseconds since 1970.")
                .example("0"),
        )
        .takes(query::text("prefix", "How the name begins."))
        .takes(query::choice("triggers", &triggers, "Only those with such a trigger; may be given several times."))
        .takes(query::text("sort", "What they are sorted by: `name` or `started_date`.").default(json!("name")))
        .takes(query::choice("order", &["asc", "desc"], "In which direction.").default(json!("asc")))
        .ok::<Page>("A page of pipelines.")
        .paged()
        .counted();
    area.get("/api/pipelines/deleted", "List deleted pipelines", "The last 1,000, the newest first.")
        .takes(query::text("start", "Leaves out those deleted after this time.").example("2030-01-31T12:00:00"))
        .takes(query::limit(PageSize::DELETED_PIPELINES))
        .ok::<DeletedPage>("Ids and times.");
    area.get("/api/pipelines/limits", "Show the limits of pipelines", "How many an app may have, and has.")
        .ok::<Limited>("The limits.");
    area.get(
        "/api/pipelines/constraints",
        "Show the rates of all pipelines",
        "How much all pipelines together may send to a channel.",
    )
    .ok::<Constraints>("The rates.");
    area.put("/api/pipelines/constraints", "Set the rates of all pipelines", "Replaces them, by up to 5.")
        .body(body::global_rates, json!([{"rate": {"pushes": 3, "days": 7}}]))
        .done();
    area.get("/api/pipelines/{pipeline_id}", "Look up a pipeline", "As it was sent, with its status and times.")
        .ok::<One>("The pipeline.");
    area.put("/api/pipelines/{pipeline_id}", "Replace a pipeline", "What is left out is gone.")
        .body(body::of::<Pipeline>, pipeline)
        .done()
        .refuses(409, "The app has as many active pipelines as it may (40900).");
    area.delete("/api/pipelines/{pipeline_id}", "Delete a pipeline", "Channels that wait for it get nothing.")
        .nothing("Deleted.");
    area.post(
        "/api/journeys/trigger",
        "Let people enter a journey",
        "Each channel of the audience gets a custom event `journey_entered` with `triggering_id`, \
         `entrance_id` and the given values as properties. It sets off the pipelines that wait for it. Up to 1,000 channels \
         whose events take up to 8 MiB have entered when the call is answered, all or none, unless an earlier request waits; more \
         enter afterwards.",
    )
    .body(
        body::of::<JourneyTrigger>,
        json!({"audience": {"named_user": "kim-7"}, "triggering_id": "welcome", "global_attributes": {"item": "Boots"}}),
    )
    .done();
    area.post(
        "/api/journeys/exit",
        "Let people leave a journey",
        "Each channel that entered gets a custom event `journey_exited`, by which pipelines may be canceled.",
    )
    .body(body::of::<JourneyExit>, json!({"triggering_id": "welcome"}))
    .done();
    area
}
