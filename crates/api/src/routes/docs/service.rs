//! The service itself: its health, its metrics, its documents, and the pages it hosts.

use crate::openapi::{Area, shape::Free};
use crate::routes::health::{Health, Ready};

pub(super) fn area() -> Area {
    let mut area = Area::new("Service", "Health and metrics, this reference, and pages that came with pushes.");
    area.get("/health", "Show health", "Answers while the process runs; nothing else is asked.")
        .ok::<Health>("It runs.");
    area.get("/ready", "Show readiness", "Whether the database answers, took the last change and is whole.")
        .ok::<Ready>("Requests can be answered.")
        .refuses(503, "The server stops (50301), or the database is away, takes no changes or is damaged (50302).");
    area.get("/metrics", "Show metrics", "Counts and gauges for Prometheus: as OpenMetrics for those who accept it.")
        .text("text/plain; version=0.0.4; charset=utf-8", "The metrics.");
    area.get(
        "/openapi.json",
        "Fetch the OpenAPI document",
        "This API as a document for tools, in version 3.1 of OpenAPI.",
    )
    .bare::<Free>("The document.")
    .header("ETag", "To be sent back as `If-None-Match`.")
    .not_modified_by_tag();
    for (path, summary, media_type, text) in [
        ("/docs", "Show the reference", "text/html; charset=utf-8", "The page that shows the document to people."),
        ("/docs/docs.js", "Fetch the script of the reference", "text/javascript; charset=utf-8", "Part of the page."),
        ("/docs/docs.css", "Fetch the style of the reference", "text/css; charset=utf-8", "Part of the page."),
    ] {
        area.get(path, summary, text)
            .text(media_type, text)
            .header("ETag", "To be sent back as `If-None-Match`.")
            .not_modified_by_tag();
    }
    for (path, summary) in [
        ("/sdk/{file}", "Fetch a file of the newest browser SDK"),
        ("/sdk/1/{file}", "Fetch a file of version 1 of the browser SDK"),
    ] {
        area.get(path, summary, "Web pages load these; docs/sdk.md says how.")
            .any_content("The file.")
            .header("ETag", "To be sent back as `If-None-Match`.")
            .not_modified_by_tag();
    }
    area.get(
        "/pages/{key}/{push_id}/{number}",
        "Show a landing page",
        "A page that came inside a push, for browsers of devices.",
    )
    .any_content("The page, of the content type that its sender chose.");
    area
}
