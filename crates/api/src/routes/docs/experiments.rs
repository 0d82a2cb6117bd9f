//! Experiments, their results and their reports.

use model::experiment::Experiment;
use serde_json::json;

use crate::openapi::{Area, body, query};
use crate::page_size::PageSize;
use crate::routes::experiments::{Created, One, Page};
use crate::routes::{experiment_reports, experiment_results};

pub(super) fn area() -> Area {
    let mut area = Area::new(
        "Experiments",
        "Up to 26 variants of one push, each for its share of the audience, and what came of them.",
    );
    let time = json!({"scheduled_time": "2035-01-01T09:00:00"});
    let experiment = json!({
        "name": "Which greeting?",
        "audience": {"tag": "news"}, "device_types": ["ios", "android"],
        "control": 0.2,
        "variants": [
            {"name": "Plain", "push": {"notification": {"alert": "The news of today"}}, "schedule": time},
            {"name": "Friendly", "weight": 3, "push": {"notification": {"alert": "Good morning!"}}, "schedule": time},
        ],
    });
    area.post("/api/experiments", "Create an experiment", "Variants without a schedule are sent at once.")
        .body(body::of::<Experiment>, experiment.clone())
        .changed::<Created>("Its id, which is also the id of its pushes as a group.")
        .status(201)
        .location();
    area.post("/api/experiments/validate", "Validate an experiment", "Finds the same problems and keeps nothing.")
        .body(body::of::<Experiment>, experiment)
        .done();
    area.get("/api/experiments", "List experiments", "The newest first.")
        .takes(offset())
        .takes(query::limit(PageSize::EXPERIMENTS))
        .ok::<Page>("A page of experiments.")
        .paged()
        .counted();
    area.get(
        "/api/experiments/scheduled",
        "List scheduled experiments",
        "Those that have not started, the next to start first.",
    )
    .takes(offset())
    .takes(query::limit(PageSize::EXPERIMENTS))
    .ok::<Page>("A page of experiments.")
    .paged()
    .counted();
    area.delete(
        "/api/experiments/scheduled/{experiment_id}",
        "Delete a scheduled experiment",
        "Only before it starts.",
    )
    .done()
    .refuses(405, "The experiment has started (40501); what it sends are pushes, which can be canceled.");
    area.get("/api/experiments/{experiment_id}", "Look up an experiment", "As it was sent, with ids.")
        .ok::<One>("The experiment.");
    area.get(
        "/api/experiments/{experiment_id}/results",
        "Show the results of an experiment",
        "How many of each group opened the app within 12 hours, with intervals that contain the true rate 95 times out of 100, \
         and whether a difference is clear.",
    )
    .ok::<experiment_results::Results>("The results so far.");
    area.get(
        "/api/reports/experiment/overview/{experiment_id}",
        "Report on an experiment",
        "The counts of all variants.",
    )
    .ok::<experiment_reports::Overview<'_>>("The counts.");
    area.get(
        "/api/reports/experiment/detail/{experiment_id}/{variant}",
        "Report on a variant",
        "The counts of one variant by platform.",
    )
    .ok::<experiment_reports::Detail<'_>>("The counts.");
    area
}

fn offset() -> query::Parameter {
    query::number("offset", 0..=u32::MAX, "How many to skip.").default(json!(0))
}
