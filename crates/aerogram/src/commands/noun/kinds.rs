//! Where the API has each kind of thing, and what a line about one of them says.

use http::Method;

use crate::commands::listing::Cell::{At, Count, EndOf, Millis, Repeats, When};
use crate::commands::listing::Listing;
use crate::config::Name;

/// A kind of thing that an app keeps.
pub(crate) struct Noun {
    /// How one of them is called in a sentence.
    pub(super) one: &'static str,
    pub(super) listing: Listing,
    /// Where one is deleted, if not where it is.
    deleted_at: Option<&'static str>,
    /// The id, or ids, in the answer to a creation.
    pub(super) made: &'static str,
    /// How one is changed, if it can be.
    pub(super) update: Option<Method>,
}

pub(crate) const SEGMENTS: Noun = Noun {
    one: "the segment",
    listing: Listing {
        path: "/api/segments",
        items: "segments",
        columns: &[
            ("SEGMENT_ID", At("/id")),
            ("CREATED", Millis("/creation_date")),
            ("MODIFIED", Millis("/modification_date")),
            ("NAME", At("/display_name")),
        ],
    },
    deleted_at: None,
    made: "segment_id",
    update: Some(Method::PUT),
};

pub(crate) const SCHEDULES: Noun = Noun {
    one: "the schedule",
    listing: Listing {
        path: "/api/schedules",
        items: "schedules",
        columns: &[
            ("SCHEDULE_ID", EndOf("/url")),
            ("WHEN", When("/schedule")),
            ("REPEATS", Repeats("/schedule")),
            ("NAME", At("/name")),
            ("TEXT", At("/push/notification/alert")),
        ],
    },
    deleted_at: None,
    made: "schedule_ids",
    update: Some(Method::PUT),
};

pub(crate) const EXPERIMENTS: Noun = Noun {
    one: "the experiment",
    listing: Listing {
        path: "/api/experiments",
        items: "experiments",
        columns: &[
            ("EXPERIMENT_ID", At("/id")),
            ("CREATED", At("/created_at")),
            ("VARIANTS", Count("/variants")),
            ("NAME", At("/name")),
        ],
    },
    deleted_at: Some("/api/experiments/scheduled"),
    made: "experiment_id",
    update: None,
};

pub(crate) const PIPELINES: Noun = Noun {
    one: "the pipeline",
    listing: Listing {
        path: "/api/pipelines",
        items: "pipelines",
        columns: &[
            ("PIPELINE_ID", At("/uid")),
            ("STATUS", At("/status")),
            ("MODIFIED", At("/last_modified_time")),
            ("NAME", At("/name")),
        ],
    },
    deleted_at: None,
    made: "pipeline_ids",
    update: Some(Method::PUT),
};

pub(crate) const TEMPLATES: Noun = Noun {
    one: "the template",
    listing: Listing {
        path: "/api/templates",
        items: "templates",
        columns: &[
            ("TEMPLATE_ID", At("/template_id")),
            ("MODIFIED", At("/modified_at")),
            ("VARIABLES", Count("/variables")),
            ("NAME", At("/name")),
        ],
    },
    deleted_at: None,
    made: "template_id",
    update: Some(Method::POST),
};

pub(crate) const LISTS: Noun = Noun {
    one: "the list",
    listing: Listing {
        path: "/api/lists",
        items: "lists",
        columns: &[
            ("LIST", At("/name")),
            ("STATUS", At("/status")),
            ("CHANNELS", At("/channel_count")),
            ("UPDATED", At("/last_updated")),
            ("DESCRIPTION", At("/description")),
        ],
    },
    deleted_at: None,
    made: "",
    update: Some(Method::PUT),
};

pub(crate) const TAG_LISTS: Noun = Noun {
    one: "the tag list",
    listing: Listing {
        path: "/api/tag-lists",
        items: "lists",
        columns: &[
            ("LIST", At("/name")),
            ("STATUS", At("/status")),
            ("CHANNELS", At("/channel_count")),
            ("NAMED_USERS", At("/named_user_count")),
            ("ERRORS", At("/mutation_error_count")),
            ("UPDATED", At("/last_updated")),
            ("DESCRIPTION", At("/description")),
        ],
    },
    deleted_at: None,
    made: "",
    update: None,
};

pub(crate) const ATTRIBUTE_LISTS: Noun = Noun {
    one: "the attribute list",
    listing: Listing {
        path: "/api/attribute-lists",
        items: "lists",
        columns: &[
            ("LIST", At("/name")),
            ("STATUS", At("/status")),
            ("CHANNELS", At("/channel_count")),
            ("UPDATED", At("/last_updated")),
            ("DESCRIPTION", At("/description")),
        ],
    },
    deleted_at: None,
    made: "",
    update: None,
};

impl Noun {
    pub(in crate::commands) fn path_of(&self, id: &Name) -> String {
        format!("{}/{}", self.listing.path, id.segment())
    }

    pub(super) fn path_to_delete(&self, id: &Name) -> String {
        format!("{}/{}", self.deleted_at.unwrap_or(self.listing.path), id.segment())
    }
}
