//! Where the API has each kind of thing, and what a line about one of them says.

use http::Method;

use crate::commands::listing::Cell::{At, Count, EndOf, Millis, Repeats, When};
use crate::commands::listing::Listing;
use crate::config::Name;
use crate::output::{COUNT, ID, MOMENT, NAME, TEXT};

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
            ("SEGMENT_ID", ID, At("/id")),
            ("CREATED", MOMENT.left_out(1), Millis("/creation_date")),
            ("MODIFIED", MOMENT.left_out(2), Millis("/modification_date")),
            ("NAME", TEXT, At("/display_name")),
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
            ("SCHEDULE_ID", ID, EndOf("/url")),
            ("WHEN", NAME, When("/schedule")),
            ("REPEATS", NAME, Repeats("/schedule")),
            ("NAME", TEXT.left_out(2), At("/name")),
            ("TEXT", TEXT.left_out(1), At("/push/notification/alert")),
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
            ("EXPERIMENT_ID", ID, At("/id")),
            ("CREATED", MOMENT.left_out(1), At("/created_at")),
            ("VARIANTS", COUNT.left_out(2), Count("/variants")),
            ("NAME", TEXT, At("/name")),
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
            ("PIPELINE_ID", ID, At("/uid")),
            ("STATUS", NAME, At("/status")),
            ("MODIFIED", MOMENT.left_out(1), At("/last_modified_time")),
            ("NAME", TEXT, At("/name")),
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
            ("TEMPLATE_ID", ID, At("/template_id")),
            ("MODIFIED", MOMENT.left_out(1), At("/modified_at")),
            ("VARIABLES", COUNT.left_out(2), Count("/variables")),
            ("NAME", TEXT, At("/name")),
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
            ("LIST", ID, At("/name")),
            ("STATUS", NAME, At("/status")),
            ("CHANNELS", COUNT, At("/channel_count")),
            ("UPDATED", MOMENT.left_out(1), At("/last_updated")),
            ("DESCRIPTION", TEXT.left_out(2), At("/description")),
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
            ("LIST", ID, At("/name")),
            ("STATUS", NAME, At("/status")),
            ("CHANNELS", COUNT, At("/channel_count")),
            ("NAMED_USERS", COUNT.left_out(3), At("/named_user_count")),
            ("ERRORS", COUNT, At("/mutation_error_count")),
            ("UPDATED", MOMENT.left_out(1), At("/last_updated")),
            ("DESCRIPTION", TEXT.left_out(2), At("/description")),
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
            ("LIST", ID, At("/name")),
            ("STATUS", NAME, At("/status")),
            ("CHANNELS", COUNT, At("/channel_count")),
            ("UPDATED", MOMENT.left_out(1), At("/last_updated")),
            ("DESCRIPTION", TEXT.left_out(2), At("/description")),
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
