//! Every table that holds rows of apps, with what happens to its rows about a person who is exported or erased. A test compares it
//! with the tables that there are.

/// A table and its treatment.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub table: &'static str,
    pub treatment: Treatment,
}

#[derive(Clone, Copy, Debug)]
pub enum Treatment {
    /// Rows of the person are found by conditions, exported and deleted.
    Owned(&'static [Finder]),
    /// All rows are read; those that name the person are told in an export, and get another word in place of the name.
    Cleaned(Cleaned),
    /// Configuration objects: those that name the person are cleaned by the caller, who keeps some of them in memory.
    Documents,
    /// What channels looked like: those of the person are deleted, and others that name their user cleaned.
    Faces,
    /// The log: records of the person are emptied, others cleaned. It is read by the caller.
    Log,
    /// What became of pushes, with the words of providers: those that name the person are cleaned by the caller, who can read the
    /// sets of channels.
    Outcomes,
    /// Answers to repeated requests are sealed, and cleaned by the caller who has the key.
    Answers,
    /// Rows of uploaded lists, by their identifiers.
    ListMembers,
    /// Inboxes, with their passwords.
    Inboxes,
    /// Deliveries, of which an app has ten thousand at most: those to the person's channels are deleted, and others that name the
    /// person cleaned.
    Sandbox,
    /// Dead letters whose events name the person are deleted.
    DeadLetters,
    /// Requests to webhooks about events of the person are deleted.
    History,
    /// Exports of the person, which are deleted.
    Exports,
    /// Holds nothing about a person, because of this.
    Kept(&'static str),
}

/// How rows of a person are found. In the condition `$1` is the app and `$2` the value.
#[derive(Clone, Copy, Debug)]
pub struct Finder {
    pub by: By,
    pub condition: &'static str,
}

/// What rows are found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Ordinal,
    Channel,
    /// A channel as the owner of attributes.
    AttributeOwner,
    NamedUser,
    InboxUser,
}

/// Columns of texts and JSON that may name the person.
#[derive(Clone, Copy, Debug)]
pub struct Cleaned {
    pub columns: &'static [&'static str],
    /// How newer rows are told, which are about a person who starts afresh.
    pub written: Written,
}

