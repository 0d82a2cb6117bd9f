//! Reports of an app over time, and of pushes and groups of pushes.

use model::report::PushIds;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::json;

use crate::openapi::{Area, MakeSchema, body, query, shape};
use crate::page_size::PageSize;
use crate::routes::reports::{
    activity, buckets, details, devices, events, lines, mappings, responses, retention, series, statistics,
};

const PRECISIONS: [&str; 3] = ["HOURLY", "DAILY", "MONTHLY"];
const UNKNOWN: &str = "The id is no UUID (40000).";

pub(super) fn area() -> Area {
    let mut area =
        Area::new("Reports", "What was sent, opened and answered, over time, and how many devices there are.");
    area.get(
        "/api/push/stats",
        "Report sends per hour",
        "The old report, by kinds of devices of its time. At most 1,000 hours.",
    )
    .takes(start())
    .takes(end())
    .takes(query::choice("format", &["json", "csv"], "The form of the answer.").default(json!("json")))
    .bare::<Vec<statistics::SendsOfHour>>("The hours, each with its sends.")
    .text("text/csv", "The same as lines.");
    area.get(
        "/api/reports/series",
        "Report several figures at once",
        "For charts: a value of every metric for each bucket of the time, in all or by platform, with those of the time before if \
         wanted. At most 1,000 buckets. `sends`, `opens`, `direct`, `influenced`, `optins` and `optouts` are those of the other \
         reports; `received` is how many messages devices have told to have received; `devices` and `opted_in` are \
         how many there were at the end of each bucket.",
    )
    .takes(query::text("metrics", "Which figures, with commas between them.").example("sends,opens").required())
    .takes(start())
    .takes(end())
    .takes(precision("DAILY"))
    .takes(query::choice("by", &["platform"], "A line for each platform on which something was counted."))
    .takes(query::choice("compare", &["previous"], "With the values of as many buckets before."))
    .takes(query::choice("format", &["json", "csv"], "The form of the answer.").default(json!("json")))
    .ok::<lines::SeriesRecord>("The lines.")
    .text("text/csv; charset=utf-8", "A row for each bucket, after a header.");
    area.get(
        "/api/reports/retention",
        "Report who comes back",
        "The channels that registered in each of the last weeks, from Monday on, or days of UTC, and how many of them opened the app \
         in each week or day after it. The number of cohorts is 8 weeks or 14 days unless given, and 13 or 31 at most.",
    )
    .takes(query::choice("cohort", &["day", "week"], "How long the periods are.").default(json!("week")))
    .takes(query::number("cohorts", 1..=31, "How many periods to look back, with the one that has not ended."))
    .takes(query::choice("format", &["json", "csv"], "The form of the answer.").default(json!("json")))
    .ok::<retention::Record>("The cohorts, the oldest first.")
    .text("text/csv; charset=utf-8", "A row for each cohort, after a header.");
    let counts: [(&str, &str, &str, MakeSchema); 6] = [
        ("/api/reports/sends", "Report sends", "How many messages were sent, by platform.", |g| row::<u64>(g, "sends")),
        ("/api/reports/opens", "Report opens", "How often the app was opened, by platform.", |g| {
            row::<u64>(g, "opens")
        }),
        (
            "/api/reports/optins",
            "Report opted-in devices",
            "How many devices that are opted in opened the app; each counts once in a row.",
            |g| row::<u64>(g, "optins"),
        ),
        (
            "/api/reports/optouts",
            "Report opted-out devices",
            "How many devices that are not opted in opened the app; each counts once in a row.",
            |g| row::<u64>(g, "optouts"),
        ),
        ("/api/reports/timeinapp", "Report the time in the app", "The average length of a session, in seconds.", |g| {
            row::<f64>(g, "timeinapp")
        }),
        (
            "/api/reports/responses",
            "Report responses",
            "Openings that are due to pushes, directly or by influence.",
            |g| row::<buckets::Responses>(g, "responses"),
        ),
    ];
    for (path, summary, text, rows) in counts {
        let operation = area.get(path, summary, text).takes(start()).takes(end()).takes(precision("DAILY"));
        operation.ok_with(rows, "A row for each hour, day or month, up to 1,000 on a page.").paged();
    }
    area.get(
        "/api/reports/web/interaction",
        "Report interaction on the web",
        "Clicks and sessions. At most 1,000 rows.",
    )
    .takes(start())
    .takes(end())
    .takes(precision("HOURLY"))
    .bare::<buckets::WebInteraction>("The figures.");
    area.get("/api/reports/events", "Report custom events", "Counts and values by name, over a period.")
        .takes(start())
        .takes(end())
        .takes(precision("DAILY"))
        .takes(page())
        .takes(query::page_size("page_size", PageSize::EVENT_NAMES, "How many names to list at once."))
        .ok::<events::Listing>("A page of names.")
        .paged();
    area.get(
        "/api/reports/devices",
        "Report devices",
        "How many there are at the end of a day, and how many are opted in.",
    )
    .takes(query::date("date", "The day; now, if there is none."))
    .ok::<devices::DevicesReport>("The devices by platform.");
    area.get(
        "/api/reports/activeusers",
        "Report active users",
        "How many channels opened the app in a month, by platform.",
    )
    .takes(query::date("date", "A day of the month, which began in the last 95 days.").required())
    .ok::<std::collections::BTreeMap<String, u64>>("The channels by platform.");
    area
}

