//! The kinds of documents that an app has, in the order in which an export has them: each names only what comes before it.

use http::Method;

use super::{DocumentKind, Switch};

pub(in crate::commands) static ALL: [&DocumentKind; 6] =
    [&SEGMENTS, &CONTENT_TEMPLATES, &TEMPLATES, &SCHEDULES, &PIPELINES, &EXPERIMENTS];

pub(in crate::commands) static SEGMENTS: DocumentKind = DocumentKind {
    key: "segment",
    path: "/api/segments",
    listing: "/api/segments",
    items: "segments",
    id: "id",
    name: Some("display_name"),
    made: "segment_id",
    update: Method::PUT,
    shown_only: &["creation_date", "modification_date"],
    switch: None,
};
static TEMPLATES: DocumentKind = DocumentKind {
    key: "template",
    path: "/api/templates",
    listing: "/api/templates",
    items: "templates",
    id: "template_id",
    name: Some("name"),
    made: "template_id",
    update: Method::POST,
    shown_only: &["id", "created_at", "modified_at", "last_used"],
    switch: None,
};
pub(super) static SCHEDULES: DocumentKind = DocumentKind {
    key: "schedule",
    path: "/api/schedules",
    listing: "/api/schedules",
    items: "schedules",
    id: "url",
    name: None,
    made: "schedule_ids",
    update: Method::PUT,
    shown_only: &["push_ids"],
    switch: Some(Switch::Paused),
};
pub(super) static PIPELINES: DocumentKind = DocumentKind {
    key: "pipeline",
    path: "/api/pipelines",
    listing: "/api/pipelines",
    items: "pipelines",
    id: "uid",
    name: Some("name"),
    made: "pipeline_ids",
    update: Method::PUT,
    shown_only: &["url", "status", "creation_time", "last_modified_time"],
    switch: Some(Switch::Enabled),
};
static CONTENT_TEMPLATES: DocumentKind = DocumentKind {
    key: "content_template",
    path: "/api/content/templates",
    listing: "/api/content/templates",
    items: "content_templates",
    id: "id",
    name: Some("name"),
    made: "template_id",
    update: Method::PUT,
    shown_only: &["created_at", "modified_at"],
    switch: None,
};
/// Those that have not begun. One that has cannot be begun again.
static EXPERIMENTS: DocumentKind = DocumentKind {
    key: "experiment",
    path: "/api/experiments",
    listing: "/api/experiments/scheduled",
    items: "experiments",
    id: "id",
    name: None,
    made: "experiment_id",
    // What is there with the same content is not changed.
    update: Method::PUT,
    shown_only: &["push_id", "created_at"],
    switch: Some(Switch::None),
};
