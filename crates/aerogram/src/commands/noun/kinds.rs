//! Where the API has each kind of thing, and what a line about one of them says.

use http::Method;
use model::time::UtcMillis;
use serde_json::Value;

use crate::config::Name;
use crate::output;

/// A kind of thing that an app keeps.
pub(crate) struct Noun {
    /// How one of them is called in a sentence.
    pub(super) one: &'static str,
    pub(super) path: &'static str,
    /// Where one is deleted, if not where it is.
    deleted_at: Option<&'static str>,
    /// The name of the array in a listing.
    pub(super) items: &'static str,
    /// The id, or ids, in the answer to a creation.
    pub(super) made: &'static str,
    /// How one is changed, if it can be.
    pub(super) update: Option<Method>,
    columns: &'static [(&'static str, Cell)],
}

/// Where a cell of a listing comes from.
enum Cell {
    /// A JSON pointer.
    At(&'static str),
    /// The end of a URL.
    EndOf(&'static str),
    /// Milliseconds since 1970.
    Millis(&'static str),
    /// How many elements there are.
    Count(&'static str),
}

use Cell::{At, Count, EndOf, Millis};

pub(crate) const SEGMENTS: Noun = Noun {
    one: "the segment",
    path: "/api/segments",
    deleted_at: None,
    items: "segments",
    made: "segment_id",
    update: Some(Method::PUT),
    columns: &[
        ("SEGMENT_ID", At("/id")),
        ("CREATED", Millis("/creation_date")),
        ("MODIFIED", Millis("/modification_date")),
        ("NAME", At("/display_name")),
    ],
};

pub(crate) const SCHEDULES: Noun = Noun {
    one: "the schedule",
    path: "/api/schedules",
    deleted_at: None,
    items: "schedules",
    made: "schedule_ids",
    update: Some(Method::PUT),
    columns: &[
        ("SCHEDULE_ID", EndOf("/url")),
        ("WHEN", At("/schedule")),
        ("NAME", At("/name")),
        ("TEXT", At("/push/notification/alert")),
    ],
};

pub(crate) const EXPERIMENTS: Noun = Noun {
    one: "the experiment",
    path: "/api/experiments",
    deleted_at: Some("/api/experiments/scheduled"),
    items: "experiments",
    made: "experiment_id",
    update: None,
    columns: &[
        ("EXPERIMENT_ID", At("/id")),
        ("CREATED", At("/created_at")),
        ("VARIANTS", Count("/variants")),
        ("NAME", At("/name")),
    ],
};

pub(crate) const PIPELINES: Noun = Noun {
    one: "the pipeline",
    path: "/api/pipelines",
    deleted_at: None,
    items: "pipelines",
    made: "pipeline_ids",
    update: Some(Method::PUT),
    columns: &[
        ("PIPELINE_ID", At("/uid")),
        ("STATUS", At("/status")),
        ("MODIFIED", At("/last_modified_time")),
        ("NAME", At("/name")),
    ],
};

pub(crate) const TEMPLATES: Noun = Noun {
    one: "the template",
    path: "/api/templates",
    deleted_at: None,
    items: "templates",
    made: "template_id",
    update: Some(Method::POST),
    columns: &[
        ("TEMPLATE_ID", At("/template_id")),
        ("MODIFIED", At("/modified_at")),
        ("VARIABLES", Count("/variables")),
        ("NAME", At("/name")),
    ],
};

pub(crate) const LISTS: Noun = Noun {
    one: "the list",
    path: "/api/lists",
    deleted_at: None,
    items: "lists",
    made: "",
    update: Some(Method::PUT),
    columns: &[
        ("LIST", At("/name")),
        ("STATUS", At("/status")),
        ("CHANNELS", At("/channel_count")),
        ("UPDATED", At("/last_updated")),
        ("DESCRIPTION", At("/description")),
    ],
};

impl Noun {
    pub(super) fn path_of(&self, id: &Name) -> String {
        format!("{}/{}", self.path, id.segment())
    }

    pub(super) fn path_to_delete(&self, id: &Name) -> String {
        format!("{}/{}", self.deleted_at.unwrap_or(self.path), id.segment())
    }

    pub(super) fn heading(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(heading, _)| *heading).collect()
    }

    pub(super) fn row(&self, item: &Value) -> Vec<String> {
        self.columns.iter().map(|(_, cell)| cell.of(item)).collect()
    }
}

impl Cell {
    fn of(&self, item: &Value) -> String {
        let text = match self {
            At(pointer) => match item.pointer(pointer) {
                None | Some(Value::Null) => None,
                Some(Value::String(text)) => Some(text.clone()),
                // Of what is chosen by its key, such as the time of a schedule, the first value tells most.
                Some(Value::Object(parts)) => parts.iter().next().map(|(key, value)| match value {
                    Value::String(text) => text.clone(),
                    _ => key.clone(),
                }),
                Some(other) => Some(other.to_string()),
            },
            EndOf(pointer) => {
                let url = item.pointer(pointer).and_then(Value::as_str);
                url.and_then(|url| url.rsplit('/').next()).map(str::to_owned)
            }
            Millis(pointer) => item.pointer(pointer).and_then(Value::as_i64).map(|millis| UtcMillis(millis).to_api()),
            Count(pointer) => item.pointer(pointer).and_then(Value::as_array).map(|all| all.len().to_string()),
        };
        output::shortened(text.as_deref().unwrap_or("-"))
    }
}