pub(super) fn push_area() -> Area {
    let mut area = Area::new(
        "Reports of pushes",
        "What came of single pushes, and of all pushes of a schedule, experiment or pipeline.",
    );
    area.get("/api/reports/responses/list", "List pushes with responses", "Of a period, the newest first.")
        .takes(start())
        .takes(end())
        .takes(listed())
        .takes(query::id("push_id_start", "The first push of the page."))
        .takes(query::id("start_id", "Another name of `push_id_start`."))
        .ok_with(pushes, "A page of pushes.")
        .paged();
    area.get("/api/reports/responses/{push_id}", "Report the responses to a push", "Its sends and direct responses.")
        .ok::<responses::PushRecord>("The figures.")
        .refuses(400, UNKNOWN);
    area.get(
        "/api/reports/perpush/detail/{push_id}",
        "Report on a push",
        "Everything that is counted of it, and its body.",
    )
    .ok::<details::OfPush<'_>>("The figures.")
    .refuses(400, UNKNOWN);
    area.post(
        "/api/reports/perpush/detail",
        "Report on several pushes",
        "Unknown ones are left out, and so are bodies.",
    )
    .body(body::of::<PushIds>, json!({"push_ids": ["0190b1c5-5c7e-7000-8000-000000000000"]}))
    .bare::<Vec<details::OfPush<'_>>>("The figures of each.");
    area.get(
        "/api/reports/perpush/series/{push_id}",
        "Report on a push over time",
        "By default, the hours after it was sent.",
    )
    .takes(query::date("start", "Where to begin."))
    .takes(query::date("end", "Where to end."))
    .takes(precision("HOURLY"))
    .ok::<series::SeriesRecord<'_>>("A row for each hour, day or month.")
    .paged();
    area.get("/api/reports/perpush/pushbody/{push_id}", "Show the body of a push", "As it was sent, in base64.")
        .ok::<details::Body>("The body.")
        .refuses(400, UNKNOWN);
    area.get(
        "/api/reports/pergroup/detail/{group_id}",
        "Report on a group",
        "Everything that is counted of its pushes.",
    )
    .ok::<details::OfGroup<'_>>("The figures.")
    .refuses(400, UNKNOWN);
    area.get(
        "/api/reports/pergroup/series/{group_id}",
        "Report on a group over time",
        "By default, the hours after its first push.",
    )
    .takes(query::date("start", "Where to begin."))
    .takes(query::date("end", "Where to end."))
    .takes(precision("HOURLY"))
    .ok::<series::SeriesRecord<'_>>("A row for each hour, day or month.")
    .paged();
    area.get(
        "/api/reports/activity/details",
        "List pushes with activity",
        "Of a period, the newest first, in apps and on the web.",
    )
    .takes(start())
    .takes(end())
    .takes(listed())
    .takes(query::id("push_id_start", "The first push of the page."))
    .ok::<activity::Activities<'_>>("A page of pushes.")
    .paged();
    area.get(
        "/api/reports/events/summary/perpush/{push_id}",
        "Report custom events of a push",
        "Those that are due to it.",
    )
    .takes(page())
    .takes(names())
    .ok::<events::OfPush>("A page of names.")
    .paged();
    area.get(
        "/api/reports/events/summary/pergroup/{group_id}",
        "Report custom events of a group",
        "Those that are due to it.",
    )
    .takes(page())
    .takes(names())
    .ok::<events::OfGroup>("A page of names.")
    .paged();
    area.get(
        "/api/reports/mappings/send_ids/{send_id}",
        "Find the push of a send id",
        "From the id that devices report.",
    )
    .ok::<mappings::OfSend>("The push.")
    .refuses(400, UNKNOWN);
    area.get(
        "/api/reports/mappings/message_ids/{message_id}",
        "Find the push of a message",
        "From the id of its message.",
    )
    .ok::<mappings::OfMessage>("The push.")
    .refuses(400, "The id is not that of a message (40000).");
    area
}

/// Rows of one figure per platform.
fn row<T: JsonSchema>(generator: &mut SchemaGenerator, name: &str) -> Schema {
    shape::rows(name, &buckets::Bucket::<T>::json_schema(generator))
}

fn pushes(generator: &mut SchemaGenerator) -> Schema {
    let push = generator.subschema_for::<responses::PushRecord>();
    shape::rows("pushes", &push)
}

fn start() -> query::Parameter {
    query::date("start", "The beginning of the period, such as `2030-01-01` or `2030-01-01 10:00`.").required()
}

fn end() -> query::Parameter {
    query::date("end", "Its end, which is not part of it.").required()
}

fn precision(usual: &str) -> query::Parameter {
    query::choice("precision", &PRECISIONS, "How long each row is.").default(json!(usual))
}

fn page() -> query::Parameter {
    query::text("page", "Which page, counted from 1; anything else means the first.").example("1")
}

fn names() -> query::Parameter {
    query::page_size("page_size", PageSize::EVENT_NAMES_OF_PUSH, "How many names to list at once.")
}

fn listed() -> query::Parameter {
    query::limit(PageSize::REPORTED_PUSHES)
}
