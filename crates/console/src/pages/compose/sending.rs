//! The ten seconds before a message is sent, in which it can be taken back. It is a schedule until then, so nothing has been
//! sent, and it is sent whether or not anybody looks at this page.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use maud::html;
use model::ids::ScheduleId;
use model::time::UtcMillis;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Written;
use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::{encoded, query};
use crate::pages::messages::Pushes;
use crate::visit::Visit;

/// How long a message can be taken back.
const UNDO: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
struct Made {
    schedule_ids: Vec<ScheduleId>,
}

#[derive(Deserialize)]
struct Waiting {
    schedule: When,
    push: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct When {
    scheduled_time: Option<String>,
}

/// Has a message sent in ten seconds.
pub(super) async fn begin(visit: &Arc<Visit>, push: Value, once: &str) -> Result<Answer> {
    let mut schedule = json!({"schedule": {"scheduled_time": after(visit, UNDO)}, "push": push});
    if let Some(name) = visit.form.text("name") {
        schedule["name"] = json!(name);
    }
    // A second click with the same form gets the same schedule, and not another one.
    let made: Made = visit.post_once("/api/schedules", schedule, once).await?;
    let id = made.schedule_ids.first().ok_or_else(|| Error::internal("a schedule without an id"))?;
    Answer::to(visit.to(&format!("/compose/sending/{id}")))
}

/// The time after a while, as the API takes it.
pub(super) fn after(visit: &Visit, wait: Duration) -> String {
    let at = visit.console.engine.clock().now().plus(wait);
    // The API knows whole seconds; none of the wait is to be lost.
    UtcMillis(at.0 + 999).whole_second().to_api()
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let id: ScheduleId = visit.id("schedule")?;
    let origin = query([("origin", id.to_string().as_str())]);
    let Pushes { pushes, .. } = visit.get(&format!("/api/pushes{origin}")).await?;
    if let Some(push) = pushes.first() {
        return Answer::to(visit.to(&format!("/messages/{}", push.push_id)));
    }
    let waiting: Option<Waiting> = visit.find(&format!("/api/schedules/{id}")).await?;
    let Some(waiting) = waiting else {
        let body = html! {
            p { "The message was taken back; nothing was sent." }
            @match visit.query.text("again") {
                Some(fields) => p { a.button.main href={ (visit.to("/compose")) "?" (fields) } { "Change it" } },
                None => p { a href=(visit.to("/compose")) { "Compose another" } },
            }
        };
        return Answer::page("Taken back", body);
    };
    // What was written comes along, for those who take it back to change it.
    let fields = waiting.push.as_ref().and_then(Written::fields_of).unwrap_or_default();
    let again = encoded(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let body = html! {
        div.notice role="status" {
            p { "It is sent at " (time(waiting.schedule.scheduled_time.as_deref().unwrap_or_default())) "." }
            form method="post" action={ (visit.path) "/undo" } {
                input type="hidden" name="again" value=(again);
                button { "Undo" }
            }
        }
        p.quiet { "This page goes on to the message by itself." }
    };
    Answer::page("Sending in a moment", body)
}

pub(crate) async fn undo(visit: Arc<Visit>) -> Result<Answer> {
    let id: ScheduleId = visit.id("schedule")?;
    let mut path = visit.to(&format!("/compose/sending/{id}"));
    if let Some(fields) = visit.form.text("again") {
        path.push_str(&query([("again", fields)]));
    }
    match visit.change(Method::DELETE, &format!("/api/schedules/{id}"), None::<Value>).await {
        // Sent meanwhile, or taken back already: the page says which.
        Ok(()) | Err(Error::NotFound(_)) => Answer::to(path),
        Err(error) => Err(error),
    }
}