/// The column that tells when a row was written.
#[derive(Clone, Copy, Debug)]
pub enum Written {
    /// A time.
    At(&'static str),
    /// An offset in the log.
    UpTo(&'static str),
    /// There is none, and such rows have few names in them.
    Unknown,
}

const ORDINALS: &str =
    "sets of ordinals, which lead to nobody without the channel's row, and no ordinal is given twice";
const COUNTS: &str = "counts, which keep their sums";
const DIGESTS: &str = "random ids and digests, deleted after hours or days";

const BY_ORDINAL: Treatment = Treatment::Owned(&[Finder { by: By::Ordinal, condition: "ordinal = $2" }]);

/// In the order in which they are gone through. The channels come last of those that are found by them.
pub const PLAN: &[Entry] = &[
    entry(
        "attribute",
        Treatment::Owned(&[
            Finder { by: By::AttributeOwner, condition: "owner_kind = 'channel' and owner = $2" },
            Finder { by: By::NamedUser, condition: "owner_kind = 'named_user' and owner = $2" },
        ]),
    ),
    entry("session", BY_ORDINAL),
    entry("refused_address", BY_ORDINAL),
    entry("last_place", BY_ORDINAL),
    entry("unknown_user", BY_ORDINAL),
    entry("inbox_message", BY_ORDINAL),
    entry("inbox_channel", BY_ORDINAL),
    entry("inbox_user", Treatment::Inboxes),
    entry("contact", Treatment::Owned(&[Finder { by: By::NamedUser, condition: "named_user = $2" }])),
    entry(
        "pending_association",
        Treatment::Owned(&[
            Finder { by: By::Channel, condition: "channel = $2" },
            Finder { by: By::NamedUser, condition: "named_user = $2" },
        ]),
    ),
    entry("list_member", Treatment::ListMembers),
    entry(
        "list_change",
        Treatment::Owned(&[
            Finder { by: By::Channel, condition: "channel = $2" },
            Finder { by: By::NamedUser, condition: "named_user = $2" },
        ]),
    ),
    entry("live_token", BY_ORDINAL),
    entry("uninstalled", BY_ORDINAL),
    entry("bulk_row", BY_ORDINAL),
    entry("journey_entrance", BY_ORDINAL),
    entry("named_user", Treatment::Owned(&[Finder { by: By::NamedUser, condition: "id = $2" }])),
    entry("channel_key", BY_ORDINAL),
    entry("channel_secret", BY_ORDINAL),
    entry("channel", BY_ORDINAL),
    entry("face", Treatment::Faces),
    // Before the log, by which it is found.
    entry("webhook_history", Treatment::History),
    entry("webhook_dead_letter", Treatment::DeadLetters),
    entry("log", Treatment::Log),
    entry("webhook", Treatment::Cleaned(Cleaned { columns: &["failure"], written: Written::Unknown })),
    entry("sandbox", Treatment::Sandbox),
    entry(
        "push",
        Treatment::Cleaned(Cleaned {
            columns: &["payload", "reason", "name", "title", "alert"],
            written: Written::At("created"),
        }),
    ),
    entry("push_tally", Treatment::Cleaned(Cleaned { columns: &["reason"], written: Written::Unknown })),
    entry("push_outcome", Treatment::Outcomes),
    entry("message", Treatment::Cleaned(Cleaned { columns: &["told"], written: Written::At("sent") })),
    entry(
        "message_text",
        Treatment::Cleaned(Cleaned { columns: &["title", "details", "body"], written: Written::Unknown }),
    ),
    entry("document", Treatment::Documents),
    entry("idempotency", Treatment::Answers),
    entry("audit", Treatment::Cleaned(Cleaned { columns: &["object", "detail"], written: Written::At("at") })),
    entry("privacy_request", Treatment::Exports),
    entry("privacy_result", Treatment::Kept("the pieces of exports, which go with their requests")),
    entry(
        "term",
        Treatment::Kept(
            "the names of tags and lists, which are words of the app; a tag that names a person is deleted by its name",
        ),
    ),
    entry("legacy_tag", Treatment::Kept("the names of tags, which are words of the app")),
    entry("term_set", Treatment::Kept(ORDINALS)),
    entry("place_day", Treatment::Kept(ORDINALS)),
    entry("live_presence", Treatment::Kept(ORDINALS)),
    entry("served_address", Treatment::Kept(ORDINALS)),
    entry("push_block", Treatment::Kept(ORDINALS)),
    entry("push_response", Treatment::Kept(ORDINALS)),
    entry("push_influence", Treatment::Kept(ORDINALS)),
    entry("push_receipt", Treatment::Kept(ORDINALS)),
    entry("push_mark", Treatment::Kept(ORDINALS)),
    entry("push_audience", Treatment::Kept(ORDINALS)),
    entry("push_cause", Treatment::Kept(ORDINALS)),
    entry("experiment_group", Treatment::Kept(ORDINALS)),
    entry("pipeline_timer", Treatment::Kept(ORDINALS)),
    entry("pipeline_span", Treatment::Kept(ORDINALS)),
    entry("pipeline_sent", Treatment::Kept(ORDINALS)),
    entry("message_holders", Treatment::Kept(ORDINALS)),
    entry(
        "push_origin",
        Treatment::Kept("ids of schedules, experiments and pipelines, and parts of their audiences by time"),
    ),
    entry("job", Treatment::Kept("ids of pushes, lists and other objects, and the names of lists and tags")),
    entry("follower", Treatment::Kept("positions in the log")),
    entry("log_posting", Treatment::Kept("ordinals and hashes of users with positions in the log, deleted with it")),
    entry("seen_event", Treatment::Kept("ids of events; those of the records that are emptied are deleted with them")),
    entry("seen_upload", Treatment::Kept("ids of events; those of the records that are emptied are deleted with them")),
    entry("signed_request", Treatment::Kept(DIGESTS)),
    entry("former_secret", Treatment::Kept("hashes of secrets of the app")),
    entry("counter", Treatment::Kept(COUNTS)),
    entry("counter_day", Treatment::Kept(COUNTS)),
    entry("push_counter", Treatment::Kept(COUNTS)),
    entry("group_counter", Treatment::Kept(COUNTS)),
    entry("group_counter_day", Treatment::Kept(COUNTS)),
    entry("group_event", Treatment::Kept(COUNTS)),
    entry("event_counter", Treatment::Kept(COUNTS)),
    entry("event_counter_day", Treatment::Kept(COUNTS)),
];

const fn entry(table: &'static str, treatment: Treatment) -> Entry {
    Entry { table, treatment }
}

impl Treatment {
    /// Whether work that was under way when the person was erased may have added rows since. By then names and ids may be those of
    /// a person who starts afresh, but ordinals are not.
    pub fn is_repeated(self) -> bool {
        match self {
            Treatment::Owned(finders) => finders.iter().any(|finder| finder.by.is_ordinal()),
            Treatment::Sandbox
            | Treatment::Documents
            | Treatment::Faces
            | Treatment::Log
            | Treatment::Outcomes
            | Treatment::DeadLetters
            | Treatment::History
            | Treatment::Cleaned(_) => true,
            Treatment::Answers
            | Treatment::ListMembers
            | Treatment::Inboxes
            | Treatment::Exports
            | Treatment::Kept(_) => false,
        }
    }
}

impl By {
    const fn is_ordinal(self) -> bool {
        match self {
            By::Ordinal | By::AttributeOwner => true,
            By::Channel | By::NamedUser | By::InboxUser => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::PLAN;
    use crate::apps::OWNED_TABLES;

    /// A table that is forgotten here would keep what is about an erased person.
    #[test]
    fn every_table_of_apps_has_its_treatment() {
        let planned: BTreeSet<&str> = PLAN.iter().map(|entry| entry.table).collect();
        let owned: BTreeSet<&str> = OWNED_TABLES.iter().map(|(table, _)| *table).collect();
        assert_eq!(planned, owned);
        assert_eq!(planned.len(), PLAN.len(), "a table is in the plan twice");
    }
}
